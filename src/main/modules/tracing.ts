import { ContainerModule } from 'inversify';
import { TracedExecutionRepo } from '../../adapters/telemetry/traced-execution-repo.js';
import { TracedQueue } from '../../adapters/telemetry/traced-queue.js';
import { type Clock } from '../../ports/clock.js';
import { type Tracer } from '../../ports/tracer.js';
import { TOKENS as T } from '../tokens.js';

/** The queue and the store of a node that exports traces. `system`: what the store is. */
export const tracingModule = (deps: {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly system: 'mysql' | 'sqlite';
}) =>
  new ContainerModule(({ onActivation }) => {
    onActivation(T.queue, (_, queue) => new TracedQueue(queue, deps));
    onActivation(T.executions, (_, executions) => new TracedExecutionRepo(executions, deps));
  });
