/**
 * The rule of the campaign, over what was expected, what ax recorded and what the callee saw. Pure, and none of ax's code:
 * - each expected slot has exactly one event, fired inside its window or with a recorded verdict (flagged late, or skipped with a reason);
 * - idempotent tasks' slots were run, or say why not; a success was answered by the callee;
 * - nothing is triggered or called that was not expected, none before its slot, none that is recorded as skipped;
 * - each call of a slot is a recorded attempt of one execution, and there is at most one for a task that is not idempotent;
 * - nothing is pending or running at the end.
 */

/** Instants are epoch ms throughout. */
export interface Expectation {
  readonly taskId: string;
  readonly isIdempotent: boolean;
  readonly windowMs: number;
  readonly slots: ReadonlySet<number>;
  /** Slots around the moment in which the task was disabled or deleted: decided or not, both are right. */
  readonly undecidable: ReadonlySet<number>;
}

/** An event with its execution, as the database has them. */
export interface RecordedEvent {
  readonly id: string;
  readonly taskId: string;
  readonly slot: number;
  readonly rangeEnd: number | null;
  readonly firedAt: number;
  readonly isMisfire: boolean;
  /** Null: no report. */
  readonly status: string | null;
  readonly reason: string | null;
  /** Tries that the ledger names: attempts by claim, and those that it says may have been made and are unknown. */
  readonly recordedTries: number;
}

/** A request as the callee saw it. */
export interface Call {
  readonly taskId: string;
  readonly slot: number;
  readonly executionId: string;
  readonly attempt: number;
  /** Arrival. */
  readonly at: number;
  readonly isAnswered: boolean;
}

export type Breach = 'doubled' | 'lost' | 'outside' | 'open';

export interface Finding {
  readonly breach: Breach;
  readonly taskId: string;
  readonly slot: number;
  readonly executionId: string | null;
  readonly what: string;
}

export interface Judgement {
  readonly slots: number;
  readonly findings: readonly Finding[];
  readonly outcomeUnknown: number;
  readonly skipped: number;
  readonly failed: number;
  /** First call minus slot, over all slots that were called. */
  readonly worstLatenessMs: number;
}

/** What a target did, or did not: a run that ended so was made. */
const TARGET_REASONS = new Set(['http_status', 'network', 'connect', 'deadline']);
/** A run that was lost with its worker and had no room to begin again ends so. */
const RUN_REASONS = new Set([...TARGET_REASONS, 'overlap']);
const DECIDED_REASONS = new Set(['overlap', 'misfire', 'duplicate', 'deleted']);
const TERMINAL = new Set(['success', 'fail', 'timeout', 'skipped']);

export function judge(
  expectations: readonly Expectation[],
  events: readonly RecordedEvent[],
  calls: readonly Call[],
): Judgement {
  const findings: Finding[] = [];
  const eventsOf = groupBy(events, ({ taskId }) => taskId);
  const callsOf = groupBy(calls, ({ taskId }) => taskId);
  let slots = 0;
  let worstLatenessMs = 0;
  for (const expected of expectations) {
    const judged = new TaskJudgement(
      expected,
      eventsOf.get(expected.taskId) ?? [],
      callsOf.get(expected.taskId) ?? [],
    );
    findings.push(...judged.findings());
    slots += expected.slots.size;
    worstLatenessMs = Math.max(worstLatenessMs, judged.worstLatenessMs());
  }
  const count = (holds: (event: RecordedEvent) => boolean) => events.filter(holds).length;
  return {
    slots,
    findings,
    outcomeUnknown: count(({ reason }) => reason === 'outcome_unknown'),
    skipped: count(({ status }) => status === 'skipped'),
    failed: count(
      ({ status, reason }) => ['fail', 'timeout'].includes(status ?? '') && reason !== 'outcome_unknown',
    ),
    worstLatenessMs,
  };
}

