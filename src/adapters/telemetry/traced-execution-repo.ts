import { type ExecutionReport, isNotable, isTerminal } from '../../domain/execution.js';
import { type Clock } from '../../ports/clock.js';
import { type ExecutionRepo } from '../../ports/execution-repo.js';
import { type SpanTimes, stopwatch, type Tracer } from '../../ports/tracer.js';

interface TracedRepoDeps {
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** As the semantic conventions call it: `mysql`, `sqlite`. */
  readonly system: string;
}

/** An execution store in which the writing of a result is the last span of its run. Statements have none: they serve whole batches. */
export class TracedExecutionRepo implements ExecutionRepo {
  readonly find: ExecutionRepo['find'];
  readonly list: ExecutionRepo['list'];
  readonly adoptPending: ExecutionRepo['adoptPending'];
  readonly unsettled: ExecutionRepo['unsettled'];

  constructor(
    private readonly repo: ExecutionRepo,
    private readonly deps: TracedRepoDeps,
  ) {
    this.find = (id) => repo.find(id);
    this.list = (filter, page) => repo.list(filter, page);
    this.adoptPending = (recordedBefore) => repo.adoptPending(recordedBefore);
    this.unsettled = (request) => repo.unsettled(request);
  }

  async apply(reports: readonly ExecutionReport[]): Promise<void> {
    const stopped = stopwatch(this.deps.clock);
    await this.repo.apply(reports);
    const times = stopped();
    for (const report of reports) this.persisted(report, times, reports.length);
  }

  private persisted(report: ExecutionReport, times: SpanTimes, batchSize: number): void {
    const { traceparent: parent, status, executionId } = report;
    if (parent === undefined || !isTerminal(status)) return;
    const { tracer, system } = this.deps;
    if (isNotable(report)) tracer.keep(parent);
    tracer.record(
      tracer.child(parent),
      () => times,
      () => ({
        name: 'INSERT execution_log',
        kind: 'client',
        parent,
        attributes: {
          'db.system.name': system,
          'db.operation.name': 'INSERT',
          'db.collection.name': 'execution_log',
          'db.operation.batch.size': batchSize > 1 ? batchSize : undefined,
          'ax.execution.id': executionId,
          'ax.status': status,
        },
      }),
    );
    tracer.forget(parent);
  }
}
