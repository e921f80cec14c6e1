import { Sha256TokenHash } from '../../src/adapters/system/sha256-token-hash.js';
import { type Outcome } from '../../src/domain/execution.js';
import {
  type Delivered,
  type Executor,
  type ExecutorRequest,
  type StopReason,
} from '../../src/ports/executor.js';
import { failed, succeeded, timedOut } from '../support/scripted-executor.js';
import { Chance } from './chance.js';
import { type Cluster } from './cluster.js';
import { type NodeClock } from './node-clock.js';
import { sleepOn } from './sleep-on.js';

/** A receipt, and when its target sends it after the call came, ms. */
export interface Sending {
  readonly afterMs: number;
  readonly says: 'success' | 'fail' | 'progress';
}

const FAILURES = 0.08;

/** What the target of a task does, by seed, task, slot and attempt alone, so that other faults do not change it. */
export class Callees {
  mood: 'well' | 'fail' | 'slow' = 'well';
  /** Receipts that are still to be sent. */
  sending = 0;
  /** Hashes of the tokens that targets have got. */
  readonly tokens = new Set<string>();

  constructor(private readonly seed: string) {}

  /** How long it takes, and what comes of it. */
  answer(request: ExecutorRequest): { readonly ms: number; readonly outcome: Outcome } {
    const chance = this.chanceOf(request, '');
    const isShort = chance.is(0.7);
    const ms = this.paced(isShort ? chance.int(1, 900) : chance.int(900, 25_000));
    return { ms, outcome: this.isFailure(chance) ? failed('http_status') : succeeded() };
  }

  /** How long it takes to take the attempt over, and what it says of that later; no receipts: it refuses. */
  delivery(request: ExecutorRequest): { readonly ms: number; readonly receipts: readonly Sending[] | null } {
    const chance = this.chanceOf(request, '/delivery');
    const ms = this.paced(chance.int(1, 900));
    if (this.isFailure(chance)) return { ms, receipts: null };
    const afterMs = this.paced(chance.is(0.6) ? chance.int(1, 3000) : chance.int(1000, 25_000));
    const says = chance.is(FAILURES) ? 'fail' : 'success';
    const roll = chance.next();
    const late = request.timeoutMs + chance.int(-30, 15_000);
    if (roll < 0.6) return { ms, receipts: [{ afterMs, says }] };
    if (roll < 0.72)
      return {
        ms,
        receipts: [
          { afterMs: afterMs / 2, says: 'progress' },
          { afterMs, says },
        ],
      };
    if (roll < 0.84) {
      const again = {
        afterMs: afterMs + chance.int(0, 2000),
        says: chance.pick(['success', 'fail'] as const),
      };
      return { ms, receipts: [{ afterMs, says }, again] };
    }
    return { ms, receipts: roll < 0.94 ? [{ afterMs: late, says }] : [] };
  }

  private chanceOf({ taskId, slot, attempt }: ExecutorRequest, what: string): Chance {
    return new Chance(`${this.seed}/${taskId}/${slot}/${attempt}${what}`);
  }

  private isFailure(chance: Chance): boolean {
    return this.mood === 'fail' || chance.is(FAILURES);
  }

  private paced(ms: number): number {
    return this.mood === 'slow' ? ms * 4 : ms;
  }
}

/** A target asks again so often when it is told to send a receipt later. */
const POSTS = { most: 5, everyMs: 2000 };
const hash = new Sha256TokenHash();

/** The executor of one worker. A callee goes on while the worker is stopped; its answer arrives when the worker goes on. */
export class SimulatedExecutor implements Executor {
  readonly type = 'http';

  constructor(
    private readonly worker: string,
    private readonly clock: NodeClock,
    private readonly cluster: Cluster,
  ) {}

  async execute(request: ExecutorRequest, signal: AbortSignal): Promise<Outcome | Delivered> {
    const { executionId, taskId, slot, attempt, timeoutMs } = request;
    const { worker, cluster } = this;
    const { journal, time, openCalls } = cluster;
    const claim = cluster.claimOf(executionId, worker);
    const call = { executionId, taskId, worker, attempt };
    journal.add({ kind: 'call', node: worker, executionId, taskId, slot, attempt, ...claim });
    openCalls.add(call);
    cluster.broker.watch.calls.began(call, time.now());
    const { ms, outcome } = this.target(request);
    await sleepOn(time, Math.min(ms, timeoutMs), signal);
    openCalls.delete(call);
    const ended = ms > timeoutMs ? timedOut() : outcome;
    const result = signal.aborted ? failed(signal.reason as StopReason) : ended;
    const text = ('reason' in result ? result.reason : null) ?? result.status;
    journal.add({ kind: 'answer', node: worker, executionId, attempt, text });
    await this.clock.awake();
    return result;
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }

  private target(request: ExecutorRequest): { readonly ms: number; readonly outcome: Outcome | Delivered } {
    const { callees } = this.cluster;
    if (request.receipt === null) return callees.answer(request);
    const { ms, receipts } = callees.delivery(request);
    callees.tokens.add(hash.of(request.receipt.token));
    for (const sending of receipts ?? []) this.send(request, request.receipt.token, sending);
    if (receipts === null) return { ms, outcome: failed('http_status') };
    return { ms, outcome: { status: 'delivered', evidence: {} } };
  }

  private send(
    of: Pick<ExecutorRequest, 'executionId' | 'attempt'>,
    token: string,
    { afterMs, says }: Sending,
    tries = 1,
  ): void {
    const { executionId, attempt } = of;
    const { callees, time, journal } = this.cluster;
    callees.sending += 1;
    time.schedule(afterMs, () => {
      callees.sending -= 1;
      const { receipts } = this.cluster.broker.watch;
      void receipts.post(executionId, hash.of(token), { kind: says, message: null }).then((text) => {
        journal.add({ kind: 'receipt', executionId, attempt, says, text });
        if (text !== 'unknown' || tries >= POSTS.most) return;
        this.send(of, token, { afterMs: POSTS.everyMs, says }, tries + 1);
      });
    });
  }
}
