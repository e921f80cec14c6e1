import { expect, it } from 'vitest';
import { auditedState } from '../../../../src/adapters/sql/audited-state.js';
import { buildTask } from '../../../support/builders.js';

it('a cron schedule that an older version audited has the rules that it had then', () => {
  const task = buildTask();
  const { schedule } = task;
  if (schedule.type !== 'cron') throw new Error('the task has another schedule');
  const { dialect, dstGap, dstOverlap, jitterSec, ...older } = schedule;
  expect([dialect, dstGap, dstOverlap, jitterSec]).toEqual(['unix', 'fire_after', 'first', 0]);
  expect(auditedState(JSON.stringify({ ...task, schedule: older }))).toMatchObject({ schedule });
  const edited = { ...schedule, dstOverlap: 'both' };
  expect(auditedState(JSON.stringify({ ...task, schedule: edited }))).toMatchObject({ schedule: edited });
  expect(auditedState(JSON.stringify({ ...task, schedule: undefined }))).toBe('unreadable');
  const former = [{ schedule: older, until: task.createdAt }];
  expect(auditedState(JSON.stringify({ ...task, former }))).toMatchObject({
    former: [{ schedule, until: task.createdAt }],
  });
  for (const odd of [{}, [null], [{ schedule }], [{ schedule: { ...schedule, jitterSec: -1 }, until: 1 }]])
    expect(auditedState(JSON.stringify({ ...task, former: odd }))).toBe('unreadable');
});
