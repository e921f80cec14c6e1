import { type ExpectedSlot, ExpectedSlots } from './expected-slots.js';
import { type Findings, type Rule } from './findings.js';
import { doubleRunOf, pendingBound, type RecordedEvent, runningBound } from './recorded-run.js';
import { type Era, isScheduling, policiesBetween } from './task-history.js';

/** A slot without an event is judged this long after the end of its window: decisions take a moment to be recorded and read. */
export const SETTLE_MS = 60_000;
/** How far the clocks of two nodes may be apart: who edits and who decides need not agree on which slots lay before an edit. */
const CLOCK_SKEW_MS = 10_000;
/** Slots that are judged without a pause. */
const STEPS = 1000;

/** Epoch ms, both inclusive; `now` is when the history was read. */
export interface CheckedRange {
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

const isLeftOut = ({ status, reason }: RecordedEvent): boolean =>
  status === 'skipped' && reason === 'calendar';

const text = (instant: number): string => new Date(instant).toISOString();

/**
 * Checks what was recorded of one task against what its definitions expected. Its events are fed in the order of their slots, first the
 * last one before the range if there is one; before each, `reach` its slot. Keeps nothing of what has passed.
 */
export class TaskCheck {
  /** Expected slots that were judged, and events of the range. */
  slots = 0;
  events = 0;
  private readonly expected: ExpectedSlots;
  private coveredUntil = -Infinity;
  /** The event that covers slots up to there. */
  private covering: RecordedEvent | null = null;
  private doubt: { from: number; to: number; reason: string } | null = null;

  constructor(
    private readonly taskId: string,
    private readonly eras: readonly Era[],
    private readonly range: CheckedRange,
    private readonly findings: Findings,
  ) {
    this.expected = new ExpectedSlots(eras, range.from, range.to);
    for (const { since, until, reason, state } of eras) {
      if (state !== 'unreadable' || since > range.to || until <= range.from) continue;
      this.findings.doubt({
        taskId,
        from: Math.max(since, range.from),
        to: Math.min(until - 1, range.to),
        reason,
      });
    }
  }

  /** Judges expected slots before `slot`, a bounded number of them; true when all are judged. */
  reach(slot: number): boolean {
    for (let step = 0; step < STEPS; step++) {
      const next = this.expected.peek();
      if (next === null || next.slot >= slot) return true;
      this.judge(next);
      this.expected.advance();
    }
    return false;
  }

  /** An event of the schedule. */
  take(event: RecordedEvent): void {
    const { slot, rangeEnd } = event;
    if (slot >= this.range.from) {
      this.events++;
      this.checkWindow(event);
      this.checkRun(event);
      this.checkSlot(event);
    }
    if ((rangeEnd ?? slot) <= this.coveredUntil) return;
    this.coveredUntil = rangeEnd ?? slot;
    this.covering = event;
  }

  /** An event made by hand: no schedule expects it. */
  takeManual(event: RecordedEvent): void {
    this.events++;
    this.checkRun(event);
  }

  /** Judges what is left; afterwards nothing more can be fed. */
  finish(): void {
    if (this.doubt !== null) this.findings.doubt({ taskId: this.taskId, ...this.doubt });
    this.doubt = null;
  }

  private judge(expected: ExpectedSlot): void {
    const { slot, windowMs, withoutEvent, isDoubtful } = expected;
    const isCovered = slot <= this.coveredUntil;
    if (!isCovered && slot + windowMs + SETTLE_MS > this.range.now) return;
    this.slots++;
    if (isCovered) {
      if (this.covering !== null) this.checkVerdict(expected, this.covering);
      return;
    }
    if (!isDoubtful) return this.violate('missing', { slot, id: null }, () => withoutEvent);
    if (this.doubt !== null && this.doubt.reason === withoutEvent) this.doubt.to = slot;
    else {
      this.finish();
      this.doubt = { from: slot, to: slot, reason: withoutEvent };
    }
  }

