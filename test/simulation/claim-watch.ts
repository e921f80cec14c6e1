import { type Claim, type ClaimAnswer, type Claims, type RenewAnswer } from '../../src/ports/claims.js';
import { type Journal } from './journal.js';

interface Watched {
  readonly worker: string;
  readonly generation: number;
  readonly taskId: string;
  /** Whether it counts against `max_concurrent`. */
  readonly hasMark: boolean;
  /** End of its life by the queue's clock. */
  endsAt: number;
  state: 'live' | 'finished' | 'handed back';
}

/** The latest claim on each execution that each worker was given, or asserted: its generation, and in which life of the queue. */
export type Grants = Map<string, { readonly generation: number; readonly life: number }>;

export const grantKey = (executionId: string, worker: string): string => `${executionId} ${worker}`;

/**
 * Stands in front of the claims of one life of the queue and keeps its own book of who holds what, by the port's promises. What the
 * claims allow and the book does not is a violation.
 */
export class ClaimWatch {
  private readonly book = new Map<string, Watched>();
  /** Executions of a task that may hold a mark. */
  private readonly marked = new Map<string, Set<string>>();
  /** Calls that are not in the book yet. */
  private open = 0;

  constructor(
    private readonly claims: Claims,
    private readonly journal: Journal,
    private readonly nowMs: () => number,
    private life: number,
    private readonly grants: Grants,
  ) {}

  /** The claims, with this watch in front of them. */
  readonly port: Claims = {
    claim: (...args) => this.counted(this.claim(...args)),
    renew: (...args) => this.counted(this.renew(...args)),
    report: (...args) => this.counted(this.report(...args)),
    finish: (...args) => this.counted(this.finish(...args)),
    abandon: (...args) => this.counted(this.abandon(...args)),
    handBack: (...args) => this.counted(this.handBack(...args)),
  };

  /** Calls `then` when the book says what the claims say: at once unless answers are on their way. */
  whenUpToDate(then: () => void): void {
    if (this.open === 0) then();
    else queueMicrotask(() => this.whenUpToDate(then));
  }

  /** Remembers the book. The function it returns brings that back for another life of the queue. */
  remember(): (life: number) => void {
    const book = [...this.book].map(([executionId, watched]) => [executionId, { ...watched }] as const);
    return (life) => {
      this.life = life;
      this.book.clear();
      this.marked.clear();
      for (const [executionId, watched] of book) this.write(executionId, watched);
    };
  }

  private async claim(...args: Parameters<Claims['claim']>): Promise<ClaimAnswer> {
    const [{ message }, worker, ttlMs] = args;
    const { id: executionId, taskId } = message.event;
    const before = this.book.get(executionId);
    const answer = await this.claims.claim(...args);
    if (answer.outcome !== 'claimed') return answer;
    const { generation } = answer.claim;
    const hasMark = !answer.isSaturated && answer.stop === null;
    const limit = message.task.policy.maxConcurrent;
    const others = this.marksOf(taskId, executionId);
    const of = before === undefined ? '' : ` after generation ${before.generation} of ${before.worker}`;
    const text = `${answer.isSaturated ? 'saturated, ' : ''}${others} of ${limit} others run${of}`;
    this.journal.add({ kind: 'claim', node: worker, executionId, generation, text });
    if (before?.state === 'finished' || (before?.state === 'live' && before.endsAt > this.nowMs()))
      this.tell('two_claims', executionId, `${worker} got a claim that ${before.worker} holds or finished`);
    if (before !== undefined && generation <= before.generation)
      this.tell('generation', executionId, `generation ${generation} after ${before.generation}`);
    if (hasMark && others >= limit)
      this.tell('max_concurrent', executionId, `claimed while ${others} others of ${limit} run`);
    if (answer.isSaturated && others < limit)
      this.tell('false_overlap', executionId, `saturated while ${others} others of ${limit} run`);
    this.write(executionId, {
      worker,
      generation,
      taskId,
      hasMark,
      endsAt: this.nowMs() + ttlMs,
      state: 'live',
    });
    this.grant(answer.claim);
    return answer;
  }

