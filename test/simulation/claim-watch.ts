import { type Claim, type ClaimAnswer, type Claims } from '../../src/ports/claims.js';
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

/**
 * Stands in front of the claims of one life of the queue and keeps its own book of who holds what, by the port's promises. What the
 * claims allow and the book does not is a violation.
 */
export class ClaimWatch implements Claims {
  private readonly book = new Map<string, Watched>();
  /** Executions of a task that may hold a mark. */
  private readonly marked = new Map<string, Set<string>>();

  constructor(
    private readonly claims: Claims,
    private readonly journal: Journal,
    private readonly nowMs: () => number,
    readonly life: number,
  ) {}

  /** The watch of a later life of the queue, which remembers what this one knows now. */
  remembering(life: number): ClaimWatch {
    const later = new ClaimWatch(this.claims, this.journal, this.nowMs, life);
    for (const [executionId, watched] of this.book) later.write(executionId, { ...watched });
    return later;
  }

  /** The generation under which a worker runs an execution; 0 if this life of the queue gave it no claim. */
  generationOf(executionId: string, worker: string): number {
    const held = this.book.get(executionId);
    return held?.worker === worker ? held.generation : 0;
  }

  async claim(...args: Parameters<Claims['claim']>): Promise<ClaimAnswer> {
    const [{ message }, worker, ttlMs] = args;
    const { id: executionId, taskId } = message.event;
    const before = this.book.get(executionId);
    const answer = await this.claims.claim(...args);
    if (answer.outcome !== 'claimed') return answer;
    const { generation } = answer.claim;
    const limit = message.task.policy.maxConcurrent;
    const others = this.marksOf(taskId, executionId);
    const of = before === undefined ? '' : ` after generation ${before.generation} of ${before.worker}`;
    const text = `${answer.isSaturated ? 'saturated, ' : ''}${others} of ${limit} others run${of}`;
    this.journal.add({ kind: 'claim', node: worker, executionId, generation, text });
    if (before?.state === 'finished' || (before?.state === 'live' && before.endsAt > this.nowMs()))
      this.tell('two_claims', executionId, `${worker} got a claim that ${before.worker} holds or finished`);
    if (before !== undefined && generation <= before.generation)
      this.tell('generation', executionId, `generation ${generation} after ${before.generation}`);
    if (!answer.isSaturated && others >= limit)
      this.tell('max_concurrent', executionId, `claimed while ${others} others of ${limit} run`);
    if (answer.isSaturated && others < limit)
      this.tell('false_overlap', executionId, `saturated while ${others} others of ${limit} run`);
    this.write(executionId, {
      worker,
      generation,
      taskId,
      hasMark: !answer.isSaturated,
      endsAt: this.nowMs() + ttlMs,
      state: 'live',
    });
    return answer;
  }

  async renew(claims: readonly Claim[], ttlMs: number): Promise<boolean[]> {
    const answers = await this.claims.renew(claims, ttlMs);
    for (const [i, claim] of claims.entries()) {
      if (answers[i] !== true) this.note('lost', claim, 'renewal refused');
      else this.accepted(claim, 'renewal').endsAt = this.nowMs() + ttlMs;
    }
    return answers;
  }

  async report(...args: Parameters<Claims['report']>): Promise<boolean> {
    const isAccepted = await this.claims.report(...args);
    if (isAccepted) this.accepted(args[0], 'report');
    else this.note('lost', args[0], `report ${args[1].entry.kind} refused`);
    return isAccepted;
  }

  async finish(...args: Parameters<Claims['finish']>): Promise<boolean> {
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

  async abandon(...args: Parameters<Claims['abandon']>): Promise<boolean> {
    const [claim] = args;
    const isAccepted = await this.claims.abandon(...args);
    if (isAccepted) this.book.delete(claim.executionId);
    this.note(isAccepted ? 'abandon' : 'lost', claim, isAccepted ? '' : 'abandoning refused');
    return isAccepted;
  }

  async handBack(...args: Parameters<Claims['handBack']>): Promise<boolean> {
    const [claim] = args;
    const isAccepted = await this.claims.handBack(...args);
    if (isAccepted) this.accepted(claim, 'hand-back').state = 'handed back';
    this.note(isAccepted ? 'handBack' : 'lost', claim, isAccepted ? '' : 'hand-back refused');
    return isAccepted;
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
    return asserted;
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
