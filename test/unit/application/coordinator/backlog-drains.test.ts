import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { BASE } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

const SECOND = 1000;

/** A task, how long its runs take, and for how long nobody triggered it. */
const situation = fc.record({
  everySec: fc.integer({ min: 1, max: 5 }),
  runMs: fc.integer({ min: 0, max: 8000 }),
  outageSec: fc.integer({ min: 1, max: 60 }),
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  windowSec: fc.integer({ min: 1, max: 15 }),
  misfirePolicy: fc.constantFrom('fire_once', 'skip', 'catch_up'),
});

describe('After an outage', () => {
  it('every task is on time again, and each of its slots was decided once', async () => {
    const property = fc.asyncProperty(situation, async (drawn) => {
      const { everySec, runMs, outageSec, windowSec, ...policy } = drawn;
      const harness = await NodeHarness.open();
      try {
        harness.executor.script = harness.executor.lasting(runMs);
        await harness.add(every(everySec, { policy: { ...DEFAULT_POLICY, ...policy, windowSec } }));
        await harness.clock.advance(outageSec * SECOND);
        harness.coordinator('leader').start();
        harness.worker('worker').start();
        // Each decision makes up for a quarter of the distance between two slots at least, of a window or of misfire_limit slots.
        await harness.clock.advance((outageSec + 4 * windowSec + 40 * everySec) * SECOND);
        const decided = await harness.all();

        const slots = decided.flatMap(({ event: { slot, rangeEnd } }) => {
          const count = ((rangeEnd ?? slot) - slot) / (everySec * SECOND) + 1;
          return Array.from({ length: count }, (_, i) => (slot - BASE) / SECOND + i * everySec);
        });
        const passed = Math.floor((harness.clock.now() - BASE) / SECOND / everySec);
        expect(slots).toEqual(Array.from({ length: passed }, (_, i) => (i + 1) * everySec));

        const lateness = decided.slice(-5).map(({ event }) => event.firedAt - event.slot);
        expect(lateness).toEqual([0, 0, 0, 0, 0]);
        const late = decided.filter(
          ({ event }) => event.firedAt > event.windowEnd && event.rangeEnd === null,
        );
        expect(late.filter(({ event }) => !event.isMisfire)).toEqual([]);
      } finally {
        await harness.close();
      }
    });
    await fc.assert(property, { numRuns: 12 });
  }, 120_000);
});
