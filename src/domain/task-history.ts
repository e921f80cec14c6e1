import { type Policy } from './policy.js';
import { isSameSchedule } from './schedule.js';
import { type Task } from './task.js';

/** What of a task decides which slots are expected, and how long its runs may take. */
export type TaskState = Pick<
  Task,
  'schedule' | 'former' | 'policy' | 'isEnabled' | 'nextTriggerTime' | 'version' | 'createdAt' | 'updatedAt'
>;

/** `absent`: there was no such task; `unreadable`: there was one, and what it said cannot be told. */
export type KnownState = TaskState | 'absent' | 'unreadable';

/** One audited change of a task. Its `before` was read under the lock that the tick takes, so its cursor is exact. */
export interface TaskChange {
  /** Epoch ms. */
  readonly at: number;
  readonly before: KnownState;
  readonly after: KnownState;
}

/** A time in which one definition was in force, or in which that cannot be told (`unreadable`). */
export interface Era {
  /** Epoch ms; -Infinity and Infinity where the time is open. `until` is exclusive. */
  readonly since: number;
  readonly until: number;
  readonly state: KnownState;
  /** The cursor at its begin; undefined when only the definition is known. */
  readonly firstSlot: number | null | undefined;
  /** The cursor at its end, or now. */
  readonly undecidedSlot: number | null;
  /** Why it cannot be told; empty when it can. */
  readonly reason: string;
}

/** Whether an era's definition is known and enabled. */
export const isScheduling = (era: Era | undefined): era is Era & { readonly state: TaskState } =>
  era !== undefined && isReadable(era.state) && era.state.isEnabled;

const isReadable = (state: KnownState): state is TaskState => typeof state !== 'string';

/**
 * A task's definitions over time, in order and without holes, from its audited changes (oldest first) and what it is now. Where two
 * neighbours do not fit together, somebody changed the task outside ax, and nobody knows when.
 */
export function erasOf(changes: readonly TaskChange[], current: KnownState): Era[] {
  const eras = beforeAll(changes[0]?.before ?? current, beginOf(changes[0]));
  for (const [i, change] of changes.entries()) {
    const next = changes[i + 1];
    eras.push(eraOf(change, next?.before ?? current, beginOf(next)));
  }
  return eras;
}

const beginOf = (change: TaskChange | undefined): number =>
  change === undefined ? Infinity : isReadable(change.after) ? change.after.updatedAt : change.at;

/** What was before the first known change: the state has its own word for since when it is so. */
function beforeAll(state: KnownState, until: number): Era[] {
  const none = { firstSlot: null, undecidedSlot: null, reason: '' };
  if (state === 'absent') return [{ ...none, since: -Infinity, until, state }];
  if (state === 'unreadable') return [unknown(-Infinity, until, 'the task as stored cannot be read')];
  const { version, createdAt, updatedAt, nextTriggerTime } = state;
  const isNew = version === 1;
  const since = isNew ? createdAt : updatedAt;
  return [
    isNew
      ? { ...none, since: -Infinity, until: since, state: 'absent' }
      : unknown(-Infinity, since, 'earlier changes of the task are not in the audit log'),
    { ...none, since, until, state, firstSlot: undefined, undecidedSlot: nextTriggerTime },
  ];
}

function eraOf(change: TaskChange, later: KnownState, until: number): Era {
  const { after } = change;
  const since = beginOf(change);
  if (after === 'unreadable') return unknown(since, until, 'the audit log does not tell what the task was');
  if (!isSame(after, later))
    return unknown(since, until, 'the task was changed without an entry in the audit log');
  return {
    since,
    until,
    state: after,
    firstSlot: isReadable(after) ? after.nextTriggerTime : null,
    undecidedSlot: isReadable(later) ? later.nextTriggerTime : null,
    reason: '',
  };
}

const unknown = (since: number, until: number, reason: string): Era => ({
  since,
  until,
  state: 'unreadable',
  firstSlot: null,
  undecidedSlot: null,
  reason,
});

function isSame(a: KnownState, b: KnownState): boolean {
  if (!isReadable(a) || !isReadable(b)) return a === b;
  return a.version === b.version && a.isEnabled === b.isEnabled && isSameSchedule(a.schedule, b.schedule);
}

/** The policies in force at some time between two instants; null when that cannot be told for all of it. */
export function policiesBetween(eras: readonly Era[], from: number, to: number): Policy[] | null {
  const within = eras.filter(({ since, until }) => since <= to && until > from);
  if (within.some(({ state }) => state === 'unreadable')) return null;
  return within.flatMap(({ state }) => (isReadable(state) ? [state.policy] : []));
}
