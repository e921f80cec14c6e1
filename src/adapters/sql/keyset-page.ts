import { InvalidInput } from '../../domain/errors.js';
import { type Page, type PageRequest } from '../../ports/task-repo.js';
import { isWord } from './word.js';

/** How many rows to read for a page: one more than it shows tells whether another page follows. */
export const rowsToRead = (page: PageRequest): number => page.size + 1;

/** The page of what was read with `rowsToRead`; the last item's id is the cursor. */
export function pageOf<T>(rows: readonly T[], page: PageRequest, idOf: (row: T) => string): Page<T> {
  const items = rows.slice(0, page.size);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > page.size && last !== undefined ? idOf(last) : null };
}

/** The id after which the page starts; null for the first page. @throws InvalidInput. */
export function cursorOf({ cursor }: PageRequest): string | null {
  if (cursor === null || isWord(cursor)) return cursor;
  throw InvalidInput.of('cursor', 'is not a cursor', 'use the next_cursor of the page before');
}
