import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Schedule } from '../../../src/domain/schedule.js';
import {
  type BrokenTask,
  createTask,
  isBroken,
  MAX_FORMER,
  reviseTask,
  type Task,
} from '../../../src/domain/task.js';
import { anyTask } from '../../support/any-task.js';
import { cronSchedule, definition, intervalSchedule } from './definition.js';
import { problemsOf } from './problems-of.js';

const CREATED = Date.UTC(2026, 0, 5, 12);
const HOUR_MS = 3_600_000;
const NOW = CREATED + 10.5 * HOUR_MS;

const taskWith = (overrides: Partial<Task> = {}): Task => ({
  ...createTask('t', definition(), CREATED),
  nextTriggerTime: CREATED + 11 * HOUR_MS,
  version: 4,
  ...overrides,
});

describe('a revised task', () => {
  it('keeps id and creation, takes everything else, and is one version on', () => {
    const given = definition({ name: 'Other', params: [1], isEnabled: true });
    expect(reviseTask(taskWith({ error: 'was unreadable' }), given, NOW)).toEqual({
      ...given,
      id: 't',
      former: [],
      nextTriggerTime: CREATED + 11 * HOUR_MS,
      version: 5,
      error: null,
      createdAt: CREATED,
      updatedAt: NOW,
    });
  });

  it('never takes id, version or cursor from what it is given', () => {
    const given = { ...taskWith(), id: 'other', version: 99, nextTriggerTime: 1, createdAt: 2 };
    expect(reviseTask(taskWith(), given, NOW)).toMatchObject({
      id: 't',
      version: 5,
      nextTriggerTime: CREATED + 11 * HOUR_MS,
      createdAt: CREATED,
    });
  });

  it('is refused with every problem', () => {
    const given = definition({ name: '', schedule: cronSchedule('', 'Mars/Phobos') });
    expect(problemsOf(() => reviseTask(taskWith(), given, NOW)).map(({ field }) => field)).toEqual([
      'name',
      'timezone',
      'cron_expr',
    ]);
  });
});

