/**
 * Whether a column of ASCII words (ids, hashes) can hold the text. What callers look up is asked first: MySQL fails on a comparison of
 * such a column with other scripts, and takes blanks at the end for nothing.
 */
export const isWord = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);
