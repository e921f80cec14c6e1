import { joinsUntil } from '../../domain/trigger.js';
import { type QueueMessage } from '../../ports/queue.js';
import { type Run } from './in-process-runs.js';
import { type InProcessState } from './in-process-state.js';

/** `stopped`: it was asked to stop, so it has no turn; `never`: there is no room, and it may not wait for any. */
type Turn =
  { readonly is: 'now' | 'stopped' | 'never' } | { readonly is: 'waiting'; readonly isNew: boolean };

/**
 * Whether a run that is being claimed may run now. If there is no room it joins the line of its task, or must not; unless it waits it
 * stands in no line afterwards. Its own mark is removed first.
 */
export function claimTurn(state: InProcessState, run: Run, message: QueueMessage, maxWaiting: number): Turn {
  const { runs, lines, stops, clock } = state;
  const { event, task } = message;
  const { maxConcurrent, overlapPolicy } = task.policy;
  const isMarked = runs.marked(task.id).includes(event.id);
  if (!isMarked) run.since = clock.now();
  runs.unmark(task.id, event.id);
  const waiter = { id: event.id, taskId: task.id, kind: event.kind, slot: event.slot };
  const isNew = !lines.has(waiter);
  const isStopped = stops.of(event.id) !== null;
  // A run that was handed over, or whose target may still be at work, has its place already.
  const hasRoom =
    isMarked ||
    (run.receiptUntil ?? 0) > clock.now() ||
    runs.countMarks(task.id) + lines.countAhead(waiter) < maxConcurrent;
  const mayWait = () => {
    if (overlapPolicy === 'replace') return keepNewest(state, run.id, task.id, maxConcurrent);
    if (!isNew) return true;
    const isFull = lines.of(task.id).length >= maxWaiting;
    if (overlapPolicy === 'queue') return run.worker !== null || !isFull;
    // A place was free when it was due: then nothing but what ax made late is in its way.
    const wasFree = () => runs.countMarksBefore(task.id, event.windowStart) < maxConcurrent;
    return !isFull && clock.now() <= joinsUntil(event) && wasFree();
  };
  if (!isStopped && !hasRoom && mayWait()) {
    state.lane(run.pool).remove(run.handle);
    Object.assign(run, { state: 'waiting', message });
    lines.join(waiter);
    return { is: 'waiting', isNew };
  }
  lines.leave(waiter);
  if (isStopped) return { is: 'stopped' };
  return { is: hasRoom ? 'now' : 'never' };
}

/**
 * Of the runs of a task that run or wait, and the given one, keeps the newest `limit` by id, and asks the others to stop. Whether the
 * given one is kept.
 */
function keepNewest(state: InProcessState, id: string, taskId: string, limit: number): boolean {
  const { runs, lines, stops } = state;
  const waiting = new Map(lines.of(taskId).map((waiter) => [waiter.id, waiter]));
  const others = [...runs.marked(taskId), ...waiting.keys()].filter(
    (other) => other !== id && stops.of(other) === null,
  );
  const newestFirst = [id, ...others].sort((a, b) => (a < b ? 1 : -1));
  for (const old of newestFirst.slice(limit)) {
    if (old === id) continue;
    stops.ask(old, 'replaced');
    const waiter = waiting.get(old);
    if (waiter === undefined) continue;
    lines.leave(waiter);
    const run = runs.find(waiter);
    if (run !== undefined) state.handOut(run);
  }
  return newestFirst.indexOf(id) < limit;
}
