import { AxError } from '../../domain/errors.js';
import { isTerminal } from '../../domain/execution.js';
import { type ExecutionRepo } from '../../ports/execution-repo.js';
import { MAX_RECEIPTS, type Receipt, type ReceiptAnswer, type Receipts } from '../../ports/receipts.js';
import { type TokenHash } from '../../ports/token-hash.js';

const NOTHING_CHANGED = 'this receipt changed nothing';

/** Why a receipt with a right token does not count. */
const REFUSALS: Readonly<Record<'superseded' | 'second' | 'late' | 'too_many', string>> = {
  superseded: `this attempt has ended, and a later one waits for a receipt with the token that was sent with it; ${NOTHING_CHANGED}`,
  second: `the attempt has got the receipt that ends it already; ${NOTHING_CHANGED}`,
  late: `nobody waits for this receipt any more: the attempt has ended; ${NOTHING_CHANGED}`,
  too_many: `${MAX_RECEIPTS - 1} receipts of progress are kept for an attempt, and there are as many; one that ends it is still taken; ${NOTHING_CHANGED}`,
};

/** Takes in what the business side says of an attempt that it took over. The attempt's token alone decides who may say it. */
export class PostReceipt {
  constructor(
    private readonly deps: {
      readonly receipts: Pick<Receipts, 'post'>;
      readonly executions: Pick<ExecutionRepo, 'find'>;
      readonly hash: TokenHash;
    },
  ) {}

  /**
   * Returns once the receipt counts: its worker hears of it soon, and also the next one if that worker is lost.
   * @throws AxError `not_found` (no such execution), `forbidden` (not the token of this execution), `conflict` (late, second,
   * superseded, too many), `not_ready` (the execution goes on, and its worker will wait again soon), `unavailable`. A receipt that is
   * refused changed nothing; after `unavailable` it may have counted, and a repetition is then told so.
   */
  async post(executionId: string, token: string, receipt: Omit<Receipt, 'at'>): Promise<void> {
    const { receipts, hash } = this.deps;
    const answer = await receipts.post(executionId, hash.of(token), receipt);
    if (answer !== 'accepted') throw await this.refusal(executionId, answer);
  }

  private async refusal(executionId: string, answer: Exclude<ReceiptAnswer, 'accepted'>): Promise<AxError> {
    if (answer === 'wrong_token')
      return new AxError(
        'forbidden',
        'this is no token of this execution; send the one that came with its request',
      );
    if (answer !== 'unknown') return new AxError('conflict', REFUSALS[answer]);
    const found = await this.deps.executions.find(executionId);
    if (found === null) return new AxError('not_found', `there is no execution ${executionId}`);
    if (isTerminal(found.execution.status)) return new AxError('conflict', REFUSALS.late);
    const why = `no worker waits for a receipt of execution ${executionId} at this moment, and one may soon`;
    return new AxError('not_ready', `${why}; ${NOTHING_CHANGED}, send it again later`, { retryable: true });
  }
}
