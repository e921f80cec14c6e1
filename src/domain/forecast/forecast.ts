import { cronKey } from '../cron.js';
import { FireTimes, type Schedule } from '../schedule.js';
import { type Beats, MINUTE_MS, startsOf } from './beats.js';
import { type CollisionMinute, StartingTasks } from './collisions.js';
import { addRuns, Load, type MinuteRange } from './load.js';
import { canShift } from './shift-schedule.js';
import { suggest, type Suggestion } from './suggest.js';

/** A task as the forecast sees it. */
export interface ForecastTask {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly target: string;
  readonly schedule: Schedule;
  readonly maxConcurrent: number;
  /** Of its runs: the p95 of past ones, or what is assumed without. */
  readonly durationMs: number;
  readonly isAssumed: boolean;
}

export interface Collision {
  /** Epoch ms of the minute. */
  readonly at: number;
  /** How many minutes of the range have the same tasks. */
  readonly times: number;
  readonly starts: number;
  readonly running: number;
  /** How many tasks start in it, and the longest of them. */
  readonly taskCount: number;
  readonly tasks: readonly ForecastTask[];
  readonly suggestions: readonly Suggestion[];
}

interface KeyedTask {
  readonly task: ForecastTask;
  /** Equal for equal schedules. */
  readonly key: string;
}

/** Groups and targets with a load of their own, those with the most tasks; the others share one. */
const MAX_KEYS = 50;
const OTHER_KEYS = '_other';
const MAX_COLLISIONS = 10;
const MAX_LISTED = 20;
const MAX_SUGGESTIONS = 5;
const MAX_TRIES = 20;
/** A run that began longer before the range is not looked for. */
const MAX_CARRY_MS = 86_400_000;

/**
 * What the schedules of some tasks come to in a range of whole minutes: see Load. The work is done in `compute`, in pieces between which
 * others may run; what can be read is complete after it.
 */
export class Forecast {
  readonly total: Load;
  readonly groups: ReadonlyMap<string, Load>;
  readonly targets: ReadonlyMap<string, Load>;
  readonly collisions: Collision[] = [];
  private readonly starting: StartingTasks;
  private last: { readonly key: string; readonly from: number; readonly beats: Beats } | null = null;

  constructor(
    readonly range: MinuteRange,
    readonly tasks: readonly ForecastTask[],
  ) {
    this.total = new Load(range);
    this.groups = loadsFor(tasks, ({ group }) => group, range);
    this.targets = loadsFor(tasks, ({ target }) => target, range);
    this.starting = new StartingTasks(range);
  }

  /** Yields the number of steps since the last time, at least once for each task. */
  *compute(): Generator<number> {
    const keyed: KeyedTask[] = this.tasks.map((task) => ({ task, key: keyOf(task) }));
    // Equal schedules side by side, so that each is computed once; the longest look back serves the others.
    keyed.sort((a, b) => (a.key === b.key ? b.task.durationMs - a.task.durationMs : a.key < b.key ? -1 : 1));
    for (const [number, { task, key }] of keyed.entries()) yield this.add(task, key, number);
    const worst = this.starting.worst(this.total, MAX_COLLISIONS);
    const planned = this.total.starts.slice();
    const moved = new Set<string>();
    for (const minute of worst) yield* this.collide(minute, keyed, planned, moved);
  }

  private add(task: ForecastTask, key: string, number: number): number {
    const beats = this.beatsFor(task, key);
    const loads = [
      this.total,
      this.groups.get(task.group) ?? this.groups.get(OTHER_KEYS),
      this.targets.get(task.target) ?? this.targets.get(OTHER_KEYS),
    ].filter((load) => load !== undefined);
    for (const load of loads) load.tasks++;
    this.starting.add(number, beats.firstAt);
    const shape = { durationMs: task.durationMs, maxAtOnce: task.maxConcurrent };
    return 1 + beats.firstAt.length + addRuns(beats, shape, this.range, loads);
  }

  /** Also the starts of runs that may reach into the range. */
  private beatsFor(task: ForecastTask, key: string): Beats {
    const { begin, minutes } = this.range;
    const from = begin - Math.ceil(Math.min(task.durationMs, MAX_CARRY_MS) / MINUTE_MS) * MINUTE_MS;
    if (this.last?.key !== key || this.last.from > from) {
      this.last = { key, from, beats: startsOf(task, from, begin + minutes * MINUTE_MS) };
    }
    return this.last.beats;
  }

  private *collide(
    { minute, times, tasks }: CollisionMinute,
    keyed: readonly KeyedTask[],
    planned: Uint32Array,
    moved: Set<string>,
  ) {
    const at = this.range.begin + minute * MINUTE_MS;
    const members: ForecastTask[] = yield* membersOf(keyed, at);
    const suggestions: Suggestion[] = [];
    // The longest stays: it would meet the others wherever it went.
    const movable = members.slice(1).filter(({ id, schedule }) => !moved.has(id) && canShift(schedule, at));
    for (const task of movable.slice(0, MAX_TRIES)) {
      if (suggestions.length === MAX_SUGGESTIONS) break;
      const { begin, minutes } = this.range;
      const beats = startsOf(task, begin, begin + minutes * MINUTE_MS);
      const suggestion = suggest(task, beats, minute, planned, this.range);
      yield beats.firstAt.length;
      if (suggestion === null) continue;
      suggestions.push(suggestion);
      moved.add(task.id);
    }
    this.collisions.push({
      at,
      times,
      starts: this.total.startsIn(minute),
      running: this.total.runningIn(minute),
      taskCount: tasks,
      tasks: members.slice(0, MAX_LISTED),
      suggestions,
    });
  }
}

/** The tasks that start in a minute, the longest first. */
function* membersOf(keyed: readonly KeyedTask[], at: number): Generator<number, ForecastTask[]> {
  const members: ForecastTask[] = [];
  const times = new FireTimes(false);
  let lastKey = '';
  let starts = false;
  for (const { task, key } of keyed) {
    if (key !== lastKey) {
      starts = startsIn(task, at, times);
      lastKey = key;
      yield 1;
    }
    if (starts) members.push(task);
  }
  return members.sort((a, b) => b.durationMs - a.durationMs || (a.id < b.id ? -1 : 1));
}

function startsIn(task: ForecastTask, at: number, times: FireTimes): boolean {
  const { schedule } = task;
  if (schedule.type !== 'once' && schedule.jitterSec > 0)
    return startsOf(task, at, at + MINUTE_MS).starts.length > 0;
  return times.nextFiring(schedule, at - 1, at + MINUTE_MS - 1) !== null;
}

/** Jitter moves the starts of each task in its own way. */
function keyOf({ id, schedule }: ForecastTask): string {
  if (schedule.type !== 'cron') return `${id} ${JSON.stringify(schedule)}`;
  const key = `${cronKey(schedule)}|${schedule.startAt}|${schedule.endAt}`;
  return schedule.jitterSec === 0 ? key : `${key}|${id}`;
}

/** A load for each of the keys that most tasks have; the last is shared by the others, if there are any. */
function loadsFor(
  tasks: readonly ForecastTask[],
  keyOf: (task: ForecastTask) => string,
  range: MinuteRange,
): Map<string, Load> {
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(keyOf(task), (counts.get(keyOf(task)) ?? 0) + 1);
  const names = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
  const own = names.slice(0, MAX_KEYS);
  return new Map(
    [...own, ...(names.length > MAX_KEYS ? [OTHER_KEYS] : [])].map((name) => [name, new Load(range)]),
  );
}
