import { describe, expect, it } from 'vitest';
import { sqliteFailure } from '../../../../src/adapters/embedded/sqlite-errors.js';

describe('sqliteFailure', () => {
  it.each([
    ['SQLITE_CONSTRAINT_UNIQUE', 'duplicate'],
    ['SQLITE_CONSTRAINT_PRIMARYKEY', 'duplicate'],
    ['SQLITE_BUSY', 'contention'],
    ['SQLITE_BUSY_SNAPSHOT', 'contention'],
    ['SQLITE_IOERR_FSYNC', 'unavailable'],
    ['SQLITE_FULL', 'unavailable'],
    ['SQLITE_READONLY', 'unavailable'],
    ['SQLITE_CORRUPT', 'unavailable'],
    ['SQLITE_CONSTRAINT_NOTNULL', 'refused_value'],
  ])('takes %s for %s, in SQLite’s own words', (code, kind) => {
    const error = Object.assign(new Error('INSERT INTO x - the words'), { code });
    expect(sqliteFailure(error)).toEqual({ kind, message: 'the words' });
  });

  it('takes a closed pool for unavailable, and leaves bugs alone', () => {
    expect(sqliteFailure(new Error('Unable to acquire a connection'))?.kind).toBe('unavailable');
    expect(sqliteFailure(Object.assign(new Error('near "x"'), { code: 'SQLITE_ERROR' }))).toBeNull();
    expect(sqliteFailure(new TypeError('x'))).toBeNull();
  });
});
