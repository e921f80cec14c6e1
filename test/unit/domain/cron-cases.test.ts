import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_CRON } from '../../../src/domain/cron.js';
import { createTask } from '../../../src/domain/task.js';
import { cronOf, slotsAfter } from './cron-of.js';
import { cronSchedule, definition } from './definition.js';
import { problemsOf } from './problems-of.js';

interface CronCase {
  readonly id: string;
  readonly outcome: 'times' | 'invalid' | 'never';
  readonly expr: string;
  readonly tz: string;
  readonly from: string;
  readonly expected: readonly string[];
  readonly errorKind?: string;
  readonly env?: { readonly TZ: readonly string[] };
}

const { cron: cases } = JSON.parse(
  readFileSync(new URL('../../cases/cases.json', import.meta.url), 'utf8'),
) as { cron: readonly CronCase[] };

const timed = cases.filter(({ outcome }) => outcome === 'times');
const refused = cases.filter(({ outcome }) => outcome !== 'times');
const expectedOf = (it: CronCase): number[] => it.expected.map((text) => Date.parse(text));

const hostZone = process.env['TZ'];
afterEach(() => {
  if (hostZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = hostZone;
});

describe('the public failure cases of cron', () => {
  it('has them all', () => {
    expect(timed).toHaveLength(70);
    expect(cases).toHaveLength(84);
  });

  it.each(timed)('$id $expr in $tz', (it) => {
    for (const zone of it.env?.TZ ?? [undefined]) {
      if (zone !== undefined) process.env['TZ'] = zone;
      const cron = cronOf(it.expr, it.tz);
      expect(slotsAfter(cron, Date.parse(it.from), it.expected.length)).toEqual(expectedOf(it));
    }
  });

  it.each(timed)('$id backwards', (it) => {
    const cron = cronOf(it.expr, it.tz);
    const expected = expectedOf(it);
    for (const [i, slot] of expected.entries()) {
      expect(cron.previous(slot)).toBe(slot);
      expect(cron.previous(slot + 1)).toBe(slot);
      if (i > 0) expect(cron.previous(slot - 1)).toBe(expected[i - 1]);
    }
  });

  it.each(refused)('$id refuses "$expr" at save', ({ expr, tz, from, errorKind }) => {
    const schedule = cronSchedule(expr, tz, DEFAULT_CRON);
    const problems = problemsOf(() => createTask('t', definition({ schedule }), Date.parse(from)));
    expect(problems.every(({ field, fix }) => field === 'cron_expr' && fix !== '')).toBe(true);
    expect(problems[0]).toMatchObject({ kind: errorKind });
    const { token = '', position = 0 } = problems[0] ?? {};
    expect(expr.startsWith(token, position - 1)).toBe(true);
  });
});
