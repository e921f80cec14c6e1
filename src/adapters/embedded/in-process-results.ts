import { type ResultBatch, type Results } from '../../ports/results.js';
import { type InProcessState } from './in-process-state.js';
import { type LaneEntry } from './in-process-lane.js';
import { type ExecutionReport } from '../../domain/execution.js';

/** One lane of reports, which the claims of the same broker add to. */
export class InProcessResults implements Results {
  constructor(private readonly state: InProcessState) {}

  async take(request: Parameters<Results['take']>[0]): Promise<ResultBatch> {
    const { reports, reportArrivals } = this.state;
    const { max, reclaimAfterMs } = request;
    const look = () => {
      const entries: LaneEntry<ExecutionReport>[] = [];
      while (entries.length < max) {
        const entry = reports.take(reclaimAfterMs);
        if (entry === null) break;
        entries.push(entry);
      }
      return entries;
    };
    const entries = await reportArrivals.firstOf(look, () => reports.reclaimInMs(reclaimAfterMs), request);
    return { reports: entries.map(({ value }) => value), handles: entries.map(({ handle }) => handle) };
  }

  async acknowledge({ handles }: ResultBatch): Promise<void> {
    for (const handle of handles) this.state.reports.remove(handle);
  }

  async backlog(): Promise<{ depth: number; oldestAgeMs: number }> {
    const { reports } = this.state;
    return { depth: reports.size, oldestAgeMs: reports.oldestAgeMs() };
  }
}
