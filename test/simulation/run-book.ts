import { BASE } from '../support/builders.js';
import { type StopRequest } from '../../src/ports/stops.js';
import { type Grants } from './grants.js';

export interface Watched {
  readonly worker: string;
  readonly generation: number;
  readonly taskId: string;
  /** Whether it counts against `max_concurrent`. */
  readonly hasMark: boolean;
  /** `max_concurrent` at the claim; null if not known, since the claim was asserted. */
  readonly limit: number | null;
  /** Since when the run has held its mark, by the queue's clock; -Infinity if its claim was asserted. */
  readonly since: number;
  /** End of its life by the queue's clock; once it is handed back, until when the place of its run is kept for the next one. */
  endsAt: number;
  state: 'live' | 'waiting' | 'lost' | 'handed back' | 'finished';
  /** How often its worker was told for sure that the run is to stop. */
  told: number;
  /** The attempt whose receipt is awaited, and until when by its worker's clock, epoch ms. */
  delivered: { readonly attempt: number; readonly until: number } | null;
  /** The highest attempt that was ever reported as delivered; 0: none. */
  lastDelivered: number;
}

export interface Waiter {
  readonly id: string;
  readonly slot: number;
}

export interface Asked {
  readonly reason: StopRequest;
  /** By the queue's clock. */
  readonly at: number;
}

interface Pages {
  readonly runs: Map<string, Watched>;
  /** By task: executions that may hold a mark. */
  readonly marked: Map<string, Set<string>>;
  /** By task. */
  readonly lines: Map<string, Waiter[]>;
  /** Runs that were asked to stop. */
  readonly stops: Map<string, Asked>;
  /** By execution: the receipt that ended the wait of its latest attempt. */
  readonly receipts: Map<string, { readonly attempt: number; readonly kind: 'success' | 'fail' }>;
}

const EMPTY: Pages = {
  runs: new Map(),
  marked: new Map(),
  lines: new Map(),
  stops: new Map(),
  receipts: new Map(),
};

/** What one life of the queue knows of runs, by the promises of its ports and by nothing else: the book of those who watch it. */
export class RunBook {
  private pages = structuredClone(EMPTY);
  /** Calls that are not in the book yet. */
  private open = 0;

  constructor(
    readonly nowMs: () => number,
    private readonly grants: Grants,
  ) {}

  /** Calls `then` when the book says what the ports say: at once unless answers are on their way. */
  whenUpToDate(then: () => void): void {
    if (this.open === 0) then();
    else queueMicrotask(() => this.whenUpToDate(then));
  }

  counted<T>(call: Promise<T>): Promise<T> {
    this.open += 1;
    return call.finally(() => (this.open -= 1));
  }

  /** The function that it returns brings back what the book says now. */
  remember(): () => void {
    const pages = structuredClone(this.pages);
    return () => (this.pages = pages);
  }

  get stops(): Map<string, Asked> {
    return this.pages.stops;
  }

  get receipts(): Pages['receipts'] {
    return this.pages.receipts;
  }

  run(executionId: string): Watched | undefined {
    return this.pages.runs.get(executionId);
  }

  write(executionId: string, watched: Watched): void {
    this.pages.runs.set(executionId, watched);
    if (!watched.hasMark) return;
    const marked = this.pages.marked.get(watched.taskId) ?? new Set();
    this.pages.marked.set(watched.taskId, marked.add(executionId));
  }

  forget(executionId: string): void {
    this.pages.runs.delete(executionId);
  }

  isLive(executionId: string): boolean {
    const { state = 'finished', endsAt = 0 } = this.run(executionId) ?? {};
    return state === 'live' && endsAt > this.nowMs();
  }

  /** Whether its target may be at work without any worker, which keeps its mark alive. */
  isAwaited(executionId: string): boolean {
    const { state = 'finished', delivered = null } = this.run(executionId) ?? {};
    return state !== 'finished' && delivered !== null && delivered.until > BASE + this.nowMs();
  }

  /** Whether its mark lives if it has one: it runs, its target may be at work, or it had begun and goes from one worker to another. */
  hasPlace(executionId: string): boolean {
    const { state = 'finished', hasMark = false, endsAt = 0 } = this.run(executionId) ?? {};
    const isKept = state === 'handed back' && hasMark && endsAt > this.nowMs();
    return isKept || this.isLive(executionId) || this.isAwaited(executionId);
  }

  /** Executions of a task, but for one, that hold a live mark. */
  marksOf(taskId: string, except: string): string[] {
    const marked = this.pages.marked.get(taskId) ?? new Set<string>();
    for (const id of marked) {
      const { hasMark = false, state = 'finished' } = this.run(id) ?? {};
      if (!hasMark || state === 'finished') marked.delete(id);
    }
    return [...marked].filter((id) => id !== except && this.hasPlace(id));
  }

  /** Of these executions, those whose mark was taken before an instant, epoch ms. */
  takenBefore(executionIds: readonly string[], instant: number): string[] {
    return executionIds.filter((id) => BASE + (this.run(id)?.since ?? -Infinity) < instant);
  }

  line(taskId: string): readonly Waiter[] {
    return this.pages.lines.get(taskId) ?? [];
  }

  join(taskId: string, waiter: Waiter): void {
    this.pages.lines.set(taskId, [...this.line(taskId).filter(({ id }) => id !== waiter.id), waiter]);
  }

  leave(taskId: string, executionId: string): void {
    this.pages.lines.set(
      taskId,
      this.line(taskId).filter(({ id }) => id !== executionId),
    );
  }

  countAhead(taskId: string, { slot, id }: Waiter): number {
    return this.line(taskId).filter((other) => other.slot < slot || (other.slot === slot && other.id < id))
      .length;
  }

  /** The first reason is kept. */
  ask(executionId: string, reason: StopRequest): void {
    if (this.stops.has(executionId)) return;
    this.stops.set(executionId, { reason, at: this.nowMs() });
    this.grants.ask(executionId, reason);
  }

  /** Of the runs of a task that run or wait without having been asked to stop, those with a greater id than one, and with a smaller one. */
  neighbours(taskId: string, executionId: string): { readonly newer: string[]; readonly older: string[] } {
    const all = [...this.marksOf(taskId, executionId), ...this.line(taskId).map(({ id }) => id)];
    const others = [...new Set(all)].filter((id) => id !== executionId && !this.stops.has(id)).sort();
    return {
      newer: others.filter((id) => id > executionId),
      older: others.filter((id) => id < executionId),
    };
  }
}
