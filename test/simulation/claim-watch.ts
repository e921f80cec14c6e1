import { type Claim, type ClaimAnswer, type Claims, type RenewAnswer } from '../../src/ports/claims.js';
import { BASE } from '../support/builders.js';
import { type Grants } from './grants.js';
import { type Journal } from './journal.js';
import { type RunBook, type Watched } from './run-book.js';
import { claimProblems } from './claim-rules.js';

/** So often a run may go on after its worker was told to stop it: answers may meet a pause or be slow. */
const MOST_TOLD = 3;

/**
 * Stands in front of the claims of one life of the queue and keeps its own book of who holds what, by the port's promises. What the
 * claims allow and the book does not is a violation.
 */
export class ClaimWatch {
  constructor(
    private readonly claims: Claims,
    private readonly book: RunBook,
    private readonly journal: Journal,
    private readonly queue: { life: number },
    private readonly grants: Grants,
    /** Whether what a worker is answered now will reach it. */
    private readonly isReachable: (worker: string) => boolean,
  ) {}

  /** The claims, with this watch in front of them. */
  readonly port: Claims = {
    claim: (...args) => this.book.counted(this.claim(...args)),
    renew: (...args) => this.book.counted(this.renew(...args)),
    report: (...args) => this.book.counted(this.report(...args)),
    finish: (...args) => this.book.counted(this.finish(...args)),
    abandon: (...args) => this.book.counted(this.abandon(...args)),
    handBack: (...args) => this.book.counted(this.handBack(...args)),
  };

  private async claim(...args: Parameters<Claims['claim']>): Promise<ClaimAnswer> {
    const [{ message }, worker, ttlMs, terms] = args;
    const { book } = this;
    const { id: executionId, taskId, slot } = message.event;
    const answer = await this.claims.claim(...args);
    if (answer.outcome !== 'claimed' && answer.outcome !== 'waiting') return answer;
    const before = book.run(executionId);
    const { maxConcurrent: limit, overlapPolicy } = message.task.policy;
    const isClaimed = answer.outcome === 'claimed';
    const generation = isClaimed ? answer.claim.generation : (before?.generation ?? 0);
    const hasMark = isClaimed && !answer.isSaturated && answer.stop === null;
    const { problems, text } = claimProblems(book, message, { worker, before, answer, terms });
    for (const [rule, problem] of problems) this.tell(rule, executionId, problem);
    this.journal.add({ kind: isClaimed ? 'claim' : 'wait', node: worker, executionId, generation, text });
    const isFull = isClaimed ? answer.isSaturated : true;
    if (overlapPolicy === 'replace' && isFull) this.replaceOlder(taskId, executionId, limit);
    if (!isClaimed) {
      book.join(taskId, { id: executionId, slot });
      if (before !== undefined) before.state = 'waiting';
      return answer;
    }
    book.leave(taskId, executionId);
    book.write(executionId, {
      ...{ worker, generation, taskId, hasMark, limit, endsAt: book.nowMs() + ttlMs },
      since: before !== undefined && book.hasPlace(executionId) ? before.since : book.nowMs(),
      ...{ state: 'live', told: 0, delivered: before?.delivered ?? null },
      lastDelivered: before?.lastDelivered ?? 0,
    });
    this.grants.give(answer.claim, this.queue.life, answer.stop);
    return answer;
  }

  /** A claim under `replace` that finds no room: only the newest are kept, the others are asked to stop. */
  private replaceOlder(taskId: string, executionId: string, limit: number): void {
    const { newer, older } = this.book.neighbours(taskId, executionId);
    const newestFirst = [...newer, executionId, ...older].sort().reverse();
    for (const id of newestFirst.slice(limit)) {
      if (id === executionId) continue;
      this.book.ask(id, 'replaced');
      this.book.leave(taskId, id);
    }
  }

  private async renew(claims: readonly Claim[], ttlMs: number): Promise<RenewAnswer[]> {
    const { book } = this;
    const answers = await this.claims.renew(claims, ttlMs);
    for (const [i, claim] of claims.entries()) {
      const { executionId, worker } = claim;
      const answer = answers[i] ?? 'lost';
      if (answer === 'lost') {
        this.refused(claim, 'renewal refused');
        continue;
      }
      const run = this.accepted(claim, 'renewal');
      const others = book.marksOf(claim.taskId, executionId).length;
      if (run.hasMark && run.limit !== null && run.endsAt <= book.nowMs() && others >= run.limit)
        this.tell('max_concurrent', executionId, `renewed while ${others} others of ${run.limit} run`);
      const asked = book.stops.get(executionId)?.reason ?? 'alive';
      if (asked !== answer) this.tell('stop', executionId, `${worker} was answered ${answer}, not ${asked}`);
      if (answer !== 'alive' && this.isReachable(worker)) run.told += 1;
      run.endsAt = book.nowMs() + ttlMs;
    }
    return answers;
  }

