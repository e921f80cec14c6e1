import { Refusal } from './field-problems.js';

/** Which list a cursor belongs to. */
type List = 'tasks' | 'executions' | 'calendars';

/** A repository's cursor as clients see it; one list refuses those of another. */
export const writeCursor = (list: List, cursor: string | null): string | null =>
  cursor === null ? null : Buffer.from(JSON.stringify([list, cursor])).toString('base64url');

/** The repository's cursor behind a client's one. */
export function readCursor(list: List, text: unknown): string | Refusal {
  const refusal = new Refusal(
    'is not a cursor of this list',
    'give the next_cursor of an earlier page as it was, or leave it out',
  );
  if (typeof text !== 'string' || text.length > 1024) return refusal;
  try {
    const [of, cursor] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    return of === list && typeof cursor === 'string' ? cursor : refusal;
  } catch {
    return refusal;
  }
}
