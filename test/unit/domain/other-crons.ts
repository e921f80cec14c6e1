import { CronExpressionParser } from 'cron-parser';
import { Cron as Croner } from 'croner';
import fc from 'fast-check';

/** The next fire time after an instant; null if there is none. */
export type Next = (after: number) => number | null;

export function cronerNext(expr: string, timezone: string): Next {
  const cron = new Croner(expr, { timezone, paused: true });
  return (after) => cron.nextRun(new Date(after))?.getTime() ?? null;
}

export function cronParserNext(expr: string, timezone: string): Next {
  const cron = CronExpressionParser.parse(expr, { tz: timezone });
  return (after) => {
    cron.reset(new Date(after));
    return cron.next().getTime();
  };
}

/** Up to `n` fire times after an instant; they end where the search fails. */
export function firesOf(next: Next, after: number, n: number): number[] {
  const fires: number[] = [];
  try {
    for (let fire = next(after); fire !== null && fires.length < n; fire = next(fire)) fires.push(fire);
  } catch (error) {
    if (!String(error).includes('loop limit')) throw error;
  }
  return fires;
}

export interface DrawnExpression {
  readonly expr: string;
  /** The same with steps over all days written as lists, which others take for a restricted field. */
  readonly listed: string;
  /** Minutes and hours are single values or one of them is a list or a range; a star or a step is neither. */
  readonly times: 'single' | 'several' | 'cadence';
}

interface Field {
  readonly text: string;
  readonly listed?: string;
}

const whole = (min: number, max: number) => fc.integer({ min, max });
const text = (value: string): Field => ({ text: value });

function anyTime(max: number): fc.Arbitrary<Field> {
  const value = whole(0, max);
  return fc.oneof(
    fc.constant(text('*')),
    { weight: 3, arbitrary: value.map((n) => text(String(n))) },
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((list) => text(list.join(','))),
    fc
      .tuple(value, value)
      .map(([a, b]) => text(`${Math.min(a, b)}-${Math.max(a, b) + (a === b && a < max ? 1 : 0)}`)),
    whole(2, max).map((n) => text(`*/${n}`)),
  );
}

function anyDay(min: number, max: number, others: readonly string[]): fc.Arbitrary<Field> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(text('*')) },
    whole(min, max).map((n) => text(String(n))),
    fc.uniqueArray(whole(min, max), { minLength: 2, maxLength: 3 }).map((list) => text(list.join(','))),
    fc.constantFrom(...others).map(text),
    whole(2, 6).map((step) => ({
      text: `*/${step}`,
      listed: Array.from({ length: Math.floor((max - min) / step) + 1 }, (_, i) => min + i * step).join(','),
    })),
  );
}

const timesOf = (minute: string, hour: string): DrawnExpression['times'] => {
  if (/[*/]/.test(minute + hour)) return 'cadence';
  return /[,-]/.test(minute + hour) ? 'several' : 'single';
};

/** What all of them can read; with `workdays` only croner can. */
export const anyExpression = ({ workdays = false } = {}): fc.Arbitrary<DrawnExpression> =>
  fc
    .tuple(
      anyTime(59),
      anyTime(23),
      anyDay(1, 31, workdays ? ['15W', '1W', '31W', 'LW', '1,15W', 'L,20'] : ['L', '31', '1-7', '30']),
      fc.constantFrom('*', '*', '*', '2', 'JAN,jul', '3-10', '*/3', '12'),
      anyDay(0, 6, ['MON-FRI', 'sun', '7', '5L', '1#1', '4#5', '0-3']),
    )
    .map(([minute, hour, day, month, weekday]) => {
      const join = (days: string, weekdays: string) =>
        [minute.text, hour.text, days, month, weekdays].join(' ');
      return {
        expr: join(day.text, weekday.text),
        listed: join(day.listed ?? day.text, weekday.listed ?? weekday.text),
        times: timesOf(minute.text, hour.text),
      };
    });