  private async report(...args: Parameters<Claims['report']>): Promise<boolean> {
    const [claim, { entry }, { attempt, receiptUntil }] = args;
    const isAccepted = await this.claims.report(...args);
    if (!isAccepted) this.refused(claim, `report ${entry.kind} refused`);
    else {
      const run = this.accepted(claim, 'report');
      if (attempt >= (run.delivered?.attempt ?? 0))
        run.delivered = receiptUntil === null ? null : { attempt, until: receiptUntil };
      if (receiptUntil !== null) run.lastDelivered = Math.max(run.lastDelivered, attempt);
    }
    return isAccepted;
  }

  private async finish(...args: Parameters<Claims['finish']>): Promise<boolean> {
    const [claim, report] = args;
    const { executionId } = claim;
    const isAccepted = await this.claims.finish(...args);
    const text = `${report.status} ${report.reason ?? ''}`;
    if (!isAccepted) {
      this.refused(claim, `${text} refused`);
      return false;
    }
    const isKnown = this.book.run(executionId) !== undefined;
    const run = this.accepted(claim, 'finish');
    if (run.state !== 'finished') {
      if (isKnown) this.judgeEnd(claim, run, report);
      run.state = 'finished';
      this.book.stops.delete(executionId);
    }
    this.journal.add({ kind: 'finish', ...of(claim), text });
    return true;
  }

  private judgeEnd(
    claim: Claim,
    run: Watched,
    { status, reason, attempt }: Parameters<Claims['finish']>[1],
  ): void {
    const { executionId, worker } = claim;
    const { stops, receipts } = this.book;
    const isStop = reason === 'cancelled' || reason === 'replaced';
    // Its worker may have heard of a stop that the queue has lost since.
    if (isStop && stops.get(executionId)?.reason !== reason && !this.grants.wasAsked(claim, reason))
      this.tell('stop', executionId, `ended as ${reason}, which nobody asked for`);
    if (status === 'success' && run.told > MOST_TOLD)
      this.tell('stop', executionId, `${worker} was told ${run.told} times to stop it, and it is success`);
    const receipt = receipts.get(executionId);
    const isUnseen = reason === 'outcome_unknown' && run.delivered === null;
    if (receipt?.attempt !== attempt || isStop || isUnseen) return;
    if (receipt.kind !== status)
      this.tell(
        'receipt',
        executionId,
        `ended as ${status} ${reason ?? ''}, its receipt says ${receipt.kind}`,
      );
  }

  private async abandon(...args: Parameters<Claims['abandon']>): Promise<boolean> {
    const [claim] = args;
    const isAccepted = await this.claims.abandon(...args);
    if (!isAccepted) this.refused(claim, 'abandoning refused', false);
    else {
      this.book.forget(claim.executionId);
      this.journal.add({ kind: 'abandon', ...of(claim), text: '' });
    }
    return isAccepted;
  }

  private async handBack(...args: Parameters<Claims['handBack']>): Promise<boolean> {
    const [claim, , { attempt, receiptUntil, retryAt }] = args;
    const isAccepted = await this.claims.handBack(...args);
    if (!isAccepted) {
      this.refused(claim, 'hand-back refused');
      return false;
    }
    const run = this.accepted(claim, 'hand-back');
    if (run.state === 'live') {
      run.state = 'handed back';
      run.delivered = receiptUntil === null ? null : { attempt, until: receiptUntil };
      run.endsAt = attempt === 0 ? 0 : Math.max(run.endsAt, (retryAt ?? 0) - BASE);
    }
    this.journal.add({ kind: 'handBack', ...of(claim), text: '' });
    return true;
  }

  /** What the book says of an accepted call; one of a claim that this life of the queue does not know asserts it. */
  private accepted(claim: Claim, call: string): Watched {
    const { executionId, worker, generation, taskId } = claim;
    const known = this.book.run(executionId);
    const isLatest = known?.worker === worker && known.generation === generation;
    const isRepeated =
      (call === 'finish' && known?.state === 'finished') ||
      (call === 'hand-back' && (known?.state === 'handed back' || known?.state === 'waiting'));
    if (isLatest && (known.state === 'live' || isRepeated)) return known;
    if (known !== undefined)
      this.tell(
        'late_report',
        executionId,
        `${call} of generation ${generation} accepted after ${known.generation}, which is ${known.state}`,
      );
    const asserted: Watched = {
      ...{ worker, generation, taskId, hasMark: true, limit: null, endsAt: this.book.nowMs() },
      since: -Infinity,
      ...{ state: 'live', told: 0, delivered: null, lastDelivered: 0 },
    };
    this.book.write(executionId, asserted);
    this.grants.carryOver(claim, this.queue.life);
    return asserted;
  }

  private refused(claim: Claim, text: string, isJudged = true): void {
    const { executionId, worker, generation } = claim;
    const known = this.book.run(executionId);
    const isLatest = known?.worker === worker && known.generation === generation;
    if (isJudged && isLatest && this.book.isLive(executionId))
      this.tell('false_loss', executionId, `${text}, and generation ${generation} of ${worker} is alive`);
    if (isLatest && known.state === 'live') known.state = 'lost';
    this.journal.add({ kind: 'lost', ...of(claim), text });
  }

  private tell(rule: string, executionId: string, text: string): void {
    this.journal.add({ kind: 'violation', rule, executionId, text });
  }
}

const of = ({ executionId, worker, generation }: Claim) => ({ node: worker, executionId, generation });
