import { DEFAULT_CRON } from '../../../../src/domain/cron.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BASE, buildTask } from '../../../support/builders.js';
import { NodeHarness } from '../../../support/node-harness.js';

const HOUR = 3_600_000;
/** First of February 2026; `BASE` is the fifth of January, so it is further away than a 32-bit timer reaches. */
const FIRST = Date.UTC(2026, 1, 1);

let harness: NodeHarness;
beforeEach(async () => {
  harness = await NodeHarness.open();
});
afterEach(() => harness.close());

it('a monthly task runs once, at its instant, after 27 days of waiting (SO-31)', async () => {
  const schedule = {
    type: 'cron',
    expr: '0 0 1 * *',
    timezone: 'UTC',
    ...DEFAULT_CRON,
    startAt: null,
    endAt: null,
    jitterSec: 0,
  } as const;
  await harness.add(buildTask({ id: 'monthly', schedule, nextTriggerTime: FIRST }));
  // As slow as a loop can be, so that the longest sleep is the whole wait.
  const coordinator = harness.coordinator('coordinator-1', {
    tickMs: 60 * 24 * HOUR,
    leaseMs: 60 * 24 * HOUR,
  });
  coordinator.start('loop');
  await harness.clock.advance(5 * 60_000);
  expect(await harness.all()).toEqual([]);
  await harness.clock.advance(FIRST - BASE - 5 * 60_000 - 1);
  expect(await harness.all()).toEqual([]);
  await harness.clock.advance(1);
  expect((await harness.all()).map(({ event }) => [event.slot, event.firedAt])).toEqual([[FIRST, FIRST]]);
  await harness.clock.advance(24 * HOUR);
  expect(await harness.all()).toHaveLength(1);
});
