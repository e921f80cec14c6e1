import { type ExecutionReport } from '../../domain/execution.js';
import { type Claim, type ClaimAnswer, type ClaimProgress, type Claims } from '../../ports/claims.js';
import { type Delivery } from '../../ports/queue.js';
import { ABANDON, CLAIM, FINISH, HAND_BACK, RENEW_CLAIM, REPORT } from './claim-scripts.js';
import { encode } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { type RedisKeys } from './redis-keys.js';
import { ScriptBatch } from './script-batch.js';
import { WORKERS } from './redis-keys.js';
import { FINISHED_KEEP_MS, RUN_KEEP_MS } from './run-lua.js';

type ClaimReply =
  | ['held']
  | ['finished']
  | [
      'claimed',
      generation: number,
      marked: number,
      worker: string,
      previousGeneration: number,
      attempt: number,
      failures: number,
      handedBack: number,
    ];

/** Claims as run hashes and running sets; each call is one script, so it happens as a whole or not at all. */
export class RedisClaims implements Claims {
  private readonly keys: RedisKeys;
  private readonly scripts: Readonly<
    Record<'claim' | 'renew' | 'report' | 'finish' | 'abandon' | 'handBack', ScriptBatch>
  >;

  constructor(connection: RedisConnection) {
    this.keys = connection.keys;
    this.scripts = {
      claim: new ScriptBatch(connection, CLAIM),
      renew: new ScriptBatch(connection, RENEW_CLAIM),
      report: new ScriptBatch(connection, REPORT),
      finish: new ScriptBatch(connection, FINISH),
      abandon: new ScriptBatch(connection, ABANDON),
      handBack: new ScriptBatch(connection, HAND_BACK),
    };
  }

  async claim(
    delivery: Delivery,
    worker: string,
    ttlMs: number,
    begun?: ExecutionReport,
  ): Promise<ClaimAnswer> {
    const { event, task, generationFloor } = delivery.message;
    const { taskId, kind, slot, id: executionId } = event;
    const scope = { taskId, kind, slot, executionId, pool: task.pool, worker, handle: delivery.handle };
    const { maxConcurrent } = task.policy;
    const reply = (await this.scripts.claim.call(
      [...this.keysOf(scope), this.keys.results],
      [
        ...argsOf({ ...scope, generation: generationFloor }),
        Math.ceil(ttlMs),
        maxConcurrent,
        RUN_KEEP_MS,
        WORKERS,
        begun === undefined ? '' : encode(begun),
      ],
    )) as ClaimReply;
    if (reply[0] !== 'claimed') return { outcome: reply[0] };
    const [outcome, generation, marked, previousWorker, previousGeneration, attempt, failures, handedBack] =
      reply;
    const previous =
      previousWorker === ''
        ? null
        : {
            worker: previousWorker,
            generation: previousGeneration,
            attempt,
            failures,
            isHandedBack: handedBack === 1,
          };
    return { outcome, claim: { ...scope, generation }, isSaturated: marked === 0, previous };
  }

  renew(claims: readonly Claim[], ttlMs: number): Promise<boolean[]> {
    return Promise.all(
      claims.map((claim) =>
        this.call('renew', this.keysOf(claim), claim, [Math.ceil(ttlMs), RUN_KEEP_MS, WORKERS]),
      ),
    );
  }

  report(claim: Claim, report: ExecutionReport, { attempt, failures }: ClaimProgress): Promise<boolean> {
    const args = [encode(report), attempt, failures, RUN_KEEP_MS];
    return this.call('report', [this.keys.run(claim), this.keys.results], claim, args);
  }

  finish(claim: Claim, report: ExecutionReport): Promise<boolean> {
    const keys = [...this.keysOf(claim), this.keys.results];
    return this.call('finish', keys, claim, [encode(report), FINISHED_KEEP_MS, WORKERS]);
  }

  abandon(claim: Claim, report: ExecutionReport): Promise<boolean> {
    const keys = [...this.keysOf(claim), this.keys.results];
    return this.call('abandon', keys, claim, [encode(report), WORKERS]);
  }

  handBack(claim: Claim, report: ExecutionReport, { attempt, failures }: ClaimProgress): Promise<boolean> {
    const keys = [...this.keysOf(claim), this.keys.results];
    return this.call('handBack', keys, claim, [encode(report), attempt, failures, RUN_KEEP_MS, WORKERS]);
  }

  private async call(
    script: 'report' | 'renew' | 'finish' | 'abandon' | 'handBack',
    keys: readonly string[],
    claim: Claim,
    args: readonly (string | number)[],
  ): Promise<boolean> {
    return (await this.scripts[script].call(keys, [...argsOf(claim), ...args])) === 1;
  }

  private keysOf(claim: Omit<Claim, 'generation'>): string[] {
    const { keys } = this;
    return [keys.run(claim), keys.running(claim.taskId), keys.queue(claim.pool)];
  }
}

const argsOf = (claim: Claim): (string | number)[] => [
  claim.executionId,
  claim.worker,
  claim.generation,
  claim.pool,
  claim.handle,
];
