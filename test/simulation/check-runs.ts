import { type Violation } from './check-slots.js';
import { type Fact, type Journal } from './journal.js';
import { type StoredEvent } from './watched-store.js';

type Call = Extract<Fact, { kind: 'call' }>;

export interface Ending {
  /** Messages, reports and calls that are left. */
  readonly left: Readonly<Record<string, number>>;
  readonly promised: readonly string[];
  /** Executions that somebody asked to cancel. */
  readonly cancelled: ReadonlySet<string>;
  readonly revived: readonly { readonly id: string; readonly text: string }[];
  readonly isIdempotent: (taskId: string) => boolean;
  readonly wasDeleted: (taskId: string) => boolean;
  /** The fewest attempts after which any policy that the task ever had gives up. */
  readonly leastAttempts: (taskId: string) => number;
}

/** Rules of runs: whatever fired was run as often as its task allows, ended, and its end tells the truth. */
export function checkRuns(events: readonly StoredEvent[], journal: Journal, ending: Ending): Violation[] {
  const calls = new Map<string, Call[]>();
  for (const call of journal.of('call'))
    calls.set(call.executionId, [...(calls.get(call.executionId) ?? []), call]);
  const receipts = journal
    .of('receipt')
    .filter(({ says, text }) => says === 'success' && text === 'accepted');
  const answers = journal.of('answer').filter(({ text }) => text === 'success');
  const successes = new Set([...answers, ...receipts].map(({ executionId }) => executionId));
  const losses = journal.of('loss').map(({ at }) => at);
  const known = new Map(events.map((event) => [event.id, event]));
  const strays = [...calls.values()].flatMap(([first]) =>
    first === undefined || known.has(first.executionId)
      ? []
      : [told('stray_run', first, 'was run and has no event')],
  );
  const broken = events.flatMap((event) => {
    const own = calls.get(event.id) ?? [];
    const problems = [
      ...endProblems(event, own, { hasSucceeded: successes.has(event.id), losses }, ending),
      ...(ending.isIdempotent(event.taskId) ? repeatProblems(own) : onceProblems(own)),
    ];
    return problems.map(([rule, text]) =>
      told(rule, { ...event, executionId: event.id, at: event.recordedAt }, text),
    );
  });
  const at = events.at(-1)?.recordedAt ?? 0;
  const none = { taskId: '', slot: 0, at };
  const lost = ending.promised
    .filter((id) => !known.has(id))
    .map((id) =>
      told('lost_manual', { ...none, executionId: id }, 'was promised to a caller and is not recorded'),
    );
  const revived = ending.revived.map(({ id, text }) => told('revived', { ...none, executionId: id }, text));
  const left = Object.entries(ending.left)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => told('left_over', { ...none, executionId: '' }, `${count} ${what} at the end`));
  return [
    ...strays,
    ...broken,
    ...lost,
    ...revived,
    ...left,
    ...afterwards(journal, losses),
    ...claimViolations(journal, known),
  ];
}

type Problem = readonly [rule: string, text: string];

/** Whether the end of an event says what happened. */
function endProblems(
  event: StoredEvent,
  calls: readonly Call[],
  { hasSucceeded, losses }: { readonly hasSucceeded: boolean; readonly losses: readonly number[] },
  ending: Ending,
): Problem[] {
  const { id, status, reason, taskId } = event;
  const isIdempotent = ending.isIdempotent(taskId);
  const end = `${status} ${reason ?? ''}`.trim();
  if (['pending', 'running', 'retrying'].includes(status)) return [['unfinished', `is ${status} at the end`]];
  if (reason === 'cancelled' && !ending.cancelled.has(id))
    return [['not_run', `ended as ${end}, and nobody asked for it`]];
  if (status === 'skipped') {
    const isAllowed = ['misfire', 'calendar', 'overlap', 'deleted', 'cancelled'].includes(reason ?? '');
    if (!isAllowed || (reason === 'deleted' && !ending.wasDeleted(taskId)))
      return [['not_run', `ended as ${end}`]];
    const [first] = calls;
    // A queue that lost data does not know that it was begun.
    if (first === undefined || losses.some((at) => at >= first.at)) return [];
    return [['stray_run', `ended as ${end} and was run`]];
  }
  // Recorded verdicts of runs that may have begun; whether they are just, the claims' own book says.
  if (reason === 'overlap' || reason === 'cancelled' || reason === 'replaced') return [];
  if (status === 'success') return hasSucceeded ? [] : [['untrue', 'is success, and no call succeeded']];
  if (reason === 'outcome_unknown' || reason === 'drained') {
    const isJust = !isIdempotent || (reason === 'outcome_unknown' && ending.wasDeleted(taskId));
    return isJust ? [] : [['not_run', `an idempotent run ended as ${end}`]];
  }
  if (calls.length < ending.leastAttempts(taskId))
    return [['not_run', `ended as ${end} after ${calls.length} calls`]];
  return [];
}

/** At most one call, whatever happens. */
function onceProblems([first, second]: readonly Call[]): Problem[] {
  if (first === undefined || second === undefined) return [];
  return [['twice', `not idempotent, and run by ${first.node} and again by ${second.node}`]];
}

/** Each claim makes each attempt once, and a further claim only comes after the earlier was lost, handed back or its queue emptied. */
function repeatProblems(calls: readonly Call[]): Problem[] {
  const seen = new Map<string, Call>();
  const problems: Problem[] = [];
  for (const call of calls) {
    const key = `${call.life}/${call.generation}/${call.attempt}`;
    if (call.generation === 0) problems.push(['unclaimed_run', `${call.node} runs it without a claim`]);
    else if (seen.has(key))
      problems.push(['twice', `attempt ${call.attempt} of generation ${call.generation} made twice`]);
    seen.set(key, call);
  }
  return problems;
}

/** Nothing of an execution begins after somebody was told that it has ended, and no call goes on when its claim has ended. */
function afterwards(journal: Journal, losses: readonly number[]): Violation[] {
  const ends = new Map<string, number>();
  const open = new Map<string, Call>();
  const violations: Violation[] = [];
  for (const fact of journal.facts) {
    if (fact.kind === 'told_end') ends.set(fact.executionId, fact.at);
    else if (fact.kind === 'answer') open.delete(`${fact.node} ${fact.executionId}`);
    else if (fact.kind === 'finish' || fact.kind === 'handBack' || fact.kind === 'abandon') {
      const call = open.get(`${fact.node} ${fact.executionId}`);
      if (call !== undefined)
        violations.push(
          told('runs_on', call, `${fact.node} ended its claim while attempt ${call.attempt} ran`),
        );
    } else if (fact.kind === 'call') {
      open.set(`${fact.node} ${fact.executionId}`, fact);
      const end = ends.get(fact.executionId);
      if (end !== undefined && !losses.some((at) => at >= end))
        violations.push(told('revived', fact, `begins attempt ${fact.attempt} after its end was told`));
    }
  }
  return violations;
}

const claimViolations = (journal: Journal, known: ReadonlyMap<string, StoredEvent>): Violation[] =>
  journal.of('violation').map(({ rule, executionId, text, at }) => {
    return {
      rule,
      executionId,
      taskId: known.get(executionId)?.taskId ?? '',
      at,
      text: `${executionId} ${text}`,
    };
  });

const told = (
  rule: string,
  { executionId, taskId, slot, at }: { executionId: string; taskId: string; slot: number; at: number },
  text: string,
): Violation => ({
  rule,
  executionId,
  taskId,
  at,
  text: `${executionId} of ${taskId}, slot ${slot}: ${text}`,
});
