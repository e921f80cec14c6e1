import { createHash } from 'node:crypto';

/** SHA-256 of a text, 64 hex digits: makes a key of fixed length of what a caller may choose freely. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
