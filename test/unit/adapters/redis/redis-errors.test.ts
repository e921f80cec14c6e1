import { describe, expect, it } from 'vitest';
import { isNoGroup, isNoScript, unavailable } from '../../../../src/adapters/redis/redis-errors.js';
import { AxError } from '../../../../src/domain/errors.js';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

describe('unavailable', () => {
  it.each([
    'LOADING Redis is loading',
    'READONLY You can’t',
    'OOM command not allowed',
    'MISCONF Redis',
    'BUSY Redis',
  ])('can be retried after %s', (message) => {
    expect(unavailable(reply(message))).toMatchObject({ code: 'unavailable', retryable: true });
  });

  it.each(['WRONGTYPE Operation', 'NOPERM this user', 'ERR unknown command', 'BUSYGROUP name exists'])(
    'cannot be retried after %s',
    (message) => {
      expect(unavailable(reply(message))).toMatchObject({ code: 'unavailable', retryable: false });
    },
  );

  it('can be retried after anything that is no answer', () => {
    for (const error of [new Error('connect ECONNREFUSED'), 'a string', undefined]) {
      expect(unavailable(error)).toMatchObject({ code: 'unavailable', retryable: true });
    }
  });

  it('keeps the cause without the command, which may hold the password', () => {
    const error = Object.assign(reply('WRONGPASS invalid'), {
      command: { name: 'hello', args: ['AUTH', 'a', 's3cret'] },
    });
    const mapped = unavailable(error);
    expect(mapped.cause).toBe(error);
    expect(mapped.message).toBe('Redis: WRONGPASS invalid');
    expect(JSON.stringify([mapped, error])).not.toContain('s3cret');
  });

  it('leaves an error of ax as it is', () => {
    const error = new AxError('refused_start', 'no');
    expect(unavailable(error)).toBe(error);
  });
});

describe('answers that are repaired', () => {
  it('are told apart by their first word', () => {
    expect(isNoScript(reply('NOSCRIPT No matching script'))).toBe(true);
    expect(isNoScript(reply('ERR NOSCRIPT'))).toBe(false);
    expect(isNoGroup(reply('NOGROUP No such key'))).toBe(true);
    expect(isNoGroup(reply('UNBLOCKED the stream key no longer exists'))).toBe(true);
    expect(isNoGroup(reply('WRONGTYPE NOGROUP'))).toBe(false);
  });
});
