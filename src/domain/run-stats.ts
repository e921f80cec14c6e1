import { type Execution, type Status, STATUSES } from './execution.js';
import { type Reason } from './reason.js';
import { type TriggerEvent } from './trigger.js';

/** When one execution was due, decided and run, as far as statistics need it. Instants are epoch ms. */
export interface RunTiming
  extends
    Pick<TriggerEvent, 'id' | 'kind' | 'windowStart' | 'firedAt'>,
    Pick<Execution, 'status' | 'reason' | 'startedAt' | 'finishedAt'> {}

/** Nearest rank: the smallest span that at least so many percent of all do not exceed. Null: there are no spans. */
export interface Spread {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
}

const RAN: ReadonlySet<Status> = new Set<Status>(['success', 'fail', 'timeout']);
/** Somebody ended these; they say nothing of the target. */
const ENDED_ON_PURPOSE: ReadonlySet<Reason> = new Set<Reason>(['cancelled', 'replaced']);

/** What the executions of one task add up to. Exact, and as large as there are different spans. */
export class RunStats {
  total = 0;
  /** Runs that came to an end of their own, and those of them that succeeded. */
  private judged = 0;
  private successes = 0;
  private readonly byStatus = new Map<Status, number>(STATUSES.map((status) => [status, 0]));
  private readonly byReason = new Map<string, { status: Status; reason: Reason; count: number }>();
  private readonly durations = new Spans();
  private readonly latenesses = new Spans();
  private readonly queueings = new Spans();

  take({ kind, status, reason, windowStart, firedAt, startedAt, finishedAt }: RunTiming): void {
    this.total++;
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    if (reason !== null) this.countReason(status, reason);
    const hasRun = RAN.has(status);
    if (hasRun && !(reason !== null && ENDED_ON_PURPOSE.has(reason))) {
      this.judged++;
      if (status === 'success') this.successes++;
    }
    if (kind === 'schedule' && status !== 'skipped') this.latenesses.add(firedAt - windowStart);
    if (startedAt === null) return;
    this.queueings.add(startedAt - firedAt);
    if (hasRun && finishedAt !== null) this.durations.add(finishedAt - startedAt);
  }

  /** From 0 to 1; null: nothing has ended by itself. */
  get successRate(): number | null {
    return this.judged === 0 ? null : this.successes / this.judged;
  }

  /** Of every status, also those that no execution has. */
  get statuses(): ReadonlyMap<Status, number> {
    return this.byStatus;
  }

  /** The most frequent first. */
  get reasons(): readonly { readonly status: Status; readonly reason: Reason; readonly count: number }[] {
    return [...this.byReason.values()].sort((a, b) => b.count - a.count);
  }

  /** Of success, fail and timeout. */
  get duration(): Spread {
    return this.durations.spread();
  }

  /** Of the schedule's executions that were not skipped. */
  get lateness(): Spread {
    return this.latenesses.spread();
  }

  get queueing(): Spread {
    return this.queueings.spread();
  }

  private countReason(status: Status, reason: Reason): void {
    const key = `${status} ${reason}`;
    const count = (this.byReason.get(key)?.count ?? 0) + 1;
    this.byReason.set(key, { status, reason, count });
  }
}

/** How often each span came. None is negative, whatever the clocks of two nodes say. */
class Spans {
  private readonly counts = new Map<number, number>();
  private count = 0;

  add(span: number): void {
    const ms = Math.max(0, span);
    this.count++;
    this.counts.set(ms, (this.counts.get(ms) ?? 0) + 1);
  }

  spread(): Spread {
    const ordered = [...this.counts].sort(([a], [b]) => a - b);
    const rank = (percent: number): number | null => {
      let seen = 0;
      return ordered.find(([, count]) => (seen += count) * 100 >= percent * this.count)?.[0] ?? null;
    };
    return { count: this.count, p50Ms: rank(50), p95Ms: rank(95), p99Ms: rank(99), maxMs: rank(100) };
  }
}
