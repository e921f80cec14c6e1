import { expect, it } from 'vitest';
import { auditedState } from '../../../../src/adapters/sql/audited-state.js';
import { NO_CALENDARS } from '../../../../src/adapters/sql/stored-calendars.js';
import { buildTask } from '../../../support/builders.js';

const stateIn = (json: string) => auditedState(json, NO_CALENDARS);

it('a cron schedule that an older version audited has the rules that it had then', () => {
  const task = buildTask();
  const { schedule } = task;
  if (schedule.type !== 'cron') throw new Error('the task has another schedule');
  const { dialect, dstGap, dstOverlap, jitterSec, ...older } = schedule;
  expect([dialect, dstGap, dstOverlap, jitterSec]).toEqual(['unix', 'fire_after', 'first', 0]);
  expect(stateIn(JSON.stringify({ ...task, schedule: older }))).toMatchObject({ schedule });
  const edited = { ...schedule, dstOverlap: 'both' };
  expect(stateIn(JSON.stringify({ ...task, schedule: edited }))).toMatchObject({ schedule: edited });
  expect(stateIn(JSON.stringify({ ...task, schedule: undefined }))).toBe('unreadable');
  const former = [{ schedule: older, until: task.createdAt }];
  expect(stateIn(JSON.stringify({ ...task, former }))).toMatchObject({
    former: [{ schedule, until: task.createdAt }],
  });
  for (const odd of [{}, [null], [{ schedule }], [{ schedule: { ...schedule, jitterSec: -1 }, until: 1 }]])
    expect(stateIn(JSON.stringify({ ...task, former: odd }))).toBe('unreadable');
});
