const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const ID_FIX = 'use 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit';

export const isTaskId = (id: string): boolean => ID_PATTERN.test(id);
