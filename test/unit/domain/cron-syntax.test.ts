import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCron } from './any-cron.js';
import { cronOf, problemsIn, slotsAfter } from './cron-of.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 0, 5);

describe('cron expressions that are accepted', () => {
  it.each([
    [' \t0  9\t* * * ', '0 9 * * *'],
    ['@daily', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
    ['@weekly', '0 0 * * 7'],
    ['@yearly', '0 0 1 1 *'],
    ['0 9 * * mon-FRI', '0 9 * * 1-5'],
    ['0 0 1 Jan,dec *', '0 0 1 1,12 *'],
    ['0 0 * * SUN', '0 0 * * 0'],
    ['0 0 * * FRIL', '0 0 * * 5L'],
    ['0 0 * * FRI#3', '0 0 * * 5#3'],
    ['0 0 ? * ?', '0 0 * * *'],
    ['5/20 * * * *', '5,25,45 * * * *'],
    ['* * * * * *', '@secondly'],
  ])('%j means %j', (expr, same) => {
    const [a, b] = [cronOf(expr, 'UTC'), cronOf(same, 'UTC')];
    const slots = slotsAfter(a, NOW, 20);
    expect(slots).toHaveLength(20);
    expect(slots).toEqual(slotsAfter(b, NOW, 20));
  });

  it('takes everything that is well formed', () => {
    fc.assert(
      fc.property(fc.oneof(anyCron(), anyCron({ hasSeconds: true })), ({ expr }) => {
        expect(problemsIn(expr, 'UTC')).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses or fires, whatever the text', () => {
    const token = fc.oneof(
      fc.constantFrom(
        '*',
        '?',
        'L',
        'H',
        'W',
        '#',
        '/',
        '-',
        ',',
        'MON',
        'JAN',
        '0',
        '5',
        '31',
        '60',
        ' ',
        '@',
        '\n',
      ),
      fc.string({ maxLength: 3 }),
    );
    const text = fc.oneof(
      fc.array(token, { maxLength: 12 }).map((t) => t.join('')),
      fc.array(token, { minLength: 5, maxLength: 6 }).map((t) => t.join(' ')),
    );
    fc.assert(
      fc.property(text, (expr) => {
        const problems = problemsIn(expr, 'UTC');
        if (problems.length === 0) expect(cronOf(expr, 'UTC').next(NOW)).toBeGreaterThan(NOW);
        else expect(problemsOf(() => cronOf(expr, 'UTC'))).toEqual(problems);
      }),
      { numRuns: 1000 },
    );
  });
});
