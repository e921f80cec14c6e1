import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cronProblems, type CronRule, DEFAULT_CRON, parseCron } from '../../../src/domain/cron.js';
import { problemsIn } from './cron-of.js';
import {
  anyExpression,
  cronerNext,
  cronParserNext,
  type DrawnExpression,
  firesOf,
  type Next,
} from './other-crons.js';

/** Every difference that is accepted has its row, by number, in docs/cron.md. */
const HOUR_MS = 3_600_000;
const N = 12;

/** Where clocks change, and how: an hour, half an hour, two hours, at midnight, negative saving time. */
const CHANGES: readonly (readonly [timezone: string, at: string])[] = [
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00:00Z'],
  ['Africa/Cairo', '2025-04-24T22:00:00Z'],
  ['Africa/Cairo', '2025-10-30T21:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['Africa/Casablanca', '2025-04-06T02:00:00Z'],
];
const STEADY = ['UTC', 'Asia/Shanghai', 'Asia/Kolkata', 'America/Bogota'];

const anyInstant = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });
const ruleOf = (expr: string, timezone: string, more: Partial<CronRule> = {}): CronRule => ({
  ...DEFAULT_CRON,
  expr,
  timezone,
  ...more,
});
const ourNext = (rule: CronRule): Next => {
  const cron = parseCron(rule);
  return (after) => cron.next(after);
};

/** Difference 1: a step over all days is a list to the others, so that either day is enough. */
const asOthersRead = ({ listed }: DrawnExpression, timezone: string) => ruleOf(listed, timezone);

/** Differences 2 and 3: at several fixed times a day croner leaves missing ones out and fires both passes of repeated ones. */
const asCronerFires = (drawn: DrawnExpression, timezone: string): CronRule =>
  drawn.times === 'several'
    ? { ...asOthersRead(drawn, timezone), dstGap: 'skip', dstOverlap: 'both' }
    : asOthersRead(drawn, timezone);

describe('two independent implementations', () => {
  it('agree where clocks do not change', () => {
    fc.assert(
      fc.property(anyExpression(), fc.constantFrom(...STEADY), anyInstant, (drawn, timezone, from) => {
        const rule = asOthersRead(drawn, timezone);
        fc.pre(cronProblems(rule).length === 0);
        const ours = firesOf(ourNext(rule), from, N);
        expect(firesOf(cronerNext(drawn.expr, timezone), from, N)).toEqual(ours);
        expect(firesOf(cronParserNext(drawn.expr, timezone), from, N)).toEqual(ours);
      }),
      { numRuns: 250 },
    );
  });

  it('and so does croner on the nearest workday, which cron-parser does not know', () => {
    fc.assert(
      fc.property(anyExpression({ workdays: true }), anyInstant, (drawn, from) => {
        const rule = asOthersRead(drawn, 'Asia/Shanghai');
        fc.pre(cronProblems(rule).length === 0);
        expect(firesOf(cronerNext(drawn.expr, 'Asia/Shanghai'), from, N)).toEqual(
          firesOf(ourNext(rule), from, N),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('croner agrees near changes of the clocks but for its rule for several times a day', () => {
    const before = fc.integer({ min: 1, max: 30 * HOUR_MS });
    fc.assert(
      fc.property(anyExpression(), fc.constantFrom(...CHANGES), before, (drawn, [timezone, at], ms) => {
        const rule = asCronerFires(drawn, timezone);
        fc.pre(cronProblems(rule).length === 0);
        const from = Date.parse(at) - ms;
        expect(firesOf(cronerNext(drawn.expr, timezone), from, N)).toEqual(firesOf(ourNext(rule), from, N));
      }),
      { numRuns: 400 },
    );
  });

  it('cron-parser agrees on every step from one fire time to the next that is a day away from changes of the clocks', () => {
    const before = fc.integer({ min: 1, max: 72 * HOUR_MS });
    fc.assert(
      fc.property(anyExpression(), fc.constantFrom(...CHANGES), before, (drawn, [timezone, at], ms) => {
        const rule = asOthersRead(drawn, timezone);
        fc.pre(cronProblems(rule).length === 0);
        const change = Date.parse(at);
        // Difference 4: nearer than that it moves, drops and doubles, and loses days and months if asked within a repeated hour.
        const isFar = (instant: number) => {
          const away = Math.abs(instant - change);
          return away > 26 * HOUR_MS && away < 60 * 24 * HOUR_MS;
        };
        const fires = [change - ms, ...firesOf(ourNext(rule), change - ms, N)];
        const theirs = cronParserNext(drawn.expr, timezone);
        for (const [i, fire] of fires.slice(1).entries()) {
          const from = fires[i] as number;
          if (!isFar(from) || !isFar(fire)) continue;
          const answer = theirs(from) ?? NaN;
          if (isFar(answer)) expect(answer).toBe(fire);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each(['0 0 L-3 * *', '0 0 1,1 * *', '0 0 */31 * 1'])('read by ax alone, or otherwise: %s', (expr) => {
    expect(problemsIn(expr)).toEqual([]);
  });

  it.each([
    ['', 'difference 5: cron-parser takes it for every minute'],
    ['* * * *', 'difference 5: cron-parser fills it up from the left'],
    ['0 22-2 * * *', 'difference 6: ranges that wrap'],
  ])('%j is refused: %s', (expr) => {
    expect(problemsIn(expr)).toHaveLength(1);
  });
});
