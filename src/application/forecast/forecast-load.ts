import { AxError, InvalidInput } from '../../domain/errors.js';
import { MINUTE_MS } from '../../domain/forecast/beats.js';
import { Forecast, type ForecastTask } from '../../domain/forecast/forecast.js';
import { targetOf } from '../../domain/forecast/target-of.js';
import { isBroken, type Task } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type DurationRepo } from '../../ports/duration-repo.js';
import { type TaskRepo } from '../../ports/task-repo.js';

const DAY_MS = 86_400_000;
export const MAX_RANGE_DAYS = 31;
/** Runs whose durations count: the latest of each way to end, and none older. */
const SAMPLE = 20;
const SAMPLE_AGE_MS = 31 * DAY_MS;
/** A task without past runs is taken to run for so long, or for its `timeout_sec` if that is shorter. */
export const ASSUMED_SEC = 30;
const TASKS_PER_READ = 1000;
/** After so much work others get their turn: less than a tick may be late. */
const SLICE_MS = 10;

export interface ForecastRequest {
  /** Epoch ms. */
  readonly from?: number;
  readonly to?: number;
  readonly group?: string;
}

export interface LoadForecast {
  readonly forecast: Forecast;
  readonly tasks: number;
  /** How many of them have no past runs. */
  readonly assumed: number;
  /** Enabled, but stored in a way that cannot be read. */
  readonly broken: number;
}

/** Says what the schedules of the enabled tasks, as they are now, will come to. */
export class ForecastLoad {
  private isBusy = false;

  constructor(
    private readonly deps: {
      readonly tasks: Pick<TaskRepo, 'list'>;
      readonly durations: DurationRepo;
      readonly clock: Clock;
    },
    /** Of one call: tasks, and minutes in which a task starts or runs, over all tasks. */
    private readonly limits: { readonly maxTasks: number; readonly maxSteps: number },
  ) {}

  /**
   * From the minute of `from` (default now) to the end of that of `to` (default a day later).
   * @throws InvalidInput on `from`, `to` or `group`; AxError `conflict` while another call of this node goes on; `unavailable`.
   */
  async forecast(request: ForecastRequest): Promise<LoadForecast> {
    const range = this.rangeOf(request);
    if (this.isBusy)
      throw new AxError('conflict', 'another forecast is being made; repeat this one when it has ended');
    this.isBusy = true;
    try {
      const { tasks, broken } = await this.readTasks(request.group);
      const forecast = new Forecast(range, await this.withDurations(tasks));
      await this.compute(forecast);
      const assumed = forecast.tasks.filter(({ isAssumed }) => isAssumed).length;
      return { forecast, tasks: tasks.length, assumed, broken };
    } finally {
      this.isBusy = false;
    }
  }

  private rangeOf(request: ForecastRequest) {
    const from = request.from ?? this.deps.clock.now();
    const to = request.to ?? from + DAY_MS;
    if (from >= to) throw InvalidInput.of('from', 'is not before to', 'give an instant before to');
    if (to - from > MAX_RANGE_DAYS * DAY_MS) {
      const fix = `give from and to at most ${MAX_RANGE_DAYS} days apart`;
      throw InvalidInput.of('to', `is more than ${MAX_RANGE_DAYS} days after from`, fix);
    }
    const begin = Math.floor(from / MINUTE_MS) * MINUTE_MS;
    return { begin, minutes: Math.ceil((to - begin) / MINUTE_MS) };
  }

  private async readTasks(group: string | undefined) {
    const { maxTasks } = this.limits;
    const filter = { isEnabled: true, ...(group === undefined ? {} : { group }) };
    const tasks: Task[] = [];
    let broken = 0;
    let cursor: string | null = null;
    do {
      const page = await this.deps.tasks.list(filter, { size: TASKS_PER_READ, cursor, offset: 0 });
      for (const task of page.items) {
        if (isBroken(task)) broken++;
        else tasks.push(task);
      }
      if (tasks.length > maxTasks) {
        const problem = `takes in more than ${maxTasks} enabled tasks`;
        throw InvalidInput.of('group', problem, 'name one group with fewer tasks');
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    return { tasks, broken };
  }

  private async withDurations(tasks: readonly Task[]): Promise<ForecastTask[]> {
    const ids = tasks.map(({ id }) => id);
    const since = this.deps.clock.now() - SAMPLE_AGE_MS;
    const durations = await this.deps.durations.p95(ids, { since, sample: SAMPLE });
    return tasks.map((task) => {
      const p95 = durations.get(task.id) ?? null;
      return {
        id: task.id,
        name: task.name,
        group: task.group,
        target: targetOf(task),
        schedule: task.schedule,
        maxConcurrent: task.policy.maxConcurrent,
        durationMs: p95 ?? Math.min(ASSUMED_SEC, task.policy.timeoutSec) * 1000,
        isAssumed: p95 === null,
      };
    });
  }

  private async compute(forecast: Forecast): Promise<void> {
    const { clock } = this.deps;
    let steps = 0;
    let sliceStart = clock.monotonicMs();
    for (const done of forecast.compute()) {
      steps += done;
      if (steps > this.limits.maxSteps) {
        const problem = 'and to are too far apart for so many starts and runs';
        throw InvalidInput.of('from', problem, 'give a shorter range, or name one group');
      }
      if (clock.monotonicMs() - sliceStart < SLICE_MS) continue;
      await clock.sleep(0);
      sliceStart = clock.monotonicMs();
    }
  }
}
