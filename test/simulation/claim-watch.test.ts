import { beforeEach, describe, expect, it } from 'vitest';
import { type Claim } from '../../src/ports/claims.js';
import { claimed, publishOne, reportOf } from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';
import { Cluster } from './cluster.js';

const TTL_MS = 15_000;

describe('The book of claims', () => {
  const message = buildMessage();
  const { id: executionId } = message.event;
  let cluster: Cluster;
  beforeEach(() => {
    cluster = new Cluster({ seed: 'claims', machines: [] }, null);
  });

  const claimedBy = async (worker: string): Promise<Claim> => {
    const { queue, watch } = cluster.broker;
    return (await claimed(watch, await publishOne({ queue }, message), worker, TTL_MS)).claim;
  };
  const renewed = async (claim: Claim) => (await cluster.broker.watch.claims.renew([claim], TTL_MS))[0];
  async function cancel(): Promise<void> {
    const verdict = buildReport({ executionId, status: 'fail', reason: 'cancelled' });
    const verdicts = { begun: verdict, unbegun: verdict };
    expect(await cluster.broker.watch.stops.cancel({ ...message.event, executionId }, verdicts)).toBe(
      'requested',
    );
  }
  /** The rules that a worker breaks by ending its run as cancelled. */
  async function brokenByEnd(claim: Claim): Promise<string[]> {
    const report = buildReport({ ...reportOf(claim), status: 'fail', reason: 'cancelled' });
    expect(await cluster.broker.watch.claims.finish(claim, report)).toBe(true);
    return cluster.journal.of('violation').map(({ rule }) => rule);
  }

  it('lets a worker that was asked to stop end its run as cancelled', async () => {
    const claim = await claimedBy('w1.1');
    await cancel();
    expect(await brokenByEnd(claim)).toEqual([]);
  });

  it('lets it do so after the queue has lost the stop, and another worker had ended the run', async () => {
    const paused = await claimedBy('w1.1');
    await cancel();
    await cluster.time.pass(TTL_MS);
    const delivery = { handle: paused.handle, message };
    const { claim, stop } = await claimed(cluster.broker.watch, delivery, 'w2.1');
    expect(stop).toBe('cancelled');
    expect(await brokenByEnd(claim)).toEqual([]);
    cluster.loseQueue();
    expect(await renewed(paused)).toBe('alive');
    expect(await brokenByEnd(paused)).toEqual([]);
  });

  it('lets it do so after a failover to a replica that lacks the stop', async () => {
    const claim = await claimedBy('w1.1');
    const takeOver = cluster.replica();
    await cancel();
    takeOver();
    expect(await renewed(claim)).toBe('alive');
    expect(await brokenByEnd(claim)).toEqual([]);
  });

  it('finds an end as cancelled that nobody asked for, also of a claim that the queue has lost', async () => {
    const claim = await claimedBy('w1.1');
    cluster.loseQueue();
    expect(await renewed(claim)).toBe('alive');
    expect(await brokenByEnd(claim)).toEqual(['stop']);
  });

  it.each(['w1.1', 'w2.1'])(
    'finds it of a claim that %s was given after the stop was lost',
    async (worker) => {
      await claimedBy('w1.1');
      await cancel();
      cluster.loseQueue();
      expect(await brokenByEnd(await claimedBy(worker))).toEqual(['stop']);
    },
  );
});
