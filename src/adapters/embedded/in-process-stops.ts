import { type ExecutionReport } from '../../domain/execution.js';
import { type SlotKey } from '../../domain/trigger.js';
import { lastOutcomeOf } from '../../ports/last-outcomes.js';
import { type CancelAnswer, type CancelVerdicts, type StopRequest, type Stops } from '../../ports/stops.js';
import { newRun } from './in-process-runs.js';
import { type InProcessState } from './in-process-state.js';

/** Stops inside one process. */
export class InProcessStops implements Stops {
  constructor(private readonly state: InProcessState) {}

  async cancel(
    key: SlotKey & { readonly executionId: string },
    verdicts: CancelVerdicts,
  ): Promise<CancelAnswer> {
    const { runs, lines, stops } = this.state;
    const { taskId, executionId } = key;
    const found = runs.find(key);
    const run = found?.id === executionId ? found : undefined;
    if (run?.state === 'finished') return 'finished';
    if (run !== undefined && runs.isClaimLive(run)) {
      stops.ask(executionId, 'cancelled');
      return 'requested';
    }
    if (run !== undefined) {
      this.state.lane(run.pool).remove(run.handle);
      runs.unmark(taskId, executionId);
      lines.leave({ taskId, id: executionId });
      run.message = null;
      run.worker = null; // So that no claim takes this end for its own.
      runs.finish(key, run);
    } else if (found === undefined) {
      runs.finish(key, runs.put(key, newRun(executionId, '', '')));
    }
    stops.forget(executionId);
    const hasBegun = run !== undefined && run.attempt > 0;
    const outcome = hasBegun ? lastOutcomeOf(key.slot, verdicts.begun) : null;
    if (outcome !== null) this.state.lastOutcomes.noteOne(taskId, outcome);
    this.end(hasBegun ? verdicts.begun : verdicts.unbegun);
    this.state.advance(taskId);
    return 'ended';
  }

  subscribe(listener: (executionId: string, reason: StopRequest) => void): () => void {
    return this.state.stops.listen(listener);
  }

  private end(verdict: ExecutionReport): void {
    this.state.reports.add(verdict);
    this.state.reportArrivals.announce();
  }
}