describe('its cursor', () => {
  const cursorOf = (task: Task, overrides: Parameters<typeof definition>[0]) =>
    reviseTask(task, definition(overrides), NOW).nextTriggerTime;

  it('stays with an unchanged schedule, also far ahead', () => {
    const ahead = taskWith({ nextTriggerTime: CREATED + 500 * HOUR_MS });
    expect(cursorOf(ahead, { name: 'Other' })).toBe(CREATED + 500 * HOUR_MS);
  });

  it('stays if only the order of the members of the schedule differs', () => {
    const ahead = taskWith({ nextTriggerTime: CREATED + 500 * HOUR_MS });
    const schedule = Object.fromEntries(Object.entries(ahead.schedule).reverse()) as unknown as Schedule;
    expect(cursorOf(ahead, { schedule })).toBe(CREATED + 500 * HOUR_MS);
  });

  it.each<[string, Schedule, number]>([
    ['expression', cronSchedule('15 * * * *'), CREATED + 11.25 * HOUR_MS],
    ['zone', cronSchedule('0 * * * *', 'Asia/Kolkata'), CREATED + 11.5 * HOUR_MS],
    ['start', cronSchedule('0 * * * *', 'UTC', { startAt: NOW + 5 * HOUR_MS }), CREATED + 16 * HOUR_MS],
    ['type', intervalSchedule(60, CREATED), NOW + 60_000],
    ['type', { type: 'once', runAt: NOW + 1 }, NOW + 1],
  ])('starts after now when the %s has changed', (_, schedule, slot) => {
    expect(cursorOf(taskWith(), { schedule })).toBe(slot);
  });

  it.each([NOW, NOW - 1, NOW - 5 * HOUR_MS])(
    'stays at %d if that is due and undecided, whatever has changed',
    (due) => {
      expect(cursorOf(taskWith({ nextTriggerTime: due }), { schedule: cronSchedule('15 * * * *') })).toBe(
        due,
      );
      expect(cursorOf(taskWith({ nextTriggerTime: due }), {})).toBe(due);
    },
  );

  it('is none while disabled', () => {
    expect(cursorOf(taskWith(), { isEnabled: false })).toBeNull();
    expect(cursorOf(taskWith({ nextTriggerTime: NOW - 1 }), { isEnabled: false })).toBeNull();
  });

  it('starts after now when enabled again: what was due meanwhile was not missed', () => {
    const disabled = taskWith({ isEnabled: false, nextTriggerTime: null });
    expect(cursorOf(disabled, {})).toBe(CREATED + 11 * HOUR_MS);
    const leftBehind = taskWith({ isEnabled: false, nextTriggerTime: CREATED + HOUR_MS });
    expect(cursorOf(leftBehind, {})).toBe(CREATED + 11 * HOUR_MS);
  });

  it('keeps the phase of an interval when enabled again', () => {
    const schedule = intervalSchedule(7200, CREATED);
    const disabled = taskWith({ schedule, isEnabled: false, nextTriggerTime: null });
    expect(cursorOf(disabled, { schedule })).toBe(CREATED + 12 * HOUR_MS);
  });

  it('is due, ahead, or none, for any task and any edit', () => {
    fc.assert(
      fc.property(anyTask(CREATED), anyTask(CREATED), (task, edit) => {
        const { nextTriggerTime } = reviseTask(task, edit, CREATED);
        if (!edit.isEnabled) expect(nextTriggerTime).toBeNull();
        else if (nextTriggerTime !== null && nextTriggerTime <= CREATED) {
          expect(nextTriggerTime).toBe(task.nextTriggerTime);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('what it still owes of schedules before', () => {
  const other = cronSchedule('15 * * * *');
  const due = taskWith({ nextTriggerTime: NOW - 1000 });
  const former = [{ schedule: due.schedule, until: NOW }];

  it('is the replaced one up to the edit while a slot of it is due and undecided, else nothing', () => {
    expect(reviseTask(due, definition({ schedule: other }), NOW).former).toEqual(former);
    expect(reviseTask(taskWith(), definition({ schedule: other }), NOW).former).toEqual([]);
    expect(reviseTask(due, definition({ name: 'Other' }), NOW).former).toEqual([]);
    expect(reviseTask(due, definition({ schedule: other, isEnabled: false }), NOW).former).toEqual([]);
  });

  it('grows with each edit while the slot waits, in order even where clocks differ, and goes once it is decided', () => {
    const edited = reviseTask(due, definition({ schedule: other }), NOW);
    const again = reviseTask(edited, definition({ schedule: cronSchedule('20 * * * *') }), NOW - 500);
    expect(again.former).toEqual([...former, { schedule: other, until: NOW }]);
    expect(reviseTask(again, { ...again, name: 'Other' }, NOW).former).toEqual(again.former);
    const decided = { ...again, nextTriggerTime: NOW + 1 };
    expect(reviseTask(decided, { ...decided, name: 'Other' }, NOW + 2).former).toEqual([]);
  });

  it('is bounded', () => {
    const edit = (task: Task, i: number) =>
      reviseTask(task, definition({ schedule: cronSchedule(`${i} * * * *`) }), NOW + i);
    let task = due;
    for (let i = 1; i <= MAX_FORMER; i++) task = edit(task, i);
    expect(() => edit(task, 30)).toThrow(/changed 20 times while its slot of .* waits/);
    expect(reviseTask(task, { ...task, isEnabled: false }, NOW).former).toEqual([]);
  });
});

describe('a schedule that has ended', () => {
  const ended: Schedule = { type: 'once', runAt: CREATED + HOUR_MS };
  const task = taskWith({ schedule: ended, nextTriggerTime: null });

  it('may stay while something else is edited', () => {
    expect(reviseTask(task, definition({ schedule: { ...ended }, name: 'Other' }), NOW)).toMatchObject({
      name: 'Other',
      nextTriggerTime: null,
    });
  });

  it('may not be given anew', () => {
    const given = definition({ schedule: { type: 'once', runAt: CREATED + 2 * HOUR_MS } });
    expect(problemsOf(() => reviseTask(task, given, NOW))).toMatchObject([{ field: 'run_at' }]);
  });
});

describe('a task that cannot be read any more', () => {
  const broken: BrokenTask = {
    id: 'b',
    name: 'Broken',
    group: 'default',
    isEnabled: true,
    version: 7,
    error: 'timezone: "Mars/Phobos" is not a known time zone',
  };

  it('is told from one that can', () => {
    expect([isBroken(broken), isBroken(taskWith())]).toEqual([true, false]);
  });

  it('is mended by a valid definition and starts after now', () => {
    expect(reviseTask(broken, definition(), NOW)).toMatchObject({
      id: 'b',
      version: 8,
      error: null,
      nextTriggerTime: CREATED + 11 * HOUR_MS,
      createdAt: NOW,
    });
  });

  it('is not mended by another that is bad', () => {
    const given = definition({ schedule: cronSchedule('0 9 * * *', 'Mars/Phobos') });
    expect(problemsOf(() => reviseTask(broken, given, NOW))).toMatchObject([{ field: 'timezone' }]);
  });
});
