import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { InvalidInput, messageOf } from './errors.js';

/**
 * Fire times of one cron expression in one time zone. The only file that knows cron-parser. Its gaps are closed here: it pads
 * short expressions, takes `H` as a random value, accepts unknown zones until a date is computed and throws when a search ends.
 */
export interface Cron {
  /** The first slot strictly after `after` (epoch ms), or null if there is none. */
  next(after: number): number | null;
  /** The last slot at or before `instant` (epoch ms), or null if there is none. */
  previous(instant: number): number | null;
}

const FIELD_NAMES = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week'];
const MACROS = /^@(yearly|annually|monthly|weekly|daily|hourly|minutely|secondly|weekdays|weekends)$/;

/**
 * Parses a cron expression of five fields (minute first) or six (second first), or a macro such as `@hourly`.
 * @throws InvalidInput on field `cron_expr` or `timezone`.
 */
export function parseCron(expr: string, timezone: string): Cron {
  assertTimezone(timezone);
  const text = expr.trim().replace(/\s+/g, ' ');
  assertShape(text);
  parse(text, timezone, 0);
  return {
    next: (after) => step(text, timezone, after, (it) => it.next().getTime()),
    previous: (instant) => step(text, timezone, instant + 1, (it) => it.prev().getTime()),
  };
}

/** @throws InvalidInput on field `timezone` unless `timezone` is an IANA name that the runtime knows. */
export function assertTimezone(timezone: string): void {
  const refuse = (problem: string) =>
    InvalidInput.of('timezone', problem, 'use an IANA name such as "UTC" or "Asia/Shanghai"');
  if (/^[+-]/.test(timezone)) throw refuse(`"${timezone}" is an offset, not a time zone`);
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw refuse(`"${timezone}" is not a known time zone`);
  }
}

function assertShape(text: string): void {
  if (MACROS.test(text)) return;
  const fields = text === '' ? [] : text.split(' ');
  if (fields.length !== 5 && fields.length !== 6) {
    throw refuse(`"${text}" has ${fields.length} fields`);
  }
  fields.forEach((field, i) => {
    const hashed = field.split(',').find((token) => /^H(?!.*[a-z])/i.test(token));
    if (hashed === undefined) return;
    const name = FIELD_NAMES[i + 6 - fields.length] ?? 'field';
    throw refuse(`"${hashed}" in the ${name} field stands for a random value`);
  });
}

function parse(text: string, timezone: string, from: number): CronExpression {
  try {
    return CronExpressionParser.parse(text, { currentDate: from, tz: timezone });
  } catch (error) {
    throw refuse(`"${text}" is not valid (${messageOf(error)})`);
  }
}

function refuse(problem: string): InvalidInput {
  return InvalidInput.of(
    'cron_expr',
    problem,
    'give five fields (minute hour day-of-month month day-of-week) or six (second first) within their ranges',
  );
}

/** A search that the library gives up on has no slot within its horizon. */
function step(text: string, zone: string, from: number, move: (it: CronExpression) => number): number | null {
  const expression = parse(text, zone, from);
  try {
    return move(expression);
  } catch {
    return null;
  }
}
