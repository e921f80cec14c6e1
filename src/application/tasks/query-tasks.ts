import { AxError } from '../../domain/errors.js';
import { calendarWarnings } from '../../domain/calendar-warnings.js';
import { fireAt } from '../../domain/jitter.js';
import { scheduleWords, type ScheduleWords } from '../../domain/schedule-words.js';
import { FireTimes, type Schedule } from '../../domain/schedule.js';
import { type BrokenTask, isBroken, type Task } from '../../domain/task.js';
import { TaskSlots } from '../../domain/timetable.js';
import { type Clock } from '../../ports/clock.js';
import { type Page, type PageRequest, type TaskFilter, type TaskRepo } from '../../ports/task-repo.js';
import { brokenTask } from './manage-tasks.js';
import { previewSchedule, type SchedulePreview } from './preview-schedule.js';

/** Reads tasks and their coming fire times. */
export class QueryTasks {
  constructor(private readonly deps: { readonly tasks: TaskRepo; readonly clock: Clock }) {}

  /** @throws AxError `not_found`. */
  async find(id: string): Promise<Task | BrokenTask> {
    const task = await this.deps.tasks.find(id);
    if (task === null) throw new AxError('not_found', `there is no task ${id}`);
    return task;
  }

  async list(filter: TaskFilter, page: PageRequest): Promise<Page<Task | BrokenTask>> {
    return this.deps.tasks.list(filter, page);
  }

  /**
   * The next `n` slots after now that fire, and when they do with their jitter, epoch ms, as the schedule stands; also for a disabled task, which would fire then if enabled.
   * @throws AxError `not_found`, `conflict` (the stored task is broken).
   */
  async nextFires(
    id: string,
    n: number,
  ): Promise<{ task: Task; fires: { slot: number; firesAt: number }[] }> {
    const task = await this.find(id);
    if (isBroken(task)) throw brokenTask(task);
    const slots = new TaskSlots({ schedule: task.schedule, former: [] }, new FireTimes());
    const fires: { slot: number; firesAt: number }[] = [];
    let slot = slots.nextFiring(this.deps.clock.now());
    while (slot !== null && fires.length < n) {
      fires.push({ slot, firesAt: fireAt(slots, id, slot) });
      slot = slots.nextFiring(slot);
    }
    return { task, fires };
  }

  /**
   * What a schedule means and its first `n` fire times after `from` (null: now). The draft makes it as of a task created now.
   * @throws InvalidInput.
   */
  preview(
    draft: (createdAt: number) => Schedule,
    { from, n, taskId }: { readonly from: number | null; readonly n: number; readonly taskId: string | null },
  ): SchedulePreview {
    const now = this.deps.clock.now();
    return previewSchedule(draft(now), { from: from ?? now, n, now, taskId });
  }

  /** What a schedule means, and what its owner should know of it now. */
  words(schedule: Schedule): ScheduleWords {
    const { description, warnings } = scheduleWords(schedule);
    return { description, warnings: [...warnings, ...calendarWarnings(schedule, this.deps.clock.now())] };
  }
}
