import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_CRON } from '../../../../src/domain/cron.js';
import { W3cTracer } from '../../../../src/adapters/telemetry/w3c-tracer.js';
import { decideBatch } from '../../../../src/application/coordinator/decide-batch.js';
import { fireAt } from '../../../../src/domain/jitter.js';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { FireTimes } from '../../../../src/domain/schedule.js';
import { type BrokenTask, type Task } from '../../../../src/domain/task.js';
import { TaskSlots } from '../../../../src/domain/timetable.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { buildUse } from '../../../support/calendars.js';
import { ClockIds } from '../../../support/clock-ids.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { every } from '../../../support/node-harness.js';
import { cronSchedule } from '../../domain/definition.js';

const MINUTE = 60_000;

describe('decideBatch', () => {
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock(BASE);
  });

  const decide = (
    due: readonly (Task | BrokenTask)[],
    now: number,
    holdUntil: number | null = null,
    hasTime = () => true,
  ) =>
    decideBatch(due, {
      hasTime,
      now,
      node: 'coordinator-1',
      queueEpoch: 'epoch-1',
      ids: new ClockIds(clock),
      tracer: new W3cTracer(),
      backlog: { holdUntil: () => holdUntil },
    });

  it('fires a slot within its window as an event of its own', () => {
    const task = every(60, { policy: { ...DEFAULT_POLICY, windowSec: 7 } });
    const { fired, skipped, advances, errors } = decide([task], BASE + MINUTE + 40);
    expect(fired).toHaveLength(1);
    expect(fired[0]?.task).toBe(task);
    const event = fired[0]?.event;
    expect(event).toMatchObject({
      taskId: task.id,
      kind: 'schedule',
      slot: BASE + MINUTE,
      windowStart: BASE + MINUTE,
      windowEnd: BASE + MINUTE + 7000,
      firedAt: BASE + MINUTE + 40,
      node: 'coordinator-1',
      isMisfire: false,
      rangeEnd: null,
      queueEpoch: 'epoch-1',
    });
    expect(event?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect([skipped, errors]).toEqual([[], []]);
    expect(advances).toEqual([{ taskId: task.id, nextSlot: BASE + 2 * MINUTE, holdUntil: null }]);
  });

  it('holds a slot back until its jittered moment, from which its window counts', () => {
    const base = every(60);
    const schedule = { ...base.schedule, jitterSec: 40 } as Task['schedule'];
    const task = { ...base, id: 'jittered', schedule };
    const { fired, advances } = decide([task], BASE + MINUTE);
    const at = fireAt(new TaskSlots(task, new FireTimes()), task.id, BASE + MINUTE);
    expect(at).toBeGreaterThan(BASE + MINUTE + 5000);
    expect([fired, advances]).toEqual([[], [{ taskId: task.id, nextSlot: BASE + MINUTE, holdUntil: at }]]);
    const event = decide([task], at + 4000).fired[0]?.event;
    expect(event).toMatchObject({
      slot: BASE + MINUTE,
      isMisfire: false,
      windowStart: at,
      windowEnd: at + 5000,
    });
  });

  it('leaves the rest due when time is up, and always decides the first', () => {
    const due = [every(60), every(60), every(60)];
    let asked = 0;
    const { fired, advances, errors } = decide(due, BASE + MINUTE, null, () => (asked += 1) < 2);
    expect(fired.map(({ task }) => task)).toEqual(due.slice(0, 2));
    expect(advances).toHaveLength(2);
    expect(errors).toEqual([]);
    expect(decide(due, BASE + MINUTE, null, () => false).fired).toHaveLength(1);
  });

  it('gives every event an id and a trace of its own', () => {
    const { fired } = decide([every(60), every(60), every(60)], BASE + MINUTE);
    expect(new Set(fired.map(({ event }) => event.id)).size).toBe(3);
    expect(new Set(fired.map(({ event }) => event.traceparent.split('-')[1])).size).toBe(3);
  });

  it('ends a range of missed slots with one event and its verdict', () => {
    const { fired, skipped } = decide([every(60)], BASE + 10 * MINUTE + 30_000);
    expect(fired.map(({ event }) => [event.slot, event.isMisfire])).toEqual([[BASE + 10 * MINUTE, true]]);
    expect(skipped).toHaveLength(1);
    expect(skipped[0]?.event).toMatchObject({
      slot: BASE + MINUTE,
      rangeEnd: BASE + 9 * MINUTE,
      isMisfire: true,
    });
    expect(skipped[0]?.report).toMatchObject({
      executionId: skipped[0]?.event.id,
      generation: 0,
      status: 'skipped',
      reason: 'misfire',
      finishedAt: BASE + 10 * MINUTE + 30_000,
      entry: {
        kind: 'finished',
        node: 'coordinator-1',
        detail: { from: BASE + MINUTE, to: BASE + 9 * MINUTE, slots: 9, policy: 'fire_once' },
      },
    });
  });

  it('ends a single missed slot without a range', () => {
    const task = every(60, { policy: { ...DEFAULT_POLICY, misfirePolicy: 'skip' } });
    const { fired, skipped } = decide([task], BASE + MINUTE + 30_000);
    expect(fired).toEqual([]);
    expect(skipped.map(({ event }) => [event.slot, event.rangeEnd])).toEqual([[BASE + MINUTE, null]]);
  });

  it('ends slots that the calendar excludes with one event and its verdict, and none of them is a misfire', () => {
    const schedule = cronSchedule('* * * * *', 'UTC', {
      calendar: buildUse({ holidays: [{ date: '2026-01-05', name: 'Plant closed' }] }),
    });
    const task = buildTask({ schedule, nextTriggerTime: BASE + MINUTE });
    const { fired, skipped, advances } = decide([task], BASE + 10 * MINUTE + 30_000);
    expect(fired).toEqual([]);
    expect(skipped).toMatchObject([
      {
        event: { slot: BASE + MINUTE, rangeEnd: BASE + 10 * MINUTE, isMisfire: false },
        report: {
          status: 'skipped',
          reason: 'calendar',
          message: '2026-01-05 (Plant closed) is left out by version 1 of calendar works, rule workdays',
          entry: {
            detail: {
              from: BASE + MINUTE,
              to: BASE + 10 * MINUTE,
              slots: 10,
              calendar: 'works',
              excluded_date: '2026-01-05',
            },
          },
        },
      },
    ]);
    expect(advances).toEqual([{ taskId: task.id, nextSlot: BASE + 11 * MINUTE, holdUntil: null }]);
  });

  it('has no next slot after the last one', () => {
    const schedule = { type: 'once', runAt: BASE + MINUTE } as const;
    const task = buildTask({ schedule, nextTriggerTime: BASE + MINUTE });
    expect(decide([task], BASE + MINUTE).advances).toEqual([
      { taskId: task.id, nextSlot: null, holdUntil: null },
    ]);
  });

  it('keeps the cursor of a task whose late runs need room', () => {
    const task = every(60);
    expect(decide([task], BASE + MINUTE, BASE + MINUTE + 150)).toEqual({
      fired: [],
      skipped: [],
      advances: [{ taskId: task.id, nextSlot: BASE + MINUTE, holdUntil: BASE + MINUTE + 150 }],
      errors: [],
    });
  });

  it('leaves a task that it cannot decide alone for a while, and decides all others', () => {
    const broken: BrokenTask = {
      id: 'broken',
      name: 'broken',
      group: 'default',
      isEnabled: true,
      version: 1,
      error: 'executor_json holds "?"',
    };
    const throwing = every(60, {
      id: 'throwing',
      schedule: {
        type: 'cron',
        expr: 'never',
        timezone: 'Mars/Phobos',
        ...DEFAULT_CRON,
        startAt: null,
        endAt: null,
        jitterSec: 0,
      },
    });
    const empty = every(60, { id: 'empty', nextTriggerTime: null });
    const good = every(60, { id: 'good' });
    const { fired, skipped, advances, errors } = decide([broken, throwing, empty, good], BASE + MINUTE);
    expect(fired.map(({ task }) => task.id)).toEqual(['good']);
    expect(skipped).toEqual([]);
    expect(advances.map(({ taskId }) => taskId)).toEqual(['good']);
    expect(errors.map(({ taskId }) => taskId)).toEqual(['broken', 'throwing', 'empty']);
    expect(errors.map(({ holdUntil }) => holdUntil)).toEqual(Array(3).fill(BASE + 2 * MINUTE));
    expect(errors[0]?.error).toBe('executor_json holds "?"');
    expect(errors[1]?.error).toContain('Mars/Phobos');
  });
});
