import { type CheckedRange, SETTLE_MS, TaskCheck } from '../../domain/check-history.js';
import { AxError, InvalidInput } from '../../domain/errors.js';
import { Findings } from '../../domain/findings.js';
import { type RecordedEvent } from '../../domain/recorded-run.js';
import { erasOf } from '../../domain/task-history.js';
import { type TriggerKind } from '../../domain/trigger.js';
import { type Clock } from '../../ports/clock.js';
import { type HistoryRepo } from '../../ports/history-repo.js';

const HOUR_MS = 3_600_000;
const DEFAULT_RANGE_MS = 24 * HOUR_MS;
export const MAX_RANGE_DAYS = 31;
/** Events of one read; their ledgers come with them. */
const PAGE = 500;
/** More changes of one task are not looked at; what was before is unknown then. */
const MAX_CHANGES = 1000;

export interface Verification {
  /** The range that was judged, epoch ms, both inclusive. */
  readonly from: number;
  readonly to: number;
  readonly checked: { readonly tasks: number; readonly slots: number; readonly events: number };
  readonly findings: Findings;
}

/** Checks ax's own history against what its schedules expected, task by task, in bounded memory. */
export class VerifyHistory {
  private isBusy = false;

  constructor(
    private readonly deps: { readonly history: HistoryRepo; readonly clock: Clock },
    /** `maxSteps`: slots and events that one call looks at. */
    private readonly options: { readonly maxSteps: number },
  ) {}

  /**
   * `to` defaults to now and `from` to a day before `to`; `to` ends where slots are still being decided.
   * @throws InvalidInput on `from` or `to` when there is nothing to judge, or too much; AxError `conflict` while another call of this
   * node goes on; `unavailable`.
   */
  async verify(request: { readonly from?: number; readonly to?: number }): Promise<Verification> {
    const range = this.rangeOf(request);
    if (this.isBusy)
      throw new AxError('conflict', 'another verification is going on; repeat this one when it has ended');
    this.isBusy = true;
    try {
      return await this.checkAll(range);
    } finally {
      this.isBusy = false;
    }
  }

  private async checkAll(range: CheckedRange): Promise<Verification> {
    const findings = new Findings();
    const checked = { tasks: 0, slots: 0, events: 0 };
    for (let id = await this.next(''); id !== null; id = await this.next(id)) {
      const check = await this.checkTask(
        id,
        range,
        findings,
        this.options.maxSteps - checked.slots - checked.events,
      );
      checked.slots += check.slots;
      checked.events += check.events;
      if (check.slots + check.events > 0) checked.tasks++;
    }
    return { from: range.from, to: range.to, checked, findings };
  }

  private next(after: string): Promise<string | null> {
    return this.deps.history.nextTaskId(after);
  }

  private rangeOf(request: { readonly from?: number; readonly to?: number }): CheckedRange {
    const now = this.deps.clock.now();
    const settled = now - SETTLE_MS;
    const to = Math.min(request.to ?? settled, settled);
    const from = request.from ?? to - DEFAULT_RANGE_MS;
    if (from > to) {
      const isLate = from > settled;
      throw InvalidInput.of(
        'from',
        isLate ? 'leaves nothing to judge: slots are judged a minute after their time' : 'is after to',
        isLate ? `give an instant before ${new Date(settled).toISOString()}` : 'give an instant before to',
      );
    }
    if (to - from > MAX_RANGE_DAYS * 24 * HOUR_MS) {
      throw InvalidInput.of(
        'from',
        `is more than ${MAX_RANGE_DAYS} days before to`,
        `give from and to at most ${MAX_RANGE_DAYS} days apart, and verify the rest by itself`,
      );
    }
    return { from, to, now };
  }

  private async checkTask(
    id: string,
    range: CheckedRange,
    findings: Findings,
    steps: number,
  ): Promise<TaskCheck> {
    const { history } = this.deps;
    const { current, changes } = await history.taskHistory(id, range.from, MAX_CHANGES);
    const check = new TaskCheck(id, erasOf(changes, current), range, findings);
    const before = await history.eventBefore(id, range.from);
    if (before !== null) check.take(before);
    for await (const event of this.eventsOf(id, 'schedule', range)) {
      await this.reach(event.slot, check, range, steps);
      check.take(event);
    }
    await this.reach(Infinity, check, range, steps);
    check.finish();
    for await (const event of this.eventsOf(id, 'manual', range)) {
      check.takeManual(event);
      assertBounded(check, range, steps);
    }
    return check;
  }

  /** Lets others run in between: one task may have very many slots. */
  private async reach(slot: number, check: TaskCheck, range: CheckedRange, steps: number): Promise<void> {
    for (let isThere = false; !isThere;) {
      isThere = check.reach(slot);
      assertBounded(check, range, steps);
      if (!isThere) await this.deps.clock.sleep(0);
    }
  }

  private async *eventsOf(taskId: string, kind: TriggerKind, { from, to }: CheckedRange) {
    let after: RecordedEvent | null = null;
    do {
      const page: RecordedEvent[] = await this.deps.history.events({
        taskId,
        kind,
        from,
        to,
        after,
        limit: PAGE,
      });
      yield* page;
      after = page.length < PAGE ? null : (page.at(-1) ?? null);
    } while (after !== null);
  }
}

/** Counting first would cost as much as looking. */
function assertBounded({ slots, events }: TaskCheck, { from, to }: CheckedRange, steps: number): void {
  if (slots + events <= steps) return;
  const hours = Math.ceil((to - from) / HOUR_MS);
  throw InvalidInput.of(
    'from',
    `and to are ${hours} h apart, which holds too many slots and events to verify at once`,
    'give a shorter range, and verify the rest by itself; the ax verify command takes a larger one',
  );
}
