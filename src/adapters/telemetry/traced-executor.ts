import { type Outcome } from '../../domain/execution.js';
import { type Clock } from '../../ports/clock.js';
import {
  type Delivered,
  type Executor,
  type ExecutorRequest,
  type StopReason,
} from '../../ports/executor.js';
import { stopwatch, type Tracer } from '../../ports/tracer.js';
import { callSpan } from './call-span.js';

/** An executor whose calls are spans of their own; it sends their contexts along. */
export class TracedExecutor implements Executor {
  readonly type: Executor['type'];

  constructor(
    private readonly executor: Executor,
    private readonly deps: { readonly tracer: Tracer; readonly clock: Clock },
  ) {
    this.type = executor.type;
  }

  async execute(request: ExecutorRequest, signal: AbortSignal): Promise<Outcome | Delivered> {
    const { tracer, clock } = this.deps;
    const parent = request.traceparent;
    const traceparent = tracer.child(parent);
    const times = stopwatch(clock);
    const outcome = await this.executor.execute({ ...request, traceparent }, signal);
    tracer.record(traceparent, times, () => ({ ...callSpan(request, outcome), parent }));
    return outcome;
  }

  async withdraw(request: ExecutorRequest, reason: StopReason | 'deadline'): Promise<void> {
    await this.executor.withdraw?.(request, reason);
  }

  close(): Promise<void> {
    return this.executor.close();
  }
}
