import { FireTimes, isSameSchedule } from './schedule.js';
import { type Era, isScheduling } from './task-history.js';
import { longestJitterMs, TaskSlots, type Timetable } from './timetable.js';

/** A slot that ax owes an event. */
export interface ExpectedSlot {
  /** Epoch ms. */
  readonly slot: number;
  /** From the slot to the end of its window at the latest. */
  readonly windowMs: number;
  /** What it means that it has none. */
  readonly withoutEvent: string;
  /** The calendar leaves it out: its event is a verdict and no run. Null where the definitions that it may be of differ. */
  readonly isExcluded: boolean | null;
  /** Without an event it is no violation: it cannot be told whether there should be one. */
  readonly isDoubtful: boolean;
}

/** Slots of one timetable, from `first`, itself a slot whatever the schedule says, to before `until`. */
interface Span extends Omit<ExpectedSlot, 'slot' | 'isExcluded'> {
  readonly timetable: Timetable;
  readonly first: number;
  readonly until: number;
}

interface Head {
  readonly slot: number;
  readonly isExcluded: boolean;
  readonly span: Span;
}

/** Answers are remembered by FireTimes; a new one now and then keeps a long walk small. */
const STEPS_PER_MEMORY = 1000;
const LOST = 'it has neither an event nor a misfire verdict';

/**
 * The slots that a task's definitions over time expected in `[from, to]`, in order, computed as they are asked for. Which definition
 * decides a slot follows from the cursors on record: a slot before the cursor at the end of an era was decided in it.
 */
export class ExpectedSlots {
  /** In order of their slots. */
  private readonly heads: Head[] = [];
  private times = new FireTimes();
  private steps = 0;

  constructor(
    eras: readonly Era[],
    from: number,
    private readonly to: number,
  ) {
    for (const span of spansOf(eras, this.times)) {
      const first = span.first >= from ? span.first : this.next(span, from - 1);
      this.put(first, span);
    }
  }

  /** The next slot; null after the last. */
  peek(): ExpectedSlot | null {
    const first = this.heads[0];
    if (first === undefined) return null;
    const heads = this.heads.filter(({ slot }) => slot === first.slot);
    const here = heads.map(({ span }) => span);
    const strict = here.find(({ isDoubtful }) => !isDoubtful) ?? first.span;
    const { withoutEvent, isDoubtful } = strict;
    return {
      slot: first.slot,
      windowMs: Math.max(...here.map(({ windowMs }) => windowMs)),
      withoutEvent,
      isDoubtful,
      isExcluded: heads.every(({ isExcluded }) => isExcluded === first.isExcluded) ? first.isExcluded : null,
    };
  }

  advance(): void {
    const passed = this.heads[0]?.slot;
    if (passed === undefined) return;
    if (++this.steps % STEPS_PER_MEMORY === 0) this.times = new FireTimes();
    while (this.heads[0]?.slot === passed) {
      const { span } = this.heads.shift() as Head;
      this.put(this.next(span, passed), span);
    }
  }

  private next({ timetable }: Span, after: number): number | null {
    return new TaskSlots(timetable, this.times).next(after);
  }

  private put(slot: number | null, span: Span): void {
    if (slot === null || slot >= span.until || slot > this.to) return;
    const at = this.heads.findIndex((head) => head.slot > slot);
    const isExcluded = new TaskSlots(span.timetable, this.times).exclusionOf(slot) !== null;
    this.heads.splice(at < 0 ? this.heads.length : at, 0, { slot, isExcluded, span });
  }
}

/** An edit that keeps the schedule of an enabled task keeps the cursor and what is owed too, so its eras are one. */
function spansOf(eras: readonly Era[], times: FireTimes): Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < eras.length; i++) {
    const begin = eras[i];
    if (!isScheduling(begin)) continue;
    const { schedule, former } = begin.state;
    let windowSec = begin.state.policy.windowSec;
    let end: typeof begin = begin;
    for (let next = eras[i + 1]; isScheduling(next) && isSameSchedule(next.state.schedule, schedule);) {
      windowSec = Math.max(windowSec, next.state.policy.windowSec);
      end = next;
      next = eras[++i + 1];
    }
    const first =
      begin.firstSlot === undefined ? new TaskSlots(begin.state, times).next(begin.since) : begin.firstSlot;
    if (first === null) continue;
    const timetable = { schedule, former };
    const windowMs = windowSec * 1000 + longestJitterMs(timetable);
    spans.push(...spansUpTo(end, { timetable, first, windowMs }, eras[i + 1]));
  }
  return spans;
}

/** Two spans at most: what was decided when the era ended, and what was not. */
function spansUpTo(
  {
    until,
    undecidedSlot,
    state,
  }: Era & { readonly state: { readonly policy: { readonly misfirePolicy: string } } },
  slots: Pick<Span, 'timetable' | 'first' | 'windowMs'>,
  later: Era | undefined,
): Span[] {
  const decided = { ...slots, until: undecidedSlot ?? until, withoutEvent: LOST, isDoubtful: false };
  if (undecidedSlot === null || owesFormer(later)) return [decided];
  const rest = { ...slots, first: undecidedSlot, until: until - slots.windowMs };
  const cursor = `not decided yet, next_trigger_time stands at ${new Date(undecidedSlot).toISOString()}`;
  if (until < Infinity)
    return [
      decided,
      { ...rest, withoutEvent: 'undecided when the task was disabled or deleted', isDoubtful: true },
    ];
  const isDoubtful = state.policy.misfirePolicy === 'catch_up';
  return [
    decided,
    { ...rest, withoutEvent: isDoubtful ? `waits to be caught up: ${cursor}` : cursor, isDoubtful },
  ];
}

/** Whether an era owes what was undecided when it began. */
const owesFormer = (era: Era | undefined): boolean => isScheduling(era) && era.state.former.length > 0;