  private async renew(claims: readonly Claim[], ttlMs: number): Promise<RenewAnswer[]> {
    const answers = await this.claims.renew(claims, ttlMs);
    for (const [i, claim] of claims.entries()) {
      if (answers[i] === 'lost') this.note('lost', claim, 'renewal refused');
      else this.accepted(claim, 'renewal').endsAt = this.nowMs() + ttlMs;
    }
    return answers;
  }

  private async report(...args: Parameters<Claims['report']>): Promise<boolean> {
    const isAccepted = await this.claims.report(...args);
    if (isAccepted) this.accepted(args[0], 'report');
    else this.note('lost', args[0], `report ${args[1].entry.kind} refused`);
    return isAccepted;
  }

  private async finish(...args: Parameters<Claims['finish']>): Promise<boolean> {
    const [claim, { status, reason }] = args;
    const isAccepted = await this.claims.finish(...args);
    if (isAccepted) this.accepted(claim, 'finish').state = 'finished';
    this.note(
      isAccepted ? 'finish' : 'lost',
      claim,
      `${status} ${reason ?? ''}${isAccepted ? '' : ' refused'}`,
    );
    return isAccepted;
  }

  private async abandon(...args: Parameters<Claims['abandon']>): Promise<boolean> {
    const [claim] = args;
    const isAccepted = await this.claims.abandon(...args);
    if (isAccepted) this.book.delete(claim.executionId);
    this.note(isAccepted ? 'abandon' : 'lost', claim, isAccepted ? '' : 'abandoning refused');
    return isAccepted;
  }

  private async handBack(...args: Parameters<Claims['handBack']>): Promise<boolean> {
    const [claim] = args;
    const isAccepted = await this.claims.handBack(...args);
    if (isAccepted) this.accepted(claim, 'hand-back').state = 'handed back';
    this.note(isAccepted ? 'handBack' : 'lost', claim, isAccepted ? '' : 'hand-back refused');
    return isAccepted;
  }

  private counted<T>(call: Promise<T>): Promise<T> {
    this.open += 1;
    return call.finally(() => (this.open -= 1));
  }

  /** What the book says of an accepted call; one of a claim that this life of the queue does not know asserts it. */
  private accepted(claim: Claim, call: string): Watched {
    const { executionId, worker, generation, taskId } = claim;
    const known = this.book.get(executionId);
    if (known?.worker === worker && known.generation === generation) return known;
    if (known !== undefined)
      this.tell(
        'late_report',
        executionId,
        `${call} of generation ${generation} accepted after ${known.generation}`,
      );
    const asserted: Watched = {
      worker,
      generation,
      taskId,
      hasMark: true,
      endsAt: this.nowMs(),
      state: 'live',
    };
    this.write(executionId, asserted);
    this.grant(claim);
    return asserted;
  }

  private grant({ executionId, worker, generation }: Claim): void {
    this.grants.set(grantKey(executionId, worker), { generation, life: this.life });
  }

  private write(executionId: string, watched: Watched): void {
    this.book.set(executionId, watched);
    const marked = this.marked.get(watched.taskId) ?? new Set();
    this.marked.set(watched.taskId, watched.hasMark ? marked.add(executionId) : marked);
  }

  private marksOf(taskId: string, except: string): number {
    let marks = 0;
    const marked = this.marked.get(taskId) ?? new Set();
    for (const executionId of marked) {
      const { hasMark = false, state = 'finished', endsAt = 0 } = this.book.get(executionId) ?? {};
      if (!hasMark || state === 'finished') marked.delete(executionId);
      else if (executionId !== except && state === 'live' && endsAt > this.nowMs()) marks += 1;
    }
    return marks;
  }

  private note(
    kind: 'finish' | 'abandon' | 'handBack' | 'lost',
    { executionId, worker, generation }: Claim,
    text: string,
  ): void {
    this.journal.add({ kind, node: worker, executionId, generation, text });
  }

  private tell(rule: string, executionId: string, text: string): void {
    this.journal.add({ kind: 'violation', rule, executionId, text });
  }
}
