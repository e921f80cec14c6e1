import { SETTLE_MS, TaskCheck } from '../../../src/domain/check-history.js';
import { Findings } from '../../../src/domain/findings.js';
import { fireAt } from '../../../src/domain/jitter.js';
import { decideDue } from '../../../src/domain/misfire.js';
import { type RecordedEvent } from '../../../src/domain/recorded-run.js';
import { FireTimes } from '../../../src/domain/schedule.js';
import { createTask, reviseTask, type Task, type TaskDefinition } from '../../../src/domain/task.js';
import { erasOf, type KnownState, type TaskChange } from '../../../src/domain/task-history.js';
import { TaskSlots } from '../../../src/domain/timetable.js';
import { triggerWindow } from '../../../src/domain/trigger.js';
import { BASE, nextUuid } from '../../support/builders.js';
import { definition } from './definition.js';

/** An event that fired a moment after its slot and succeeded. */
export function recorded(slot: number, overrides: Partial<RecordedEvent> = {}): RecordedEvent {
  const firedAt = overrides.firedAt ?? slot + 12;
  return {
    id: nextUuid(),
    taskId: 'task',
    kind: 'schedule',
    slot,
    windowStart: slot,
    windowEnd: slot + 5000,
    firedAt,
    isMisfire: false,
    rangeEnd: null,
    status: 'success',
    reason: null,
    attempt: 1,
    startedAt: firedAt + 3,
    steps: [
      { kind: 'claimed', generation: 1, node: 'worker-1', at: firedAt + 3, attempt: null },
      { kind: 'finished', generation: 1, node: 'worker-1', at: firedAt + 20, attempt: 1 },
    ],
    ...overrides,
  };
}

/** One task as ax keeps it, edited and decided by the domain's own rules, and everything on record of it. */
export class TaskScene {
  readonly changes: TaskChange[] = [];
  events: RecordedEvent[] = [];
  now = BASE;
  private task: Task | null = null;

  get current(): KnownState {
    return this.task ?? 'absent';
  }

  get cursor(): number | null {
    return this.task?.nextTriggerTime ?? null;
  }

  create(overrides: Partial<TaskDefinition> = {}): this {
    return this.change(createTask('task', definition(overrides), this.now));
  }

  edit(overrides: Partial<TaskDefinition>): this {
    if (this.task === null) return this;
    return this.change(reviseTask(this.task, { ...this.task, ...overrides }, this.now));
  }

  delete(): this {
    return this.change(null);
  }

  /** Changes the row and tells nobody. */
  tamper(overrides: Partial<Task>): this {
    if (this.task !== null) this.task = { ...this.task, ...overrides };
    return this;
  }

  /** Time passes and nothing decides. */
  sleepUntil(instant: number): this {
    this.now = Math.max(this.now, instant);
    return this;
  }

  /** Time passes and the tick decides what is due as soon as it may. */
  runUntil(instant: number): this {
    const times = new FireTimes();
    for (let due = this.cursor; due !== null && due <= instant;) {
      this.now = Math.max(this.now, due);
      due = this.decide(times);
    }
    return this.sleepUntil(instant);
  }

  /** What the checker finds in `[from, to]`, looking well after the last slot unless told otherwise. */
  check(
    range: { from?: number; to?: number; now?: number } = {},
  ): Findings & { slots: number; events: number } {
    const { from = BASE, to = this.now, now = this.now + 86_400_000 + SETTLE_MS } = range;
    const findings = new Findings();
    const check = new TaskCheck('task', erasOf(this.changes, this.current), { from, to, now }, findings);
    const ordered = this.events.toSorted((a, b) => a.slot - b.slot);
    const before = ordered.filter(({ slot, kind }) => kind === 'schedule' && slot < from).at(-1);
    if (before !== undefined) check.take(before);
    for (const event of ordered.filter(({ slot }) => slot >= from && slot <= to)) {
      if (event.kind === 'manual') {
        check.takeManual(event);
        continue;
      }
      while (!check.reach(event.slot));
      check.take(event);
    }
    while (!check.reach(Infinity));
    check.finish();
    return Object.assign(findings, { slots: check.slots, events: check.events });
  }

  private change(after: Task | null): this {
    this.changes.push({ at: this.now, before: this.task ?? 'absent', after: after ?? 'absent' });
    this.task = after;
    return this;
  }

  /** When to decide next, null if never. */
  private decide(times: FireTimes): number | null {
    const { task, cursor, now } = this;
    if (task === null || cursor === null) return null;
    const { policy } = task;
    const slots = new TaskSlots(task, times);
    const { fire, skipped, nextSlot, holdUntil } = decideDue({ taskId: 'task', slots, policy, cursor, now });
    const windowOf = (slot: number) => {
      const { start, end } = triggerWindow(fireAt(slots, 'task', slot), policy.windowSec);
      return { windowStart: start, windowEnd: end };
    };
    if (skipped !== null) {
      const rangeEnd = skipped.to === skipped.from ? null : skipped.to;
      const skip = {
        firedAt: now,
        isMisfire: skipped.reason === 'misfire',
        rangeEnd,
        status: 'skipped',
        reason: skipped.reason,
        startedAt: null,
        steps: [],
      } as const;
      this.events.push(recorded(skipped.from, { ...skip, ...windowOf(skipped.from) }));
    }
    if (fire !== null) {
      const { slot, isMisfire } = fire;
      this.events.push(recorded(slot, { firedAt: now, isMisfire, ...windowOf(slot) }));
    }
    this.task = { ...task, nextTriggerTime: nextSlot };
    return nextSlot === null ? null : (holdUntil ?? nextSlot);
  }
}
