import { type Outcome } from '../../src/domain/execution.js';
import { type Executor, type ExecutorRequest, type StopReason } from '../../src/ports/executor.js';
import { failed, succeeded, timedOut } from '../support/scripted-executor.js';
import { Chance } from './chance.js';
import { type Journal } from './journal.js';
import { type NodeClock } from './node-clock.js';
import { sleepOn } from './sleep-on.js';
import { type VirtualTime } from './virtual-time.js';

/** What the target of a task does, by seed, task, slot and attempt alone, so that other faults do not change it. */
export class Callees {
  mood: 'well' | 'fail' | 'slow' = 'well';
  /** Calls that have not ended. */
  open = 0;

  constructor(private readonly seed: string) {}

  /** How long it takes, and what comes of it. */
  answer({ taskId, slot, attempt }: ExecutorRequest): { readonly ms: number; readonly outcome: Outcome } {
    const chance = new Chance(`${this.seed}/${taskId}/${slot}/${attempt}`);
    const isShort = chance.is(0.7);
    const ms = isShort ? chance.int(1, 900) : chance.int(900, 25_000);
    const isFailure = this.mood === 'fail' || chance.is(0.08);
    return {
      ms: this.mood === 'slow' ? ms * 4 : ms,
      outcome: isFailure ? failed('http_status') : succeeded(),
    };
  }
}

/** The executor of one worker. A callee goes on while the worker is stopped; its answer arrives when the worker goes on. */
export class SimulatedExecutor implements Executor {
  readonly type = 'http';

  constructor(
    private readonly worker: {
      readonly name: string;
      readonly clock: NodeClock;
      readonly claimOf: (executionId: string) => { readonly generation: number; readonly life: number };
    },
    private readonly time: VirtualTime,
    private readonly callees: Callees,
    private readonly journal: Journal,
  ) {}

  async execute(request: ExecutorRequest, signal: AbortSignal): Promise<Outcome> {
    const { executionId, taskId, slot, attempt, timeoutMs } = request;
    const node = this.worker.name;
    const call = { node, executionId, taskId, slot, attempt, ...this.worker.claimOf(executionId) };
    this.journal.add({ kind: 'call', ...call });
    const { ms, outcome } = this.callees.answer(request);
    this.callees.open += 1;
    await sleepOn(this.time, Math.min(ms, timeoutMs), signal);
    this.callees.open -= 1;
    const ended = ms > timeoutMs ? timedOut() : outcome;
    const result = signal.aborted ? failed(signal.reason as StopReason) : ended;
    this.journal.add({ kind: 'answer', node, executionId, attempt, text: result.reason ?? result.status });
    await this.worker.clock.awake();
    return result;
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }
}
