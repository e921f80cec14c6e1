import { expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { BASE } from '../support/builders.js';
import { type Plan, type Timing } from './plan.js';
import { simulate } from './simulation.js';

const SECOND = 1000;
const every = (everySec: number): Timing => ({ type: 'interval', everySec });
const policy = {
  ...DEFAULT_POLICY,
  misfirePolicy: 'catch_up',
  misfireLimit: 1000,
  isIdempotent: true,
} as const;

/** Edits while nothing is decided, which random plans hardly ever bring together. */
const plan: Plan = {
  seed: 'edits',
  machines: ['c1', 'w1'],
  ms: 240 * SECOND,
  steps: [
    { at: 5 * SECOND, do: 'create', task: 't1', spec: { timing: every(30), policy, ack: 'response' } },
    { at: 70 * SECOND, do: 'cut', node: 'c1', side: 'redis', ms: 110 * SECOND },
    { at: 130 * SECOND, do: 'edit', task: 't1', spec: { timing: every(7), policy, ack: 'response' } },
    { at: 160 * SECOND, do: 'edit', task: 't1', spec: { timing: every(20), policy, ack: 'response' } },
  ],
};

it('A schedule that is edited twice in an outage decides each part of the time', async () => {
  const { violations, events } = await simulate(plan);
  expect(violations.map(({ text }) => text)).toEqual([]);
  const decided = events.map(({ slot }) => Math.round((slot - BASE) / SECOND));
  const inOutage = decided.filter((second) => second > 70 && second < 180);
  expect(inOutage.toSorted((a, b) => a - b)).toEqual([95, 125, 131, 138, 145, 152, 159, 165]);
});