  private checkSlot(event: RecordedEvent): void {
    const { slot } = event;
    const expected = this.expected.peek();
    const isExpected = expected?.slot === slot;
    if (isExpected) {
      this.slots++;
      this.checkVerdict(expected, event);
      this.expected.advance();
    }
    if (slot <= this.coveredUntil)
      this.violate(
        'duplicate',
        event,
        () => 'the slot was decided before, by another event or skipped range',
      );
    else if (!isExpected && !this.isUnknown(slot))
      this.violate('unexpected', event, () => this.whyUnexpected(slot));
  }

  /** Excluded slots end by the calendar's verdict, others by another one. */
  private checkVerdict({ slot, isExcluded }: ExpectedSlot, event: RecordedEvent): void {
    const { id, status } = event;
    if (isExcluded === null || isExcluded === isLeftOut(event)) return;
    if (!isExcluded)
      return this.violate(
        'missing',
        { slot, id },
        () => 'skipped by the calendar, which does not exclude it',
      );
    const rule = status === 'skipped' ? 'missing' : 'unexpected';
    const other = `${status}${event.reason === null ? '' : ` (${event.reason})`}`;
    this.violate(rule, { slot, id }, () => `the calendar excludes it, and its event is ${other}`);
  }

  private checkWindow(event: RecordedEvent): void {
    const { slot, windowStart, windowEnd, firedAt, isMisfire, rangeEnd, status } = event;
    const report = (detail: string) => this.violate('outside_window', event, () => detail);
    const at = `fired at ${text(firedAt)}`;
    const lastEnd = rangeEnd === null ? windowEnd : rangeEnd + (windowEnd - windowStart);
    if (windowStart < slot) report(`its window begins at ${text(windowStart)}, before the slot`);
    else if (firedAt < windowStart) report(`${at}, before its window began at ${text(windowStart)}`);
    else if (!isMisfire && !isLeftOut(event) && firedAt > windowEnd)
      report(`${at}, after the window ended at ${text(windowEnd)}, and not recorded as a misfire`);
    else if (isMisfire && lastEnd >= firedAt)
      report(`${at} and recorded as a misfire, but the window of ${text(rangeEnd ?? slot)} was open`);
    if (rangeEnd !== null && status !== 'skipped')
      this.violate(
        'missing',
        event,
        () => `the range up to ${text(rangeEnd)} has no verdict, it is ${status}`,
      );
  }

  private checkRun(event: RecordedEvent): void {
    const { now } = this.range;
    const lastAt = event.steps.reduce((latest, { at }) => Math.max(latest, at), event.firedAt);
    const twice = doubleRunOf(event.steps, policiesBetween(this.eras, event.firedAt, lastAt));
    if (twice !== null) this.violate('double_run', event, () => twice);
    if (event.status === 'pending' && pendingBound(event) < now)
      this.violate('overdue_pending', event, () => `no worker took it until ${text(pendingBound(event))}`);
    if (event.status === 'running' || event.status === 'retrying') this.checkEnd(event);
  }

  private checkEnd(event: RecordedEvent): void {
    const { now } = this.range;
    const policies = policiesBetween(this.eras, event.firedAt, now);
    if (policies !== null && policies.length > 0) {
      const bound = runningBound(event, policies);
      if (bound < now)
        this.violate('overdue_running', event, () => `${event.status}, but had to end by ${text(bound)}`);
      return;
    }
    const reason = `execution ${event.id} is ${event.status}; how long it may be cannot be told`;
    this.findings.doubt({ taskId: this.taskId, from: event.slot, to: event.slot, reason });
  }

  private isUnknown(slot: number): boolean {
    return this.eras.some(
      ({ state, since, until }) =>
        state === 'unreadable' && slot >= since - CLOCK_SKEW_MS && slot < until + CLOCK_SKEW_MS,
    );
  }

  private whyUnexpected(slot: number): string {
    const era = this.eras.find(({ since, until }) => since <= slot && slot < until);
    if (era === undefined || era.state === 'absent') return 'there was no such task then';
    return isScheduling(era) ? 'it is no slot of the schedule in force then' : 'the task was disabled then';
  }

  private violate(
    rule: Rule,
    at: { readonly slot: number; readonly id: string | null },
    detail: () => string,
  ): void {
    this.findings.violate(rule, () => ({
      taskId: this.taskId,
      slot: at.slot,
      executionId: at.id,
      detail: detail(),
    }));
  }
}
