import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCursor, writeCursor } from '../../../../src/adapters/http/cursor.js';
import { Refusal } from '../../../../src/adapters/http/field-problems.js';

describe('cursors', () => {
  it('lead back to the cursor of the repository', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (cursor) => {
        expect(readCursor('tasks', writeCursor('tasks', cursor))).toBe(cursor);
      }),
    );
    expect(writeCursor('tasks', null)).toBeNull();
  });

  it.each(['', 'x', 'bnVsbA', 'W10', 'e30', writeCursor('executions', 'a'), ['x'], 'A'.repeat(2000)])(
    'refuse %s as one of tasks',
    (text) => {
      expect(readCursor('tasks', text)).toBeInstanceOf(Refusal);
    },
  );
});
