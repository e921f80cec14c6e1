import { describe, expect, it } from 'vitest';
import { mysqlFailure } from '../../../../src/adapters/mysql/mysql-errors.js';

const error = (facts: object, message = 'INSERT INTO x - some - words') =>
  Object.assign(new Error(message), facts);

describe('mysqlFailure', () => {
  it.each([
    [{ errno: 1062 }, 'duplicate'],
    [{ errno: 1213 }, 'contention'],
    [{ errno: 1205 }, 'contention'],
    [{ errno: 1020 }, 'contention'],
    [{ errno: 1053 }, 'unavailable'],
    [{ errno: 1290 }, 'unavailable'],
    [{ errno: 1040 }, 'unavailable'],
    [{ errno: 1927 }, 'unavailable'],
    [{ errno: -111, code: 'ECONNREFUSED', syscall: 'connect' }, 'unavailable'],
    [{ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }, 'unavailable'],
    [{ fatal: true }, 'unavailable'],
    [{ name: 'KnexTimeoutError' }, 'unavailable'],
    [{ errno: 1406 }, 'refused_value'],
    [{ errno: 1292 }, 'refused_value'],
  ])('takes %o for %s', (facts, kind) => {
    expect(mysqlFailure(error(facts))?.kind).toBe(kind);
  });

  it('takes a closed pool for unavailable', () => {
    expect(mysqlFailure(new Error('Unable to acquire a connection'))?.kind).toBe('unavailable');
    expect(mysqlFailure(new Error('aborted'))?.kind).toBe('unavailable');
  });

  it.each([[{ errno: 1064 }], [{ errno: 1146 }], [{}]])('leaves %o alone, a bug', (facts) => {
    expect(mysqlFailure(error(facts))).toBeNull();
  });

  it('gives the server’s words, not the statement', () => {
    expect(mysqlFailure(error({ errno: 1213, sqlMessage: 'Deadlock found' }))?.message).toBe(
      'Deadlock found',
    );
    expect(mysqlFailure(error({ fatal: true }, 'SELECT 1 - Connection lost'))?.message).toBe(
      'Connection lost',
    );
    expect(mysqlFailure(error({ fatal: true, code: 'ECONNREFUSED' }, ''))?.message).toBe('ECONNREFUSED');
    expect(mysqlFailure('text')).toBeNull();
  });
});
