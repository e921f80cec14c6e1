import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { type LastOutcome } from '../../src/ports/last-outcomes.js';
import {
  type BrokerHarness,
  claimed,
  publishOne,
  reportOf,
  SHORT_MS,
  take,
} from '../support/broker-harness.js';
import { BASE, buildEvent, buildMessage, buildReport } from '../support/builders.js';

const success = (slot: number): LastOutcome => ({ status: 'success', slot, finishedAt: slot + 500 });

/** What every LastOutcomes does, together with the Claims that it takes note of. */
export function lastOutcomesSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as LastOutcomes`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => void (harness = await open()));
    afterEach(() => harness.close());

    /** A run of `load` from its message to its final report. */
    async function run(
      slot: number,
      status: ExecutionReport['status'],
      finishedAt: number | null = slot + 500,
    ) {
      const event = buildEvent({ taskId: 'load', slot });
      const delivery = await publishOne(harness, buildMessage({ event }));
      const { claim } = await claimed(harness, delivery, 'worker-1');
      const report = buildReport({ ...reportOf(claim), status, finishedAt });
      return { claim, finish: () => harness.claims.finish(claim, report) };
    }
    const read = () => harness.lastOutcomes.read('load');

    it('knows nothing of a task that never ran', async () => {
      expect(await read()).toBeNull();
      await (await run(BASE, 'success')).finish();
      expect(await harness.lastOutcomes.read('another')).toBeNull();
    });

    it.each(['success', 'fail', 'timeout'] as const)(
      'takes note of a run that ends as %s',
      async (status) => {
        const { finish } = await run(BASE, status);
        expect(await read()).toBeNull();
        await finish();
        expect(await read()).toEqual({ status, slot: BASE, finishedAt: BASE + 500 });
      },
    );

    it('does not count what was skipped', async () => {
      await (await run(BASE, 'success')).finish();
      await (await run(BASE + 1000, 'skipped')).finish();
      expect(await read()).toEqual(success(BASE));
    });

    it('keeps the run of the newest slot, whichever ends last', async () => {
      const older = await run(BASE, 'fail');
      await (await run(BASE + 1000, 'success')).finish();
      await older.finish();
      expect(await read()).toEqual(success(BASE + 1000));
    });

    it('takes note of a begun run that is cancelled after its worker has died, not of one that had not begun', async () => {
      const [began, unbegan] = [
        buildEvent({ taskId: 'load', slot: BASE }),
        buildEvent({ taskId: 'load', slot: BASE + 1 }),
      ];
      await harness.queue.publish([began, unbegan].map((event) => buildMessage({ event })));
      const deliveries = await take(harness);
      const begun = buildReport({ executionId: began.id });
      await harness.claims.claim(deliveries[0]!, 'dead', SHORT_MS, { begun });
      await harness.advance(SHORT_MS);
      for (const { id: executionId, taskId, kind, slot } of [began, unbegan]) {
        const end = { executionId, taskId, finishedAt: BASE + 600 };
        const verdicts = {
          unbegun: buildReport({ ...end, status: 'skipped' }),
          begun: buildReport({ ...end, status: 'fail' }),
        };
        expect(await harness.stops.cancel({ executionId, taskId, kind, slot }, verdicts)).toBe('ended');
      }
      expect(await read()).toEqual({ status: 'fail', slot: BASE, finishedAt: BASE + 600 });
    });

    it('takes no note of a report that is refused', async () => {
      const { claim } = await run(BASE, 'success');
      const stranger = { ...claim, worker: 'worker-2' };
      const report = buildReport({ ...reportOf(stranger), status: 'fail' });
      expect(await harness.claims.finish(stranger, report)).toBe(false);
      expect(await read()).toBeNull();
    });

    it('is told of others, in any order and any number of times', async () => {
      const { lastOutcomes } = harness;
      const failed: LastOutcome = { status: 'fail', slot: BASE + 2000, finishedAt: BASE + 2600 };
      await lastOutcomes.note([
        { taskId: 'load', outcome: failed },
        { taskId: 'another', outcome: success(BASE) },
      ]);
      await lastOutcomes.note([{ taskId: 'load', outcome: success(BASE + 1000) }]);
      await lastOutcomes.note([]);
      expect(await read()).toEqual(failed);
      expect(await lastOutcomes.read('another')).toEqual(success(BASE));
      await lastOutcomes.note([{ taskId: 'load', outcome: { ...success(BASE + 2000) } }]);
      expect(await read()).toEqual(success(BASE + 2000));
    });

    it('remembers for which life of the queue it was filled, as long as that lasts', async () => {
      expect(await harness.lastOutcomes.filledFor()).toBeNull();
      await harness.lastOutcomes.markFilled('life-1');
      expect(await harness.lastOutcomes.filledFor()).toBe('life-1');
      await harness.loseData();
      expect(await harness.lastOutcomes.filledFor()).toBeNull();
      expect(await read()).toBeNull();
    });
  });
}
