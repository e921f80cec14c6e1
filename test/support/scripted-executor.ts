import { type Outcome } from '../../src/domain/execution.js';
import { type Clock } from '../../src/ports/clock.js';
import {
  type Delivered,
  type Executor,
  type ExecutorRequest,
  type StopReason,
} from '../../src/ports/executor.js';

export type Script = (
  request: ExecutorRequest,
  signal: AbortSignal,
) => Outcome | Delivered | Promise<Outcome | Delivered>;

export interface ScriptedCall {
  readonly request: ExecutorRequest;
  readonly startedAt: number;
  /** Null while it runs. */
  outcome: Outcome | Delivered | null;
}

/** Does what its script says, and keeps what it was asked. Succeeds at once unless told otherwise. */
export class ScriptedExecutor implements Executor {
  readonly type = 'http';
  readonly calls: ScriptedCall[] = [];
  /** Most calls that ever ran at the same time. */
  peak = 0;
  script: Script = () => succeeded();
  readonly withdrawn: (StopReason | 'deadline')[] = [];

  constructor(private readonly clock: Clock) {}

  get running(): number {
    return this.calls.filter(({ outcome }) => outcome === null).length;
  }

  async execute(request: ExecutorRequest, signal: AbortSignal): Promise<Outcome | Delivered> {
    const call: ScriptedCall = { request, startedAt: this.clock.now(), outcome: null };
    this.calls.push(call);
    this.peak = Math.max(this.peak, this.running);
    try {
      call.outcome = await this.script(request, signal);
    } catch (error) {
      call.outcome = failed('internal_error');
      throw error;
    }
    return call.outcome;
  }

  async withdraw(_: ExecutorRequest, reason: StopReason | 'deadline'): Promise<void> {
    this.withdrawn.push(reason);
  }

  async close(): Promise<void> {
    return Promise.resolve();
  }

  /** Takes `ms` and ends as `outcome`, or at once when it is stopped, as the port demands. */
  lasting(ms: number, outcome: Outcome = succeeded()): Script {
    return async (_, signal) => {
      await this.clock.sleep(ms, signal);
      return signal.aborted ? failed(signal.reason as StopReason) : outcome;
    };
  }
}

export const succeeded = (): Outcome => ({ status: 'success', reason: null, message: null, evidence: {} });

export const failed = (reason: Outcome['reason'] = 'http_status'): Outcome => ({
  status: 'fail',
  reason,
  message: `failed: ${reason}`,
  evidence: { http_status: 500 },
});

export const timedOut = (): Outcome => ({
  status: 'timeout',
  reason: 'deadline',
  message: 'no answer in time',
  evidence: {},
});
