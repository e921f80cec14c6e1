import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Schedule } from '../../../src/domain/schedule.js';
import { BASE } from '../../support/builders.js';
import { buildUse } from '../../support/calendars.js';
import { cronSchedule, intervalSchedule, policyOf } from './definition.js';
import { TaskScene } from './history-scene.js';

const anyPunctual: fc.Arbitrary<Schedule> = fc.oneof(
  fc.integer({ min: 1, max: 300 }).map((everySec) => intervalSchedule(everySec, BASE)),
  fc
    .constantFrom('* * * * *', '*/20 * * * * *', '7 */2 * * * *', '3,4,30 * * * *')
    .map((expr) => cronSchedule(expr, 'Asia/Kathmandu')),
  fc
    .constantFrom<[version: number, from: string, to: string]>(
      [1, '00:03:00', '00:09:00'],
      [2, '00:06:00', '00:20:00'],
      [3, '00:00:00', '24:00:00'],
    )
    .map(([version, from, to]) => buildUse({ version, weekend: [], excludedTimes: [{ from, to }] }))
    .map((calendar) => cronSchedule('* * * * *', 'UTC', { calendar })),
  fc
    .record({ endAt: fc.integer({ min: BASE + 1_000_000, max: BASE + 3_000_000 }) })
    .map((bounds) => cronSchedule('* * * * *', 'UTC', bounds)),
  fc
    .integer({ min: BASE + 1_000_000, max: BASE + 3_000_000 })
    .map((runAt) => ({ type: 'once' as const, runAt })),
);

const anySchedule: fc.Arbitrary<Schedule> = fc
  .tuple(anyPunctual, fc.constantFrom(0, 0, 3, 200))
  .map(([schedule, jitterSec]) => (schedule.type === 'once' ? schedule : { ...schedule, jitterSec }));

const anyPolicy = fc
  .record({
    misfirePolicy: fc.constantFrom('skip' as const, 'fire_once' as const, 'catch_up' as const),
    misfireLimit: fc.constantFrom(1, 3, 50),
    misfireMaxAgeSec: fc.constantFrom(30, 86_400),
    windowSec: fc.constantFrom(1, 5, 60),
  })
  .map(policyOf);

/** What happens next, and how long after what was before. */
const anyStep = fc.record({
  waitMs: fc.oneof(fc.nat(3000), fc.nat(200_000)),
  what: fc.oneof(
    fc.record({ kind: fc.constant('run' as const) }),
    fc.record({ kind: fc.constant('outage' as const) }),
    fc.record({ kind: fc.constant('toggle' as const), isEnabled: fc.boolean() }),
    fc.record({ kind: fc.constant('policy' as const), policy: anyPolicy }),
    fc.record({ kind: fc.constant('schedule' as const), schedule: anySchedule }),
    fc.record({ kind: fc.constant('delete' as const), schedule: anySchedule }),
  ),
});
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

function play(scene: TaskScene, { waitMs, what }: Step): void {
  const until = scene.now + waitMs;
  switch (what.kind) {
    case 'run':
      scene.runUntil(until);
      break;
    case 'outage':
      scene.sleepUntil(until);
      break;
    case 'toggle':
      scene.sleepUntil(until).edit({ isEnabled: what.isEnabled });
      break;
    case 'policy':
      scene.sleepUntil(until).edit({ policy: what.policy });
      break;
    case 'schedule':
      if (isPast(what.schedule, until)) scene.sleepUntil(until);
      else scene.sleepUntil(until).edit({ schedule: what.schedule });
      break;
    case 'delete':
      scene
        .sleepUntil(until)
        .delete()
        .sleepUntil(until + 5000);
      if (!isPast(what.schedule, scene.now)) scene.create({ schedule: what.schedule });
      break;
  }
}

const isPast = (schedule: Schedule, now: number): boolean =>
  (schedule.type === 'once' ? schedule.runAt : (schedule.endAt ?? Infinity)) < now + 61_000;

const anyHistory = fc.record({
  schedule: anySchedule,
  policy: anyPolicy,
  steps: fc.array(anyStep, { maxLength: 12 }),
});

function historyOf({ schedule, policy, steps }: typeof anyHistory extends fc.Arbitrary<infer T> ? T : never) {
  const scene = new TaskScene().create({ schedule, policy });
  for (const step of steps) play(scene, step);
  return scene.runUntil(scene.now + 600_000);
}

describe('a history that the domain itself made', () => {
  it('is clean, whatever was edited and however long nothing decided', () => {
    fc.assert(
      fc.property(anyHistory, (drawn) => {
        const scene = historyOf(drawn);
        const { violations, unknown } = scene.check({ to: scene.now - 300_000 });
        expect(violations).toEqual([]);
        for (const { reason } of unknown)
          expect(reason).toBe('undecided when the task was disabled or deleted');
      }),
      { numRuns: 100 },
    );
  });

  it('is clean in every part of it', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(), fc.nat(), (drawn, a, b) => {
        const scene = historyOf(drawn);
        const span = scene.now - 300_000 - BASE;
        const [from = BASE, to] = [BASE + (a % span), BASE + (b % span)].toSorted((x, y) => x - y);
        expect(scene.check(to === undefined ? { from } : { from, to }).violations).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('is not clean without one of its events, or with one of them twice', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(), (drawn, index) => {
        const scene = historyOf(drawn);
        const to = scene.now - 300_000;
        const events = scene.events.filter(({ slot }) => slot <= to);
        const chosen = events[index % Math.max(1, events.length)];
        fc.pre(chosen !== undefined);
        const all = scene.events;
        scene.events = all.filter((event) => event !== chosen);
        expect(scene.check({ to }).violations.map(({ rule }) => rule)).toContain('missing');
        scene.events = [...all, chosen];
        expect(scene.check({ to }).violations.map(({ rule }) => rule)).toEqual(['duplicate']);
      }),
      { numRuns: 60 },
    );
  });
});
