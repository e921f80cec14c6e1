import { beforeEach, describe, expect, it } from 'vitest';
import { leftIn } from './broker-left.js';
import { Cluster } from './cluster.js';

const KEEP_MS = 60_000;
const wait = { executionId: 'run', attempt: 1, tokenHash: 'token', keepMs: KEEP_MS };

describe('A wait for a receipt of a run that has finished', () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = new Cluster({ seed: 'waits', machines: [] }, null);
    await cluster.broker.watch.receipts.open(wait);
  });

  const close = () => cluster.broker.watch.receipts.close('run', KEEP_MS);
  const countLeft = () =>
    leftIn(cluster.broker, {
      ...{ tokens: new Set(['token']), finished: new Set(['run']) },
      hasLostClosing: (id) => cluster.hasLostClosing(id),
    })['waits'];

  it('is left over if nobody closed it', () => expect(countLeft()).toBe(1));

  it('is not left over if it was closed after a failover', async () => {
    const takeOver = cluster.replica();
    takeOver();
    expect(countLeft()).toBe(1);
    await close();
    expect(countLeft()).toBe(0);
  });

  it('is not left over if the queue has lost its closing', async () => {
    const takeOver = cluster.replica();
    await close();
    takeOver();
    expect(await cluster.broker.receipts.post('run', 'token', { kind: 'success', message: null })).toBe(
      'accepted',
    );
    expect(countLeft()).toBe(0);
  });

  it('is left over if it was opened again after its closing was lost', async () => {
    const takeOver = cluster.replica();
    await close();
    takeOver();
    await cluster.broker.watch.receipts.open({ ...wait, attempt: 2 });
    expect(countLeft()).toBe(1);
  });
});
