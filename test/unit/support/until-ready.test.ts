import { describe, expect, it } from 'vitest';
import { untilReady } from '../../support/servers/until-ready.js';

const refused = () => Promise.reject(new Error('refused'));

describe('untilReady', () => {
  it('asks again until the server answers', async () => {
    let asked = 0;
    const logIn = () => (++asked < 3 ? refused() : Promise.resolve('8.4'));
    expect(await untilReady(logIn, { deadlineMs: 20_000 })).toBe('8.4');
  });

  it('fails at the deadline with the last reason and what the server itself said', async () => {
    const waiting = { deadlineMs: 0, evidence: async () => 'out of memory\nbye\n' };
    await expect(untilReady(refused, waiting)).rejects.toThrow(
      'no login within its deadline: refused; its last words:\n    | out of memory\n    | bye',
    );
  });

  it('stops waiting as soon as waiting is pointless', async () => {
    let asked = 0;
    const waiting = {
      deadlineMs: 60_000,
      gaveUp: () => (asked > 1 ? 'it ended with exit code 1' : undefined),
    };
    await expect(untilReady(() => (asked++, refused()), waiting)).rejects.toThrow(
      'it ended with exit code 1',
    );
    expect(asked).toBe(2);
  });
});