function groupBy<K, V>(values: readonly V[], keyOf: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

class TaskJudgement {
  private readonly callsBySlot: Map<number, Call[]>;

  constructor(
    private readonly expected: Expectation,
    private readonly events: readonly RecordedEvent[],
    calls: readonly Call[],
  ) {
    this.callsBySlot = groupBy(calls, ({ slot }) => slot);
  }

  worstLatenessMs(): number {
    return Math.max(
      0,
      ...[...this.callsBySlot].map(([slot, calls]) => Math.min(...calls.map(({ at }) => at)) - slot),
    );
  }

  findings(): Finding[] {
    const { slots } = this.expected;
    const all = new Set([...slots, ...this.events.map(({ slot }) => slot), ...this.callsBySlot.keys()]);
    return [
      ...[...all].flatMap((slot) => this.ofSlot(slot)),
      ...this.events.flatMap((event) => this.ofEvent(event)),
    ];
  }

  private ofSlot(slot: number): Finding[] {
    const { slots, undecidable } = this.expected;
    const covering = this.events.filter(
      (event) => event.slot <= slot && slot <= (event.rangeEnd ?? event.slot),
    );
    const calls = this.callsBySlot.get(slot) ?? [];
    const found: Finding[] = [];
    const add = (breach: Breach, what: string) =>
      found.push(this.finding(breach, slot, covering[0]?.id ?? null, what));
    const isExpected = slots.has(slot);
    if (covering.length === 0 && isExpected) add('lost', 'no event');
    if (covering.length > 1) add('doubled', `${covering.length} events`);
    if (covering.length > 0 && !isExpected && !undecidable.has(slot))
      add('outside', 'an event that was not expected');
    if (calls.length > 0 && covering.length === 0) add('outside', 'called without an event');
    if (new Set(calls.map(({ executionId }) => executionId)).size > 1)
      add('doubled', 'called for two executions');
    if (!this.expected.isIdempotent && calls.length > 1) add('doubled', `called ${calls.length} times`);
    const earliest = Math.min(...calls.map(({ at }) => at));
    if (earliest < slot) add('outside', `called ${slot - earliest} ms before its time`);
    return found;
  }

  private ofEvent(event: RecordedEvent): Finding[] {
    const { slot, status, reason, firedAt } = event;
    const calls = (this.callsBySlot.get(slot) ?? []).filter(({ executionId }) => executionId === event.id);
    const found: Finding[] = [];
    const add = (breach: Breach, what: string) => found.push(this.finding(breach, slot, event.id, what));
    if (status === null || !TERMINAL.has(status)) add('open', `still ${status ?? 'pending'}`);
    if (firedAt < slot) add('outside', `fired ${slot - firedAt} ms before its time`);
    if (!event.isMisfire && status !== 'skipped' && firedAt > slot + this.expected.windowMs) {
      add('outside', `fired ${firedAt - slot} ms after its slot, not flagged as late`);
    }
    if (status === 'skipped' && calls.length > 0)
      add('outside', `called, and recorded as skipped (${reason})`);
    if (status === 'skipped' && !DECIDED_REASONS.has(reason ?? ''))
      add('lost', `skipped without a verdict (${reason})`);
    if (status === 'success' && !calls.some(({ isAnswered }) => isAnswered))
      add('lost', 'success without an answered call');
    if (
      this.expected.isIdempotent &&
      ['fail', 'timeout'].includes(status ?? '') &&
      !RUN_REASONS.has(reason ?? '')
    ) {
      add('lost', `idempotent, and ended as ${status} / ${reason}`);
    }
    if (this.expected.isIdempotent && calls.length > event.recordedTries) {
      add('doubled', `${calls.length} calls, ${event.recordedTries} recorded tries`);
    }
    return found;
  }

  private finding(breach: Breach, slot: number, executionId: string | null, what: string): Finding {
    return { breach, taskId: this.expected.taskId, slot, executionId, what };
  }
}
