import { AxError } from '../../domain/errors.js';
import {
  createTask,
  isBroken,
  reviseTask,
  type BrokenTask,
  type Task,
  type TaskDefinition,
} from '../../domain/task.js';
import { type AuditEntry } from '../../ports/audit.js';
import { type Clock } from '../../ports/clock.js';
import { type Ids } from '../../ports/ids.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type WorkerRegistry } from '../../ports/worker-registry.js';
import { type Wakeup } from '../../ports/wakeup.js';
import { type Actor } from '../actor.js';
import { assertShellAllowed, LiveWorkers } from '../pools/live-workers.js';

/** A definition whose anchor depends on when the task was created. */
export type TaskDraft = (createdAt: number) => TaskDefinition;

/** Create, replace, toggle and delete tasks; each change is audited with it and wakes the coordinators. */
export class ManageTasks {
  constructor(
    private readonly deps: {
      readonly tasks: TaskRepo;
      readonly wakeup: Wakeup;
      readonly clock: Clock;
      readonly ids: Ids;
      readonly registry: WorkerRegistry;
    },
  ) {}

  /** @throws InvalidInput with every problem; AxError `already_exists`, `unavailable`. */
  async create(id: string | null, draft: TaskDraft, actor: Actor): Promise<Task> {
    const now = this.deps.clock.now();
    const task = createTask(id ?? this.deps.ids.next(), draft(now), now);
    assertShellAllowed(task, await this.workersFor(task));
    await this.deps.tasks.insert(task, this.audit('task.create', actor, task.id, null, task));
    await this.deps.wakeup.notify();
    return task;
  }

  /** @throws InvalidInput; AxError `not_found`, `version_conflict`, `unavailable`. */
  async replace(id: string, expectedVersion: number | null, draft: TaskDraft, actor: Actor): Promise<Task> {
    const live = await this.workersFor(draft(this.deps.clock.now()));
    return this.change(id, expectedVersion, 'task.update', actor, (current, now) => {
      const task = reviseTask(current, draft(isBroken(current) ? now : current.createdAt), now);
      assertShellAllowed(task, live);
      return task;
    });
  }

  /**
   * Enables or disables; without `isEnabled` it turns to the other. What is so already is left as it is, without an audit entry.
   * @throws AxError `not_found`, `version_conflict`, `conflict`.
   */
  async toggle(
    id: string,
    expectedVersion: number | null,
    isEnabled: boolean | null,
    actor: Actor,
  ): Promise<Task> {
    return this.change(id, expectedVersion, 'task.toggle', actor, (current, now) => {
      if (isBroken(current)) throw brokenTask(current);
      const wanted = isEnabled ?? !current.isEnabled;
      return wanted === current.isEnabled
        ? current
        : reviseTask(current, { ...current, isEnabled: wanted }, now);
    });
  }

  /** @throws AxError `not_found`, `version_conflict`. */
  async delete(id: string, expectedVersion: number | null, actor: Actor): Promise<void> {
    await this.deps.tasks.delete(id, expectedVersion, (current) =>
      this.audit('task.delete', actor, id, current, null),
    );
    await this.deps.wakeup.notify();
  }

  /** Asked only where it decides: all other tasks can be written while the registry is away. */
  private async workersFor({ executor }: TaskDefinition): Promise<LiveWorkers> {
    return new LiveWorkers(executor.type === 'shell' ? await this.deps.registry.list() : []);
  }

  private async change(
    id: string,
    expectedVersion: number | null,
    action: string,
    actor: Actor,
    revise: (current: Task | BrokenTask, now: number) => Task,
  ): Promise<Task> {
    let isChanged = true;
    const task = await this.deps.tasks.update(id, expectedVersion, (current) => {
      const revised = revise(current, this.deps.clock.now());
      isChanged = revised !== current;
      return { task: revised, audit: isChanged ? this.audit(action, actor, id, current, revised) : null };
    });
    if (isChanged) await this.deps.wakeup.notify();
    return task;
  }

  private audit(action: string, actor: Actor, subject: string, before: unknown, after: unknown): AuditEntry {
    return { at: this.deps.clock.now(), actor: actor.name, action, subject, before, after };
  }
}

export const brokenTask = (task: BrokenTask): AxError =>
  new AxError('conflict', `task ${task.id} cannot be read (${task.error}); replace it with PUT first`);
