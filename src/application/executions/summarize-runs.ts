import { AxError, InvalidInput } from '../../domain/errors.js';
import { RunStats, type RunTiming } from '../../domain/run-stats.js';
import { type Clock } from '../../ports/clock.js';
import { type DurationRepo } from '../../ports/duration-repo.js';
import { type TaskRepo } from '../../ports/task-repo.js';

const DAY_MS = 86_400_000;
export const MAX_RANGE_DAYS = 31;
/** Executions of one read, some 15 ms of work; others get their turn in between. */
const PAGE = 2000;

export interface RunSummary {
  /** When they were triggered, epoch ms; `to` is not in it. */
  readonly from: number;
  readonly to: number;
  readonly stats: RunStats;
}

/** Sums up what became of a task's executions: in pages, so that a task that fires every second takes no more memory than another. */
export class SummarizeRuns {
  /** Ends with the page that is being read: one at a time, so that many questions never take all connections. */
  private reading: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly deps: {
      readonly tasks: Pick<TaskRepo, 'find'>;
      readonly durations: Pick<DurationRepo, 'timings'>;
      readonly clock: Clock;
    },
  ) {}

  /**
   * `to` defaults to now and `from` to a day before `to`. Also of a deleted task, as long as it has executions in the range.
   * @throws InvalidInput on `from`; AxError `not_found`, `unavailable`.
   */
  async summarize(
    taskId: string,
    request: { readonly from?: number; readonly to?: number },
  ): Promise<RunSummary> {
    const range = this.rangeOf(request);
    const stats = new RunStats();
    let afterId: string | null = null;
    do {
      const page: RunTiming[] = await this.inTurn({ taskId, ...range, afterId, limit: PAGE });
      for (const timing of page) stats.take(timing);
      afterId = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
    } while (afterId !== null);
    if (stats.total === 0 && (await this.deps.tasks.find(taskId)) === null)
      throw new AxError('not_found', `there is no task ${taskId}`);
    return { ...range, stats };
  }

  private rangeOf(request: { readonly from?: number; readonly to?: number }) {
    const to = request.to ?? this.deps.clock.now();
    const from = request.from ?? to - DAY_MS;
    if (from >= to) throw InvalidInput.of('from', 'is not before to', 'give an instant before to');
    if (to - from > MAX_RANGE_DAYS * DAY_MS) {
      const fix = `give from and to at most ${MAX_RANGE_DAYS} days apart`;
      throw InvalidInput.of('from', `is more than ${MAX_RANGE_DAYS} days before to`, fix);
    }
    return { from, to };
  }

  private inTurn(request: Parameters<DurationRepo['timings']>[0]): Promise<RunTiming[]> {
    const { durations, clock } = this.deps;
    const page = this.reading.then(async () => {
      if (request.afterId !== null) await clock.sleep(0);
      return durations.timings(request);
    });
    this.reading = page.catch(() => undefined);
    return page;
  }
}
