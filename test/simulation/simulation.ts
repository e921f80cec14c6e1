import { type Policy } from '../../src/domain/policy.js';
import { type Breakage } from './breakage.js';
import { checkRuns } from './check-runs.js';
import { checkSlots, type Violation } from './check-slots.js';
import { leftIn } from './broker-left.js';
import { Cluster } from './cluster.js';
import { Director } from './director.js';
import { type Fact } from './journal.js';
import { type Plan } from './plan.js';
import { type StoredEvent } from './watched-store.js';

const MINUTE = 60_000;
/** After the last fault: until every backlog is worked off. */
const CATCH_UP_MS = 3 * MINUTE;
/** After the last slot, at most: until everything has ended; a lost event is looked for twice, the second time after five minutes. */
const RUN_OUT_MS = 15 * MINUTE;

export interface Result {
  readonly violations: readonly Violation[];
  readonly facts: readonly Fact[];
  readonly events: readonly StoredEvent[];
}

/** Plays a plan and judges what happened. The same plan gives the same result, to the last fact. */
export async function simulate(plan: Plan, breakage: Breakage | null = null): Promise<Result> {
  await new Promise((resolve) => setImmediate(resolve)); // A simulation leaves its process no time for anything else.
  const cluster = new Cluster(plan, breakage);
  const director = new Director(cluster);
  const { time, store, journal, callees } = cluster;
  await director.play(plan);
  director.heal();
  await time.pass(CATCH_UP_MS);
  await Promise.all([director.disableAll(), time.pass(5000)]);
  for (let left = RUN_OUT_MS; left > 0 && !store.isQuiet; left -= MINUTE) await time.pass(MINUTE);
  const stopped = Promise.all([...cluster.machines.values()].map((machine) => machine.stop()));
  await time.pass(MINUTE);
  await stopped;
  const events = store.events();
  const policies = new Map<string, Policy[]>();
  for (const step of plan.steps)
    if ('spec' in step) policies.set(step.task, [...(policies.get(step.task) ?? []), step.spec.policy]);
  const policiesOf = (taskId: string) => policies.get(taskId) ?? [];
  const deleted = new Set(
    store.audit.flatMap(({ action, subject }) => (action === 'task.delete' ? [subject] : [])),
  );
  const lastLoss = journal.facts.findLastIndex(({ kind }) => kind === 'loss');
  const finished = new Set(
    journal.facts.slice(lastLoss + 1).flatMap((fact) => (fact.kind === 'finish' ? [fact.executionId] : [])),
  );
  const left = {
    messages: await cluster.broker.queue.depth(),
    reports: (await cluster.broker.results.backlog()).depth,
    calls: cluster.openCalls.size,
    timers: time.pending - callees.sending,
    ...leftIn(cluster.broker, {
      ...{ tokens: callees.tokens, finished },
      hasLostClosing: (id) => cluster.hasLostClosing(id),
    }),
  };
  const violations = [
    ...checkSlots(store.audit, events),
    ...checkRuns(events, journal, {
      left,
      promised: director.promised,
      revived: store.revived,
      cancelled: director.cancelled,
      isIdempotent: (taskId) => policiesOf(taskId).some(({ isIdempotent }) => isIdempotent),
      wasDeleted: (taskId) => deleted.has(taskId),
      leastAttempts: (taskId) => 1 + Math.min(...policiesOf(taskId).map(({ retryCount }) => retryCount)),
    }),
  ];
  return { violations: violations.sort((a, b) => a.at - b.at), facts: journal.facts, events };
}
