import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Wakeup } from '../../src/ports/wakeup.js';
import { until } from '../support/until.js';

export interface WakeupHarness {
  /** Two nodes of one namespace; the same object where there can be only one. */
  readonly nodes: readonly [Wakeup, Wakeup];
  /** A node of another namespace, which hears nothing of these. */
  readonly stranger: Wakeup;
  readonly outage?: { begin(): void; end(): void };
  close(): Promise<void>;
}

/** What every Wakeup does. `canBeAway`: the store can become unreachable. */
export function wakeupSuite(
  name: string,
  open: () => Promise<WakeupHarness>,
  capabilities: { readonly canBeAway: boolean },
): void {
  describe(`${name} as Wakeup`, () => {
    let harness: WakeupHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    /** Subscribes and waits until wake-ups arrive; one more may be on its way then. */
    async function listen(wakeup: Wakeup): Promise<{ count: number; stop: () => void }> {
      const heard = { count: 0, stop: wakeup.subscribe(() => void (heard.count += 1)) };
      await until('the subscription works', async () => {
        await wakeup.notify();
        return heard.count > 0;
      });
      return heard;
    }

    it('wakes every subscriber of every node', async () => {
      const [first, second] = harness.nodes;
      const heard = [await listen(first), await listen(first), await listen(second)];
      const before = heard.map(({ count }) => count);
      // The first of these may be one that was on its way.
      await second.notify();
      await second.notify();
      await until('all have heard', () => heard.every(({ count }, i) => count > (before[i] ?? 0) + 1));
    });

    it('calls each listener once a wake-up as often as it subscribed, until it has unsubscribed', async () => {
      const [node] = harness.nodes;
      const heard = await listen(node);
      let count = 0;
      const listener = () => void (count += 1);
      const stops = [node.subscribe(listener), node.subscribe(listener)];
      heard.count = 0;
      await node.notify();
      await until('a wake-up', () => heard.count > 0);
      expect(count).toBe(2 * heard.count);
      stops[0]?.();
      const before = { count, heard: heard.count };
      await node.notify();
      await until('another', () => heard.count > before.heard);
      expect(count - before.count).toBe(heard.count - before.heard);
      stops[1]?.();
      stops[1]?.();
      const after = { count, heard: heard.count };
      await node.notify();
      await until('a third', () => heard.count > after.heard);
      expect(count).toBe(after.count);
    });

    it('is not heard in another namespace', async () => {
      const strange = await listen(harness.stranger);
      const heard = await listen(harness.nodes[0]);
      // Each wakes once more, so that what may have been on its way has arrived.
      await harness.stranger.notify();
      await until('it has arrived', () => strange.count > 1);
      const before = { strange: strange.count, heard: heard.count };
      for (let i = 0; i < 5; i += 1) await harness.nodes[0].notify();
      await until('all are heard', () => heard.count >= before.heard + 5);
      expect(strange.count).toBeLessThanOrEqual(before.strange + 1);
    });

    it.skipIf(!capabilities.canBeAway)(
      'never throws while the store is away, and hears again when it is back',
      async () => {
        const [node] = harness.nodes;
        const heard = await listen(node);
        harness.outage?.begin();
        await turn();
        heard.count = 0;
        await node.notify();
        expect(heard.count).toBeGreaterThan(0);
        heard.count = 0;
        harness.outage?.end();
        await until('the missed wake-up is made up for', () => heard.count > 0);
        await listen(node);
      },
    );
  });
}
