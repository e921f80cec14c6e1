import {
  DEFAULT_POLICY,
  type MisfirePolicy,
  type OverlapPolicy,
  type Policy,
} from '../../src/domain/policy.js';
import { Chance } from './chance.js';

export const COORDINATORS = ['c1', 'c2', 'c3'] as const;
export const WORKERS = ['w1', 'w2', 'w3'] as const;
/** No clock is ever off by more, all steps and drift included. */
export const MAX_SKEW_MS = 1000;

export type Timing =
  | { readonly type: 'interval'; readonly everySec: number }
  /** Every hour at these minutes; a calendar leaves those of `[from, to)` out, if there is one. */
  | { readonly type: 'cron'; readonly minutes: readonly number[]; readonly leftOut: LeftOut | null }
  | { readonly type: 'once'; readonly inSec: number };

/** Minutes of every hour. */
export interface LeftOut {
  readonly from: number;
  readonly to: number;
}

export interface Spec {
  readonly timing: Timing;
  readonly policy: Policy;
  /** Whether its target answers at once, or takes a run over and sends a receipt. */
  readonly ack: 'response' | 'receipt';
}

export type Side = 'store' | 'redis';
/** Strikes at the next call of this name, instead of at once. */
export type Trap = { readonly method: string; readonly when: 'before' | 'within' | 'after' } | null;

/** What happens to the cluster from outside: work of its users, and faults. `at` and `ms` are milliseconds of true time. */
export type Step = { readonly at: number } & (
  | { readonly do: 'create' | 'edit'; readonly task: string; readonly spec: Spec }
  | { readonly do: 'toggle'; readonly task: string; readonly isEnabled: boolean }
  | { readonly do: 'delete' | 'run'; readonly task: string }
  /** Of the executions that have not ended, the one at this place between the oldest, 0, and the newest, 1. */
  | { readonly do: 'cancel'; readonly place: number }
  | { readonly do: 'crash' | 'pause'; readonly node: string; readonly ms: number; readonly trap: Trap }
  /** What the queue does within `ms` is lost then. */
  | { readonly do: 'fail_over'; readonly node: string; readonly ms: number; readonly trap: Trap }
  | { readonly do: 'restart'; readonly node: string; readonly ms: number }
  | { readonly do: 'cut' | 'mute'; readonly node: string; readonly ms: number; readonly side: Side }
  | {
      readonly do: 'slow';
      readonly node: string;
      readonly ms: number;
      readonly side: Side;
      readonly mostMs: number;
    }
  | { readonly do: 'step_clock'; readonly node: string; readonly byMs: number }
  | { readonly do: 'lose_queue' | 'lose_lock' }
  | {
      readonly do: 'fail_commits';
      readonly ms: number;
      readonly share: number;
      readonly when: 'before' | 'after';
    }
  | { readonly do: 'copy_messages'; readonly ms: number }
  | { readonly do: 'spoil_callees'; readonly ms: number; readonly how: 'fail' | 'slow' }
);

export interface Plan {
  readonly seed: string;
  /** Names of the machines; faults of others do nothing. */
  readonly machines: readonly string[];
  /** Length of the time with faults; afterwards everything settles. */
  readonly ms: number;
  readonly steps: readonly Step[];
}

const SECOND = 1000;
/** Most slots lie on multiples of this: a change right after one meets clocks that have not seen it yet. */
const MEETING = 5 * SECOND;
const FAULTS_PER_HOUR = 52;
const CANCELS_PER_HOUR = 30;
const INTERVALS = [5, 5, 10, 11, 30, 47, 60, 90, 180, 600];
const CRONS: readonly (readonly [minutes: readonly number[], leftOut: LeftOut | null])[] = [
  [[0, 15, 30, 45], null],
  [[7], null],
  [[0, 10, 20, 30, 40, 50], { from: 20, to: 40 }],
  [[3, 33], null],
  [[1, 4, 9, 16, 25, 36, 49], { from: 9, to: 26 }],
];
/** Of all calendars that tasks use. */
export const LEFT_OUT: readonly LeftOut[] = CRONS.flatMap(([, leftOut]) => leftOut ?? []);
const STORE_CALLS = ['decideDue', 'apply', 'nextDueAt', 'unsettled'];
const QUEUE_CALLS = ['publish', 'cancel', 'acquire', 'epoch', 'states', 'acknowledge', 'depth'];
const WORKER_CALLS = ['take', 'claim', 'renew', 'report', 'finish', 'handBack', 'open', 'read', 'close'];

/** The same plan for the same seed and length. */
export function planOf(seed: string, hours: number): Plan {
  const chance = new Chance(seed);
  const ms = Math.round(hours * 3_600_000);
  const tasks = Array.from({ length: chance.int(3, 7) }, (_, i) => ({
    task: `t${i + 1}`,
    isIdempotent: chance.is(0.6),
  }));
  const created = tasks.map(({ task, isIdempotent }): Step => {
    return { at: chance.int(0, 3) * MEETING + 700, do: 'create', task, spec: specOf(chance, isIdempotent) };
  });
  const steps = [...created];
  const count = Math.max(2, Math.round(FAULTS_PER_HOUR * hours));
  for (let i = 0; i < count; i++) steps.push(faultAt(chance.int(15 * SECOND, ms), chance));
  for (let i = 0; i < Math.max(1, Math.round(CANCELS_PER_HOUR * hours)); i++)
    steps.push({ at: chance.int(15 * SECOND, ms), do: 'cancel', place: chance.pick([0, 1, chance.next()]) });
  for (const { task, isIdempotent } of tasks)
    steps.push(...changesOf(task, ms, chance, () => specOf(chance, isIdempotent)));
  const machines = [
    ...COORDINATORS.slice(0, chance.pick([2, 2, 3])),
    ...WORKERS.slice(0, chance.pick([2, 2, 3])),
  ];
  return { seed, machines, ms, steps: steps.sort((a, b) => a.at - b.at) };
}

