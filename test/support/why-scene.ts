import { W3cTracer } from '../../src/adapters/telemetry/w3c-tracer.js';
import { decideBatch } from '../../src/application/coordinator/decide-batch.js';
import { type Explanation, ExplainSlot } from '../../src/application/history/explain-slot.js';
import { RunReports } from '../../src/application/worker/run-reports.js';
import { AxError } from '../../src/domain/errors.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { createTask, isBroken, reviseTask, type Task, type TaskDefinition } from '../../src/domain/task.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { type RunState } from '../../src/ports/queue.js';
import { type WorkerAnnouncement } from '../../src/ports/worker-registry.js';
import { cronSchedule, definition } from '../unit/domain/definition.js';
import { BASE } from './builders.js';
import { definitionOf } from './calendars.js';
import { ClockIds } from './clock-ids.js';
import { openMemoryStore } from './memory-store/memory-store.js';
import { buildWorker } from './pools.js';
import { auditOf, type Store } from './store.js';

export const MINUTE = 60_000;
/** The first slot of the scene's task, 08:05 in its zone; the task is made five minutes before, at `BASE`. */
export const SLOT = BASE + 5 * MINUTE;
/** Shanghai shows this at `SLOT` and afterwards. */
export const SAID = '2026-01-05 08:05:00 +08:00';

/** One task that is due every five minutes, decided by ax's own rules over a store in memory, and a queue and workers that say what they are told to say. */
export class WhyScene {
  /** What the queue says of every run. */
  runState: RunState = 'queued';
  depth = 1;
  workers: readonly WorkerAnnouncement[] = [buildWorker()];
  /** `silent`: asked, and never answers. */
  redis: 'here' | 'away' | 'silent' = 'here';
  /** Runs when the queue was asked. */
  onAsked: () => Promise<unknown> = async () => undefined;
  private readonly ids: ClockIds;
  private readonly explainSlot: ExplainSlot;

  private constructor(readonly store: Store) {
    this.ids = new ClockIds(store.clock);
    const { history, tasks, executions, clock } = store;
    const live = {
      queue: {
        states: async (keys: readonly unknown[]) => {
          const states = await this.answer(keys.map(() => this.runState));
          await this.onAsked();
          return states;
        },
        depth: () => this.answer(this.depth),
      },
      registry: { list: () => this.answer([...this.workers]) },
      queueLimit: 100,
    };
    this.explainSlot = new ExplainSlot({ history, tasks, executions, clock, live });
  }

  static async open(overrides: Partial<TaskDefinition> = {}): Promise<WhyScene> {
    const scene = new WhyScene(await openMemoryStore());
    const schedule = cronSchedule('*/5 * * * *', 'Asia/Shanghai');
    const task = createTask('task', definition({ schedule, ...overrides }), BASE);
    await storeCalendar(scene.store, task);
    await scene.store.tasks.insert(task, scene.audit('task.create', null, task));
    return scene;
  }

  at(instant: number): this {
    this.store.clock.set(instant);
    return this;
  }

  why(at: number | null = SLOT, taskId = 'task'): Promise<Explanation> {
    return this.explainSlot.explain(taskId, at);
  }

  async edit(overrides: Partial<TaskDefinition>): Promise<void> {
    const now = this.store.clock.now();
    await this.store.tasks.update('task', null, (current) => {
      if (isBroken(current)) throw new Error(current.error);
      const task = reviseTask(current, { ...current, ...overrides }, now);
      return { task, audit: this.audit('task.update', current, task) };
    });
  }

  async delete(): Promise<void> {
    await this.store.tasks.delete('task', null, (task) => this.audit('task.delete', task as Task, null));
  }

  /** Decides what is due, as the tick does. The newest event that was fired. */
  async tick(): Promise<TriggerEvent> {
    const now = this.store.clock.now();
    const context = {
      ...{ now, node: 'coordinator-1', queueEpoch: 'epoch-1', ids: this.ids, tracer: new W3cTracer() },
      backlog: { holdUntil: () => null },
      hasTime: () => true,
    };
    const request = { now, limit: 10, mayCommit: () => true };
    const { recorded } = await this.store.triggers.decideDue(request, (due) => decideBatch(due, context));
    return recorded.at(-1)?.event as TriggerEvent;
  }

  /** Fires the slot, a moment after it. */
  fire(): Promise<TriggerEvent> {
    return this.at(SLOT + 12).tick();
  }

  /** What the worker of a run reports; its claim comes first. */
  async run(event: TriggerEvent): Promise<RunReports> {
    const { id: executionId, taskId } = event;
    const reports = new RunReports({ executionId, taskId, generation: 1, worker: 'worker-1/1' }, 0);
    const claimed = reports.claimed(event.firedAt + 5, event.firedAt + 2);
    reports.firstAttempt();
    await this.apply(claimed);
    return reports;
  }

  apply(...reports: ExecutionReport[]): Promise<void> {
    return this.store.executions.apply(reports);
  }

  private audit(action: string, before: Task | null, after: Task | null) {
    return { at: this.store.clock.now(), actor: 'tester', action, subject: 'task', before, after };
  }

  private async answer<T>(value: T): Promise<T> {
    if (this.redis === 'away') throw new AxError('unavailable', 'Redis is away');
    return this.redis === 'silent' ? new Promise<never>(() => undefined) : value;
  }
}

/** What a task's schedule refers to. */
async function storeCalendar({ calendars }: Store, { schedule }: Task): Promise<void> {
  if (schedule.type !== 'cron' || schedule.calendar === null) return;
  const calendar = definitionOf(schedule.calendar.days.calendar);
  await calendars.insert(calendar, ({ name }) => auditOf(name, 'calendar.create'));
}
