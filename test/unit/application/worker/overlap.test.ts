import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type OverlapPolicy } from '../../../../src/domain/policy.js';
import { BASE } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

const RUN_MS = 3000;
const SLOTS = 10;

describe('Runs of 3 s every second on two workers, max_concurrent 1', () => {
  let harness: NodeHarness;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    harness.coordinator('coordinator').start();
    harness.executor.script = harness.executor.lasting(RUN_MS);
  });
  afterEach(() => harness.close());

  /** What became of the ten slots, by time. */
  async function verdicts(overlapPolicy: OverlapPolicy): Promise<string[]> {
    for (const name of ['worker-1', 'worker-2']) harness.worker(name).start();
    const schedule = {
      type: 'interval',
      everySec: 1,
      anchorAt: BASE,
      startAt: null,
      endAt: BASE + SLOTS * 1000,
      jitterSec: 0,
    } as const;
    await harness.add(every(1, { schedule, policy: { ...DEFAULT_POLICY, overlapPolicy } }));
    await harness.clock.advance(60_000);
    expect(harness.executor.peak).toBe(1);
    return (await harness.all()).map(({ status, reason }) =>
      reason === null ? status : `${status} ${reason}`,
    );
  }

  it('skip: every third runs, the others are skipped', async () => {
    const found = await verdicts('skip');
    expect(found).toHaveLength(SLOTS);
    expect(found.filter((verdict) => verdict === 'success').length).toBeGreaterThanOrEqual(3);
    expect(new Set(found)).toEqual(new Set(['success', 'skipped overlap']));
  });

  it('queue: all run, in the order of their slots', async () => {
    expect(await verdicts('queue')).toEqual(Array.from({ length: SLOTS }, () => 'success'));
    const slots = harness.executor.calls.map(({ request }) => request.slot);
    expect(slots).toEqual(slots.toSorted((a, b) => a - b));
    expect(harness.executor.calls).toHaveLength(SLOTS);
  });

  it('replace: each is stopped by the next, and the last one succeeds', async () => {
    const found = await verdicts('replace');
    expect(found).toEqual([...Array.from({ length: SLOTS - 1 }, () => 'fail replaced'), 'success']);
  });

  it('replace: one that waits gives way to a newer one', async () => {
    harness.executor.script = async () => {
      await harness.clock.sleep(2500); // Deaf to its stop for a while.
      return { status: 'fail', reason: 'replaced', message: null, evidence: {} };
    };
    const found = await verdicts('replace');
    expect(new Set(found.slice(0, -1))).toEqual(new Set(['fail replaced', 'skipped overlap']));
    expect(found).toHaveLength(SLOTS);
  });

  it('queue: a worker that dies frees its place, and the line goes on in order', async () => {
    const schedule = {
      type: 'interval',
      everySec: 1,
      anchorAt: BASE,
      startAt: null,
      endAt: BASE + 4000,
      jitterSec: 0,
    } as const;
    const policy = { ...DEFAULT_POLICY, overlapPolicy: 'queue', isIdempotent: true } as const;
    await harness.add(every(1, { schedule, policy }));
    const doomed = harness.worker('doomed').start();
    await harness.clock.advance(2500);
    doomed.crash();
    harness.worker('worker-2').start();
    await harness.clock.advance(60_000);
    expect((await harness.all()).map(({ status }) => status)).toEqual(
      Array.from({ length: 4 }, () => 'success'),
    );
    const slots = harness.executor.calls.map(({ request }) => (request.slot - BASE) / 1000);
    expect(slots).toEqual([1, 1, 2, 3, 4]);
  });
});