function specOf(chance: Chance, isIdempotent: boolean): Spec {
  const policy: Policy = {
    ...DEFAULT_POLICY,
    isIdempotent,
    timeoutSec: chance.pick([5, 20, 60]),
    retryCount: isIdempotent ? chance.pick([0, 0, 2, 3]) : 0,
    retryIntervalSec: chance.pick([1, 5]),
    maxConcurrent: chance.pick([1, 1, 2, 3]),
    overlapPolicy: chance.pick<OverlapPolicy>(['skip', 'queue', 'queue', 'replace']),
    misfirePolicy: chance.pick<MisfirePolicy>(['fire_once', 'fire_once', 'skip', 'catch_up']),
    windowSec: chance.pick([2, 5, 5, 15]),
  };
  const ack = chance.pick(['response', 'response', 'receipt'] as const);
  const kind = chance.next();
  if (kind < 0.75) return { policy, ack, timing: { type: 'interval', everySec: chance.pick(INTERVALS) } };
  if (kind < 0.9) {
    const [minutes, leftOut] = chance.pick(CRONS);
    return { policy, ack, timing: { type: 'cron', minutes, leftOut } };
  }
  return { policy, ack, timing: { type: 'once', inSec: chance.int(20, 900) } };
}

/** Toggles, edits, deletions and runs by hand; idempotence stays what it was, since runs are judged by it. */
function changesOf(task: string, ms: number, chance: Chance, newSpec: () => Spec): Step[] {
  const steps: Step[] = [];
  for (let i = 0; i < Math.round((8 * ms) / 3_600_000) + 1; i++) {
    const someTime = chance.int(20 * SECOND, ms);
    const at = chance.is(0.4) ? someTime : someTime - (someTime % MEETING) + chance.int(20, 200);
    const kind = chance.next();
    if (kind < 0.4) {
      const pause = chance.pick([50, 50, 200, 1500, 40_000, 200_000]);
      steps.push(
        { at, do: 'toggle', task, isEnabled: false },
        { at: at + pause, do: 'toggle', task, isEnabled: true },
      );
    } else if (kind < 0.6) steps.push({ at, do: 'edit', task, spec: newSpec() });
    else if (kind < 0.7) {
      const pause = chance.pick([100, 30_000]);
      steps.push({ at, do: 'delete', task }, { at: at + pause, do: 'create', task, spec: newSpec() });
    } else steps.push({ at, do: 'run', task });
  }
  return steps;
}

function faultAt(at: number, chance: Chance): Step {
  const coordinator = chance.pick(COORDINATORS);
  const worker = chance.pick(WORKERS);
  const node = chance.is(0.5) ? coordinator : worker;
  const isCoordinator = node === coordinator;
  const methods = isCoordinator ? [...STORE_CALLS, ...QUEUE_CALLS] : WORKER_CALLS;
  const side: Side = isCoordinator && chance.is(0.5) ? 'store' : 'redis';
  const ms = chance.pick([200, 2000, 7000, 20_000, 40_000]);
  const when = chance.pick(['before', 'after'] as const);
  const trap = chance.is(0.5) ? trapAt(chance.pick(methods), when, chance) : null;
  const roll = chance.next();
  if (roll < 0.19) return { at, do: 'crash', node, ms: chance.int(200, 20_000), trap };
  if (roll < 0.38) return { at, do: 'pause', node, ms, trap };
  if (roll < 0.45) return { at, do: 'restart', node, ms: chance.int(200, 10_000) };
  if (roll < 0.55) return { at, do: chance.pick(['cut', 'mute'] as const), node, ms, side };
  if (roll < 0.63) return { at, do: 'slow', node, ms, side, mostMs: chance.pick([20, 300, 2000]) };
  if (roll < 0.66) return { at, do: 'fail_over', node, ms: chance.pick([100, 1000, 3000]), trap };
  if (roll < 0.72) return { at, do: 'step_clock', node, byMs: chance.int(-500, 500) };
  if (roll < 0.77) return { at, do: 'lose_queue' };
  if (roll < 0.83) return { at, do: 'lose_lock' };
  if (roll < 0.91) return { at, do: 'fail_commits', ms, share: chance.pick([0.3, 1]), when };
  if (roll < 0.96) return { at, do: 'copy_messages', ms };
  return { at, do: 'spoil_callees', ms, how: chance.pick(['fail', 'slow'] as const) };
}

/** A decision can also be met in the middle, while its transaction holds rows. */
function trapAt(method: string, when: 'before' | 'after', chance: Chance): Trap {
  return { method, when: method === 'decideDue' && chance.is(0.6) ? 'within' : when };
}
