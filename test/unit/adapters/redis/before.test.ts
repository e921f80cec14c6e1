import { describe, expect, it } from 'vitest';
import { before } from '../../../../src/adapters/redis/before.js';

const late = () => new Error('late');

describe('before', () => {
  it('passes on what the promise comes to', async () => {
    expect(await before(Promise.resolve(1), 10_000, late)).toBe(1);
    await expect(before(Promise.reject(new Error('own')), 10_000, late)).rejects.toThrow('own');
  });

  it('fails when the promise takes too long, and swallows what it comes to later', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', listener);
    try {
      let fail = (_: Error) => {};
      const slow = new Promise((_, reject) => (fail = reject));
      await expect(before(slow, 1, late)).rejects.toThrow('late');
      fail(new Error('too late'));
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', listener);
    }
  });
});
