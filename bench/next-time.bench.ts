import { CronExpressionParser } from 'cron-parser';
import { Cron as Croner } from 'croner';
import { performance } from 'node:perf_hooks';
import { it } from 'vitest';
import { DEFAULT_CRON, parseCron } from '../src/domain/cron.js';

/** One of each kind of expression; the last two are far away. */
const KINDS: readonly (readonly [kind: string, expr: string])[] = [
  ['every second', '* * * * * *'],
  ['every 5 minutes', '*/5 * * * *'],
  ['hourly', '0 * * * *'],
  ['daily', '30 2 * * *'],
  ['weekdays', '0 9 * * 1-5'],
  ['list of hours', '15,45 8,12,18 * * *'],
  ['step in a range', '0 9-17/2 * * 1-5'],
  ['either day', '0 0 13 * 5'],
  ['last day', '0 12 L * *'],
  ['last Friday', '0 14 * * 5L'],
  ['third Friday', '0 14 * * 5#3'],
  ['nearest workday', '0 9 15W * *'],
  ['yearly', '0 0 1 1 *'],
  ['29 February', '0 0 29 2 *'],
  ['fifth Monday in February', '0 9 * 2 1#5'],
];
const ZONES = ['UTC', 'America/New_York', 'Australia/Lord_Howe'];
const START = Date.UTC(2026, 0, 5);
const ROUNDS = 5;
/** Of one measurement; costs differ by a factor of a hundred, so that counts follow from time. */
const BUDGET_MS = 40;
const MAX_STEPS = 20_000;

type Next = (after: number) => number;

const CONTENDERS: readonly (readonly [name: string, open: (expr: string, timezone: string) => Next])[] = [
  [
    'ax',
    (expr, timezone) => {
      const cron = parseCron({ ...DEFAULT_CRON, expr, timezone });
      return (after) => cron.next(after) ?? NaN;
    },
  ],
  [
    'croner',
    (expr, timezone) => {
      const cron = new Croner(expr, { timezone, paused: true });
      return (after) => cron.nextRun(new Date(after))?.getTime() ?? NaN;
    },
  ],
  [
    'cron-parser',
    (expr, timezone) => {
      const cron = CronExpressionParser.parse(expr, { tz: timezone });
      return (after) => {
        cron.reset(new Date(after));
        return cron.next().getTime();
      };
    },
  ],
];

it('next fire time: one after the other, parsed once', () => {
  const names = CONTENDERS.map(([name]) => name.padStart(12)).join('');
  process.stdout.write(`\nµs of one next fire time, the least of ${ROUNDS} rounds\n`);
  for (const timezone of ZONES) {
    process.stdout.write(`  ${timezone.padEnd(28)}${names}\n`);
    for (const [kind, expr] of KINDS) {
      const costs = CONTENDERS.map(([, open]) => cheapest(() => costOf(() => open(expr, timezone))));
      process.stdout.write(`    ${kind.padEnd(26)}${costs.map(text).join('')}\n`);
    }
  }
});

const text = (cost: number | null): string => (cost === null ? '-' : cost.toFixed(2)).padStart(12);

function cheapest(measure: () => number | null): number | null {
  const costs = Array.from({ length: ROUNDS }, measure);
  return costs.some((cost) => cost === null) ? null : Math.min(...(costs as number[]));
}

/** Microseconds of a step from one fire time to the next; null if the expression is refused or the search fails. */
function costOf(open: () => Next): number | null {
  try {
    const next = open();
    let at = START;
    let steps = 0;
    const startedAt = performance.now();
    while (steps < MAX_STEPS && (steps % 10 !== 0 || performance.now() - startedAt < BUDGET_MS)) {
      at = next(at);
      // Far ones begin again before they leave the calendar.
      if (Number.isNaN(at)) return null;
      if (at > Date.UTC(2300, 0)) at = START;
      steps++;
    }
    return ((performance.now() - startedAt) * 1000) / steps;
  } catch {
    return null;
  }
}
