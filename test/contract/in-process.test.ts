import { describe, expect, it } from 'vitest';
import { InProcessLock } from '../../src/adapters/embedded/in-process-lock.js';
import { InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { InProcessWakeup } from '../../src/adapters/embedded/in-process-wakeup.js';
import { InProcessNodeRegistry } from '../../src/adapters/embedded/in-process-node-registry.js';
import { claimed, publishAndTake, reportOf, take } from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';
import { FakeClock } from '../support/fake-clock.js';
import { openInProcess } from '../support/in-process-harness.js';
import { claimsSuite } from './claims.suite.js';
import { lastOutcomesSuite } from './last-outcomes.suite.js';
import { buildNode } from '../support/pools.js';
import { lockSuite } from './lock.suite.js';
import { queueSuite } from './queue.suite.js';
import { receiptsSuite } from './receipts.suite.js';
import { resultsSuite } from './results.suite.js';
import { stopsSuite } from './stops.suite.js';
import { wakeupSuite } from './wakeup.suite.js';
import { registrySuite } from './registry.suite.js';

const openBroker = async () => openInProcess();

lockSuite(
  'InProcessLock',
  async () => {
    const clock = new FakeClock();
    return {
      lock: new InProcessLock(clock),
      advance: (ms) => clock.advance(ms),
      close: async () => undefined,
    };
  },
  { canBeAway: false },
);

wakeupSuite(
  'InProcessWakeup',
  async () => {
    const node = new InProcessWakeup();
    return { nodes: [node, node], stranger: new InProcessWakeup(), close: async () => undefined };
  },
  { canBeAway: false },
);

receiptsSuite(
  'InProcessReceipts',
  async () => {
    const clock = new FakeClock();
    let receipts = new InProcessReceipts(clock);
    return {
      get nodes() {
        return [receipts, receipts] as const;
      },
      advance: (ms) => clock.advance(ms),
      loseData: async () => void (receipts = new InProcessReceipts(clock)),
      close: async () => expect(clock.pendingTimers).toBe(0),
    };
  },
  { canBeAway: false },
);

registrySuite(
  'InProcessRegistry',
  async () => {
    const clock = new FakeClock();
    const node = new InProcessNodeRegistry(clock);
    return {
      nodes: [node, node],
      stranger: new InProcessNodeRegistry(clock),
      advance: (ms) => clock.advance(ms),
      close: async () => undefined,
    };
  },
  { canBeAway: false, build: (instance, clockOffsetMs) => buildNode({ instance, clockOffsetMs }) },
);

queueSuite('InProcessQueue', openBroker, { holdsText: false });
claimsSuite('InProcessClaims', openBroker);
stopsSuite('InProcessStops', openBroker);
resultsSuite('InProcessResults', openBroker, { holdsText: false });
lastOutcomesSuite('InProcessLastOutcomes', openBroker);

describe('InProcessBroker', () => {
  const HOUR_MS = 3_600_000;

  it('forgets a finished run after an hour, and not before', async () => {
    const harness = openInProcess();
    const message = buildMessage();
    const [delivery] = await publishAndTake(harness, [message]);
    const { claim } = await claimed(harness, delivery, 'worker-1');
    await harness.claims.finish(claim, buildReport(reportOf(claim)));
    await harness.advance(HOUR_MS - 1);
    expect(await harness.queue.states([message.event])).toEqual(['finished']);
    await harness.advance(1);
    expect(await harness.queue.states([message.event])).toEqual(['unknown']);
  });

  it('takes the oldest message first, whichever pool it is in', async () => {
    const harness = openInProcess();
    const pools = ['blue', 'red', 'blue', 'green', 'red'];
    const batch = pools.map((pool) => {
      const message = buildMessage();
      return { ...message, task: { ...message.task, pool } };
    });
    await harness.queue.publish(batch);
    const taken = await take(harness, { pools: ['green', 'red', 'blue'], max: 5 });
    expect(taken.map(({ message }) => message)).toEqual(batch);
  });

  it('takes as long for each of 40,000 runs as for each of a few', async () => {
    const timeOf = async (count: number): Promise<number> => {
      const harness = openInProcess();
      const startedAt = performance.now();
      await harness.queue.publish(Array.from({ length: count }, () => buildMessage()));
      for (let deliveries = await take(harness); deliveries.length > 0; deliveries = await take(harness)) {
        for (const delivery of deliveries) {
          const { claim } = await claimed(harness, delivery, 'worker-1');
          await harness.claims.renew([claim], 60_000);
          await harness.claims.finish(claim, buildReport(reportOf(claim)));
        }
      }
      expect(await harness.queue.depth()).toBe(0);
      return performance.now() - startedAt;
    };
    await timeOf(2000);
    const perThousand = (await timeOf(2000)) / 2;
    // Work that grows with the number of messages would make each step 20 times dearer; a busy machine does not.
    expect(await timeOf(40_000)).toBeLessThan(perThousand * 40 * 10);
  });
});
