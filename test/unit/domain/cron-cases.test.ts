import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { parseCron } from '../../../src/domain/cron.js';
import { InvalidInput } from '../../../src/domain/errors.js';
import { createTask } from '../../../src/domain/task.js';
import { definition } from './definition.js';
import { problemsOf } from './problems-of.js';

interface CronCase {
  readonly id: string;
  readonly outcome: 'times' | 'invalid' | 'never';
  readonly expr: string;
  readonly tz: string;
  readonly from: string;
  readonly expected?: readonly string[];
  readonly env?: { readonly TZ: readonly string[] };
  readonly libs_differ?: Readonly<Record<string, unknown>>;
}

const { cron: cases } = JSON.parse(
  readFileSync(new URL('../../cases/cases.json', import.meta.url), 'utf8'),
) as { cron: readonly CronCase[] };

const DIFFERS = 'cron-parser differs: own fire-time arithmetic';
/** Cases that do not hold yet, each with the reason. */
const EXCLUDED: Readonly<Record<string, string>> = {
  'CO-043': DIFFERS,
  'CO-049': DIFFERS,
  'CO-050': DIFFERS,
  'CO-051': DIFFERS,
  'CO-052': DIFFERS,
  'CO-058': DIFFERS,
};

const timed = cases.filter(({ outcome }) => outcome === 'times');
const expectedOf = (it: CronCase): number[] => (it.expected ?? []).map((text) => Date.parse(text));

function answersTo({ expr, tz, from, expected = [] }: CronCase): number[] {
  const cron = parseCron(expr, tz);
  const answers: number[] = [];
  for (let after = Date.parse(from); answers.length < expected.length; answers.push(after)) {
    after = cron.next(after);
  }
  return answers;
}

function holds(it: CronCase): boolean {
  try {
    return JSON.stringify(answersTo(it)) === JSON.stringify(expectedOf(it));
  } catch (error) {
    if (error instanceof InvalidInput) return false;
    throw error;
  }
}

const hostZone = process.env['TZ'];
afterEach(() => {
  if (hostZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = hostZone;
});

describe('the public failure cases of cron', () => {
  it('has them all', () => {
    expect(cases.map(({ outcome }) => outcome).filter((o) => o === 'times')).toHaveLength(70);
    expect(cases).toHaveLength(84);
  });

  it('excludes exactly those that do not hold', () => {
    expect(timed.filter((it) => !holds(it)).map(({ id }) => id)).toEqual(Object.keys(EXCLUDED));
  });

  it('excludes none that cron-parser gets right', () => {
    const differing = timed.filter((it) => it.libs_differ?.['cron-parser 5.10.6'] !== undefined);
    expect(differing.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(EXCLUDED)));
  });

  it.each(timed.filter(({ id }) => EXCLUDED[id] === undefined))('$id $expr in $tz', (it) => {
    for (const zone of it.env?.TZ ?? [undefined]) {
      if (zone !== undefined) process.env['TZ'] = zone;
      expect(answersTo(it)).toEqual(expectedOf(it));
    }
  });

  it.each(timed.filter(({ id }) => EXCLUDED[id] === undefined))('$id backwards', (it) => {
    const cron = parseCron(it.expr, it.tz);
    const expected = expectedOf(it);
    for (const [i, slot] of expected.entries()) {
      expect(cron.previous(slot)).toBe(slot);
      expect(cron.previous(slot + 1)).toBe(slot);
      if (i > 0) expect(cron.previous(slot - 1)).toBe(expected[i - 1]);
    }
  });

  it.each(cases.filter(({ outcome }) => outcome !== 'times'))('$id refuses "$expr" at save', (it) => {
    const schedule = { type: 'cron', expr: it.expr, timezone: it.tz, startAt: null, endAt: null } as const;
    const problems = problemsOf(() => createTask('t', definition({ schedule }), Date.parse(it.from)));
    expect(problems.map(({ field }) => field)).toEqual(expect.arrayContaining(['cron_expr']));
    expect(problems.every(({ field, fix }) => field === 'cron_expr' && fix !== '')).toBe(true);
    if (it.outcome === 'never') expect(problems[0]?.problem).toContain('never_fires');
  });
});
