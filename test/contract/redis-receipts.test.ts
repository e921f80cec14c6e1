import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { RedisReceipts } from '../../src/adapters/redis/redis-receipts.js';
import { type Receipts } from '../../src/ports/receipts.js';
import { FakeClock } from '../support/fake-clock.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const url = inject('redisUrl');
const KEEP_MS = 600_000;
const DONE = { kind: 'success', message: null } as const;
const wait = { executionId: 'one', attempt: 1, tokenHash: 'token-1', keepMs: KEEP_MS };

let namespace: RedisNamespace;
beforeEach(() => {
  namespace = new RedisNamespace(url);
});
afterEach(() => namespace.close());

describe('receipts in Redis', () => {
  it('all end by themselves: the wait, what came, and what was closed', async () => {
    const receipts = new RedisReceipts(namespace.connect());
    await receipts.open(wait);
    await receipts.open({ ...wait, executionId: 'answered' });
    await receipts.post('answered', 'token-1', DONE);
    await receipts.open({ ...wait, executionId: 'retried', attempt: 2 });
    await receipts.open({ ...wait, executionId: 'retried', tokenHash: 'token-0' });
    await receipts.open({ ...wait, executionId: 'closed' });
    await receipts.post('closed', 'token-1', { kind: 'progress', message: 'half' });
    await receipts.close('closed', KEEP_MS / 2);
    await receipts.close('stranger', KEEP_MS);
    const lives: Record<string, number> = {};
    for (const key of await namespace.keys()) {
      lives[key.slice(namespace.prefix.length)] = await namespace.redis.pttl(key);
    }
    expect(Object.keys(lives).sort()).toEqual([
      ...['receipt-wait:answered', 'receipt-wait:closed', 'receipt-wait:one', 'receipt-wait:retried'],
      ...['receipts:answered', 'receipts:closed'],
    ]);
    for (const [key, life] of Object.entries(lives)) {
      expect(life, key).toBeGreaterThan(0);
      expect(life, key).toBeLessThanOrEqual(key.endsWith(':closed') ? KEEP_MS / 2 : KEEP_MS);
    }
  });

  it('may answer the repetition of a lost answer with second, and keep one receipt', async () => {
    const proxy = await TcpProxy.start(url);
    const receipts = new RedisReceipts(namespace.connect(proxy.through(url)));
    const neighbour = new RedisReceipts(namespace.connect());
    await receipts.open(wait);
    proxy.stall('answers');
    await expect(receipts.post('one', 'token-1', DONE)).rejects.toMatchObject({ code: 'unavailable' });
    proxy.restore();
    const again = await until('an answer', () => receipts.post('one', 'token-1', DONE).catch(() => null));
    expect(again).toBe('second');
    expect(await neighbour.read(['one'])).toHaveLength(1);
    await proxy.close();
  });
});

const step = fc.record({
  verb: fc.constantFrom('open', 'open', 'post', 'post', 'post', 'post', 'close', 'loseData'),
  executionId: fc.constantFrom('one', 'two'),
  attempt: fc.integer({ min: 1, max: 4 }),
  token: fc.integer({ min: 1, max: 5 }),
  kind: fc.constantFrom('progress', 'progress', 'success', 'fail'),
  message: fc.option(fc.string()),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function act(receipts: Receipts, { verb, executionId, attempt, token, kind, message }: Step) {
  const tokenHash = `token-${token}`;
  if (verb === 'open') return receipts.open({ executionId, attempt, tokenHash, keepMs: KEEP_MS });
  if (verb === 'close') return receipts.close(executionId, KEEP_MS);
  return receipts.post(executionId, tokenHash, { kind, message });
}

it('receipts in the process answer every history as those in Redis do', { timeout: 120_000 }, async () => {
  const real = new RedisReceipts(namespace.connect());
  const look = async (receipts: Receipts) =>
    (await receipts.read(['one', 'two'])).map((came) => came.map(({ kind, message }) => [kind, message]));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await namespace.empty();
      let fake = new InProcessReceipts(new FakeClock());
      for (const [at, one] of steps.entries()) {
        if (one.verb === 'loseData') {
          await namespace.empty();
          fake = new InProcessReceipts(new FakeClock());
        } else {
          expect(await act(fake, one), `step ${at}: ${one.verb}`).toEqual(await act(real, one));
        }
        expect(await look(fake), `after step ${at}: ${one.verb}`).toEqual(await look(real));
      }
    }),
    { numRuns: 100 },
  );
});
