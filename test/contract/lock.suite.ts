import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lock } from '../../src/ports/lock.js';
import { until } from '../support/until.js';

export interface LockHarness {
  readonly lock: Lock;
  /** Lets `ms` pass by the store's clock. */
  advance(ms: number): Promise<void>;
  /** Takes the store away and gives it back; only where it can be away. */
  readonly outage?: { begin(): void; end(): void };
  close(): Promise<void>;
}

/** What every Lock does. `canBeAway`: the store can become unreachable. */
export function lockSuite(
  name: string,
  open: () => Promise<LockHarness>,
  capabilities: { readonly canBeAway: boolean },
): void {
  describe(`${name} as Lock`, () => {
    let harness: LockHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('gives a lease to exactly one of 20 contenders', async () => {
      const owners = Array.from({ length: 20 }, (_, i) => `node-${i}`);
      let openGate = () => {};
      const gate = new Promise<void>((resolve) => (openGate = resolve));
      const answers = owners.map(async (owner) => {
        await gate;
        return harness.lock.acquire('leader', owner, 60_000);
      });
      openGate();
      const settled = await Promise.all(answers);
      const winners = owners.filter((_, i) => settled[i]?.isHeld);
      expect(winners).toHaveLength(1);
      expect(new Set(settled.map(({ holder }) => holder))).toEqual(new Set(winners));
    });

    it('tells who holds it and for how long', async () => {
      expect(await harness.lock.acquire('leader', 'a', 60_000)).toEqual({
        isHeld: true,
        holder: 'a',
        expiresInMs: 60_000,
      });
      const refused = await harness.lock.acquire('leader', 'b', 90_000);
      expect(refused).toMatchObject({ isHeld: false, holder: 'a' });
      expect(refused.expiresInMs).toBeGreaterThan(30_000);
      expect(refused.expiresInMs).toBeLessThanOrEqual(60_000);
    });

    it('tells who holds it without touching it', async () => {
      expect(await harness.lock.holder('leader')).toBeNull();
      await harness.lock.acquire('leader', 'a', 200);
      expect(await harness.lock.holder('leader')).toBe('a');
      expect(await harness.lock.holder('other')).toBeNull();
      await harness.advance(250);
      expect(await harness.lock.holder('leader')).toBeNull();
    });

    it('prolongs when its owner acquires it again', async () => {
      await harness.lock.acquire('leader', 'a', 10_000);
      expect((await harness.lock.acquire('leader', 'a', 60_000)).isHeld).toBe(true);
      expect((await harness.lock.acquire('leader', 'b', 1000)).expiresInMs).toBeGreaterThan(30_000);
    });

    it('ends by itself unless it is renewed', async () => {
      await harness.lock.acquire('leader', 'a', 200);
      await harness.advance(250);
      expect(await harness.lock.renew('leader', 'a', 60_000)).toBe(false);
      expect(await harness.lock.release('leader', 'a')).toBe(false);
      expect(await harness.lock.acquire('leader', 'b', 60_000)).toMatchObject({ isHeld: true, holder: 'b' });
    });

    it('lives from its renewal on', async () => {
      await harness.lock.acquire('leader', 'a', 5000);
      expect(await harness.lock.renew('leader', 'a', 60_000)).toBe(true);
      expect((await harness.lock.acquire('leader', 'b', 1000)).expiresInMs).toBeGreaterThan(30_000);
    });

    it('refuses renewal and release by others, and leaves the lease as it is', async () => {
      await harness.lock.acquire('leader', 'a', 60_000);
      expect(await harness.lock.renew('leader', 'b', 900_000)).toBe(false);
      expect(await harness.lock.release('leader', 'b')).toBe(false);
      const answer = await harness.lock.acquire('leader', 'c', 1000);
      expect(answer).toMatchObject({ isHeld: false, holder: 'a' });
      expect(answer.expiresInMs).toBeLessThanOrEqual(60_000);
    });

    it('is free at once after its release, which can be repeated', async () => {
      await harness.lock.acquire('leader', 'a', 60_000);
      expect(await harness.lock.release('leader', 'a')).toBe(true);
      expect(await harness.lock.release('leader', 'a')).toBe(false);
      expect((await harness.lock.acquire('leader', 'b', 60_000)).isHeld).toBe(true);
    });

    it('keeps leases of different names apart', async () => {
      await harness.lock.acquire('leader', 'a', 60_000);
      expect((await harness.lock.acquire('archive', 'b', 60_000)).isHeld).toBe(true);
      expect(await harness.lock.release('archive', 'a')).toBe(false);
    });

    it.skipIf(!capabilities.canBeAway)(
      'says so when the store is away, and goes on when it is back',
      async () => {
        await harness.lock.acquire('leader', 'a', 60_000);
        harness.outage?.begin();
        const startedAt = performance.now();
        const unavailable = { code: 'unavailable', retryable: true };
        await expect(harness.lock.acquire('leader', 'b', 60_000)).rejects.toMatchObject(unavailable);
        await expect(harness.lock.renew('leader', 'a', 60_000)).rejects.toMatchObject(unavailable);
        await expect(harness.lock.release('leader', 'a')).rejects.toMatchObject(unavailable);
        expect(performance.now() - startedAt).toBeLessThan(15_000);
        harness.outage?.end();
        const answer = await until('the lock answers', () =>
          harness.lock.acquire('leader', 'b', 60_000).catch(() => null),
        );
        expect(answer.holder).toBe('a');
      },
    );
  });
}
