import { describe, expect, it } from 'vitest';
import { AxError, messageOf } from '../../../src/domain/errors.js';

describe('errors', () => {
  it('of an unreachable store may be tried again, others not unless they say so', () => {
    expect(new AxError('unavailable', 'x').retryable).toBe(true);
    expect(new AxError('not_found', 'x').retryable).toBe(false);
    expect(new AxError('conflict', 'x', { retryable: true }).retryable).toBe(true);
    expect(new AxError('unavailable', 'x', { retryable: false }).retryable).toBe(false);
  });

  it('keep their cause, and anything thrown has a message', () => {
    const cause = new Error('socket closed');
    expect(new AxError('unavailable', 'no store', { cause }).cause).toBe(cause);
    expect('cause' in new AxError('unavailable', 'no store')).toBe(false);
    expect([messageOf(cause), messageOf('text'), messageOf(undefined)]).toEqual([
      'socket closed',
      'text',
      'undefined',
    ]);
  });
});
