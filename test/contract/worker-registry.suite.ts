import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WorkerRegistry } from '../../src/ports/worker-registry.js';
import { buildWorker } from '../support/pools.js';
import { until } from '../support/until.js';

export interface WorkerRegistryHarness {
  /** Two nodes of one cluster; the same one where there is only one process. */
  readonly nodes: readonly [WorkerRegistry, WorkerRegistry];
  /** Of another cluster. */
  readonly stranger: WorkerRegistry;
  /** Lets `ms` pass by the store's clock. */
  advance(ms: number): Promise<void>;
  /** Takes the store of the first node away and gives it back; only where it can be away. */
  readonly outage?: { begin(): void; end(): void };
  close(): Promise<void>;
}

/** What every WorkerRegistry does. `canBeAway`: the store can become unreachable. */
export function workerRegistrySuite(
  name: string,
  open: () => Promise<WorkerRegistryHarness>,
  capabilities: { readonly canBeAway: boolean },
): void {
  describe(`${name} as WorkerRegistry`, () => {
    let harness: WorkerRegistryHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('knows nobody at first', async () => {
      expect(await harness.nodes[0].list()).toEqual([]);
    });

    it('tells every node of the cluster what the workers said, and no other cluster', async () => {
      const [here, there] = harness.nodes;
      const workers = ['b', 'a', 'c'].map((instance) => buildWorker({ instance, pools: [instance, 'x'] }));
      for (const [i, worker] of workers.entries()) await (i === 1 ? there : here).announce(worker, 60_000);
      const inOrder = [workers[1], workers[0], workers[2]];
      expect(await here.list()).toEqual(inOrder);
      expect(await there.list()).toEqual(inOrder);
      expect(await harness.stranger.list()).toEqual([]);
    });

    it('keeps the last word of each', async () => {
      const [here, there] = harness.nodes;
      await here.announce(buildWorker({ running: 1 }), 60_000);
      const last = buildWorker({ running: 0, isDraining: true });
      await here.announce(last, 60_000);
      expect(await there.list()).toEqual([last]);
    });

    it('forgets who is silent for longer than it said, and nobody else', async () => {
      const [here, there] = harness.nodes;
      await here.announce(buildWorker({ instance: 'dead' }), 200);
      const live = buildWorker({ instance: 'live' });
      await here.announce(live, 60_000);
      await harness.advance(250);
      expect(await there.list()).toEqual([live]);
      const back = buildWorker({ instance: 'dead' });
      await here.announce(back, 60_000);
      expect(await there.list()).toEqual([back, live]);
    });

    it('counts the life from the last announcement', async () => {
      const [here] = harness.nodes;
      await here.announce(buildWorker(), 200);
      await here.announce(buildWorker(), 60_000);
      await harness.advance(250);
      expect(await here.list()).toEqual([buildWorker()]);
    });

    it('forgets at once who withdraws, which can be repeated', async () => {
      const [here, there] = harness.nodes;
      const other = buildWorker({ instance: 'other' });
      await here.announce(buildWorker(), 60_000);
      await here.announce(other, 60_000);
      await here.withdraw(buildWorker().instance);
      await here.withdraw(buildWorker().instance);
      expect(await there.list()).toEqual([other]);
    });

    it.skipIf(!capabilities.canBeAway)(
      'says so when the store is away, and goes on when it is back',
      async () => {
        const [here] = harness.nodes;
        await here.announce(buildWorker(), 60_000);
        harness.outage?.begin();
        const unavailable = { code: 'unavailable', retryable: true };
        await expect(here.list()).rejects.toMatchObject(unavailable);
        await expect(here.announce(buildWorker(), 60_000)).rejects.toMatchObject(unavailable);
        await expect(here.withdraw('other')).rejects.toMatchObject(unavailable);
        harness.outage?.end();
        const listed = await until('the registry answers', () => here.list().catch(() => null));
        expect(listed).toEqual([buildWorker()]);
      },
    );
  });
}
