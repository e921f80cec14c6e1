import { describe, expect, it } from 'vitest';
import { InProcessBroker } from '../../src/adapters/embedded/in-process-broker.js';
import {
  claimed,
  NO_PROGRESS,
  publishAndTake,
  reportOf,
  slotsOfOneTask,
  take,
} from '../support/broker-harness.js';
import { BASE, buildReport } from '../support/builders.js';
import { FakeClock } from '../support/fake-clock.js';
import { ClaimWatch } from './claim-watch.js';
import { Grants } from './grants.js';
import { Journal } from './journal.js';
import { RunBook } from './run-book.js';

const TTL_MS = 15_000;
const SECOND_TRY_MS = 60_000;

/** A run of a task with one place is handed back between two attempts; the next slot comes `afterMs` later, then its heir. Broken rules. */
async function rulesOfHandOver(attempt: number, afterMs: number, keepsPlace = true): Promise<string[]> {
  const clock = new FakeClock(BASE);
  const { queue, claims } = new InProcessBroker(clock, 'life-1');
  const journal = new Journal(clock);
  const grants = new Grants();
  const book = new RunBook(() => clock.now() - BASE, grants);
  const handBack = claims.handBack.bind(claims);
  if (!keepsPlace)
    claims.handBack = (claim, report, progress) => handBack(claim, report, { ...progress, attempt: 0 });
  const watch = new ClaimWatch(claims, book, journal, { life: 1 }, grants, () => true);
  const broker = { queue, claims: watch.port };
  const [first, second] = await publishAndTake(broker, slotsOfOneTask(2, 1));
  const { claim } = await claimed(broker, first, 'drained', TTL_MS);
  const retryAt = attempt === 0 ? null : BASE + SECOND_TRY_MS;
  await watch.port.handBack(claim, buildReport(reportOf(claim)), { ...NO_PROGRESS, attempt, retryAt });
  await clock.advance(afterMs);
  await claimed(broker, second, 'worker-1', TTL_MS);
  const [again] = await take(broker, { taker: 'worker-2' });
  await claimed(broker, again, 'worker-2', TTL_MS);
  return journal.of('violation').map(({ rule }) => rule);
}

describe('The watch of claims', () => {
  it.each([
    ['has begun, until its next attempt is due', 1, SECOND_TRY_MS - 1],
    ['has begun, and not for longer', 1, SECOND_TRY_MS],
    ['has not begun, not at all', 0, 1],
  ])('counts the place of a run that was handed back and %s', async (_, attempt, afterMs) => {
    expect(await rulesOfHandOver(attempt, afterMs)).toEqual([]);
  });

  it('finds that the place of a run which has begun is given away over its hand-over', async () => {
    expect(await rulesOfHandOver(1, 1, false)).toEqual(['max_concurrent', 'false_overlap']);
  });
});
