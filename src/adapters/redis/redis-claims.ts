import { type ExecutionReport } from '../../domain/execution.js';
import { joinsUntil } from '../../domain/trigger.js';
import {
  type Claim,
  type ClaimAnswer,
  type ClaimProgress,
  type Claims,
  type ClaimTerms,
  DEFAULT_MAX_WAITING,
  type RenewAnswer,
} from '../../ports/claims.js';
import { lastOutcomeOf } from '../../ports/last-outcomes.js';
import { type Delivery } from '../../ports/queue.js';
import { type StopRequest } from '../../ports/stops.js';
import { CLAIM, CLAIM_LIBRARY } from './claim-script.js';
import { encode } from './codec.js';
import { ABANDON, FINISH, HAND_BACK, HELD_CLAIM_LIBRARY, RENEW_CLAIM, REPORT } from './held-claim-scripts.js';
import { type RedisConnection } from './redis-connection.js';
import { markOf, type RedisKeys, WORKERS } from './redis-keys.js';
import { ScriptBatch } from './script-batch.js';

type ClaimReply =
  | ['waiting' | 'held' | 'finished']
  | [
      'claimed',
      generation: number,
      saturated: number,
      stop: StopRequest | '',
      worker: string,
      previousGeneration: number,
      attempt: number,
      failures: number,
      awaiting: number,
      retryAt: number,
      handedBack: number,
    ];

const NO_OUTCOME = { slot: 0, finishedAt: 0, status: '' } as const;

/** Claims as run hashes, running sets and lines; each call is one script, so it happens as a whole or not at all. */
export class RedisClaims implements Claims {
  private readonly keys: RedisKeys;
  private readonly scripts: Readonly<
    Record<'claim' | 'renew' | 'report' | 'finish' | 'abandon' | 'handBack', ScriptBatch>
  >;

  constructor(connection: RedisConnection) {
    this.keys = connection.keys;
    this.scripts = {
      claim: new ScriptBatch(connection, CLAIM, CLAIM_LIBRARY),
      renew: new ScriptBatch(connection, RENEW_CLAIM, HELD_CLAIM_LIBRARY),
      report: new ScriptBatch(connection, REPORT, HELD_CLAIM_LIBRARY),
      finish: new ScriptBatch(connection, FINISH, HELD_CLAIM_LIBRARY),
      abandon: new ScriptBatch(connection, ABANDON, HELD_CLAIM_LIBRARY),
      handBack: new ScriptBatch(connection, HAND_BACK, HELD_CLAIM_LIBRARY),
    };
  }

  async claim(
    { message, handle }: Delivery,
    worker: string,
    ttlMs: number,
    { begun, waiting, maxWaiting = DEFAULT_MAX_WAITING }: ClaimTerms = {},
  ): Promise<ClaimAnswer> {
    const { event, task, generationFloor } = message;
    const { taskId, kind, slot, id: executionId, windowStart } = event;
    const scope = { taskId, kind, slot, executionId, pool: task.pool, worker, handle };
    const { maxConcurrent, overlapPolicy } = task.policy;
    const args = [
      ...[executionId, markOf(scope), worker, generationFloor, task.pool, handle],
      ...[this.keys.queuePrefix, this.keys.stopped, WORKERS],
      ...[Math.ceil(ttlMs), maxConcurrent, slot, overlapPolicy, maxWaiting],
      ...[windowStart, joinsUntil(event)],
      begun === undefined ? '' : encode(begun),
    ];
    const call = (joined: string) => this.scripts.claim.call(this.keysOf(scope), [...args, joined]);
    const first = (await call(waiting === undefined ? '' : '?')) as ClaimReply | ['full'];
    // Few claims find no room, so the report for that is made and sent with a second call only.
    const isAsked = first[0] === 'full' && waiting !== undefined;
    const reply = (isAsked ? await call(encode(waiting())) : first) as ClaimReply;
    if (reply[0] !== 'claimed') return { outcome: reply[0] };
    const [outcome, generation, saturated, stop, previousWorker, previousGeneration] = reply;
    const [attempt = 0, failures = 0, awaiting = 0, retryAt = 0, handedBack] = reply.slice(6) as number[];
    const previous =
      previousWorker === ''
        ? null
        : {
            worker: previousWorker,
            generation: previousGeneration,
            attempt,
            failures,
            receiptUntil: awaiting === 0 ? null : awaiting,
            retryAt: retryAt === 0 ? null : retryAt,
            isHandedBack: handedBack === 1,
          };
    return {
      outcome,
      claim: { ...scope, generation },
      isSaturated: saturated === 1,
      stop: stop === '' ? null : stop,
      previous,
    };
  }

  renew(claims: readonly Claim[], ttlMs: number): Promise<RenewAnswer[]> {
    return Promise.all(
      claims.map(async (claim) => {
        const answer = (await this.call('renew', claim, [Math.ceil(ttlMs)])) as 0 | 1 | StopRequest;
        if (answer === 0) return 'lost';
        return answer === 1 ? 'alive' : answer;
      }),
    );
  }

  async report(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean> {
    return (await this.call('report', claim, [encode(report), ...argsOf(progress)])) === 1;
  }

  async finish(claim: Claim, report: ExecutionReport): Promise<boolean> {
    const { slot, finishedAt, status } = lastOutcomeOf(claim.slot, report) ?? NO_OUTCOME;
    const last = [this.keys.lastOutcome(claim.taskId), slot, finishedAt, status];
    return (await this.call('finish', claim, [encode(report), ...last])) === 1;
  }

  async abandon(claim: Claim, report: ExecutionReport): Promise<boolean> {
    return (await this.call('abandon', claim, [encode(report)])) === 1;
  }

  async handBack(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean> {
    return (await this.call('handBack', claim, [encode(report), ...argsOf(progress)])) === 1;
  }

  private call(
    script: 'report' | 'renew' | 'finish' | 'abandon' | 'handBack',
    claim: Claim,
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const { executionId, worker, generation, pool, handle } = claim;
    const head = [
      executionId,
      markOf(claim),
      worker,
      generation,
      pool,
      handle,
      this.keys.queuePrefix,
      WORKERS,
    ];
    return this.scripts[script].call(this.keysOf(claim), [...head, ...args]);
  }

  private keysOf(claim: Omit<Claim, 'generation'>): string[] {
    const { keys } = this;
    const { taskId, pool } = claim;
    return [
      keys.run(claim),
      keys.running(taskId),
      keys.queue(pool),
      keys.results,
      keys.waiting(taskId),
      keys.stops(taskId),
    ];
  }
}

const argsOf = ({ attempt, failures, receiptUntil, retryAt }: ClaimProgress): number[] => [
  attempt,
  failures,
  receiptUntil ?? 0,
  retryAt ?? 0,
];
