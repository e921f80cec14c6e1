import { type Diagnosis, named, ok, problem } from '../../domain/diagnosis.js';
import { isBroken, type Task } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type Examination } from '../../ports/examination.js';
import { type TaskRepo } from '../../ports/task-repo.js';

const TASKS_PER_READ = 500;
/** A slot that is undecided so long after the end of its window is not only being decided. */
const GRACE_MS = 10_000;

/** Tasks that cannot be triggered, and tasks whose slots nobody decides. */
export class TaskExamination implements Examination {
  readonly part = 'tasks';

  constructor(
    private readonly deps: { readonly tasks: Pick<TaskRepo, 'list'>; readonly clock: Clock },
    /** Whether somebody should be deciding slots now. */
    private readonly isServed: boolean,
  ) {}

  async examine(): Promise<Diagnosis[]> {
    const { tasks, clock } = this.deps;
    const broken: string[] = [];
    const overdue: string[] = [];
    let count = 0;
    let oldest = Infinity;
    let cursor: string | null = null;
    do {
      const page = await tasks.list({}, { size: TASKS_PER_READ, cursor, offset: 0 });
      for (const task of page.items) {
        count++;
        if (isBroken(task) || task.error !== null) broken.push(`${task.id} (${task.error})`);
        else if (isOverdue(task, clock.now())) {
          overdue.push(task.id);
          oldest = Math.min(oldest, task.nextTriggerTime ?? Infinity);
        }
      }
      cursor = page.nextCursor;
      await clock.sleep(0);
    } while (cursor !== null);
    return [
      broken.length === 0
        ? ok('broken_tasks', `none of ${count} tasks`)
        : problem(
            'broken_tasks',
            `${broken.length} of ${count} tasks cannot be triggered: ${named(broken)}`,
            'mend each with PUT /api/tasks/{id}, or delete it',
          ),
      ...(this.isServed ? [overdueDiagnosis(overdue, oldest)] : []),
    ];
  }
}

function overdueDiagnosis(overdue: readonly string[], oldest: number): Diagnosis {
  if (overdue.length === 0) return ok('overdue_tasks', 'no slot waits beyond its window');
  const since = new Date(oldest).toISOString();
  return problem(
    'overdue_tasks',
    `${overdue.length} tasks have slots beyond their window that nobody decides, the oldest of ${since}: ${named(overdue)}`,
    'see the leader and the depth of the queue; ask GET /api/tasks/{id}/why for one of them',
  );
}

function isOverdue({ isEnabled, nextTriggerTime, schedule, policy }: Task, now: number): boolean {
  if (!isEnabled || nextTriggerTime === null) return false;
  const jitterSec = schedule.type === 'once' ? 0 : schedule.jitterSec;
  return nextTriggerTime + (jitterSec + policy.windowSec) * 1000 + GRACE_MS < now;
}
