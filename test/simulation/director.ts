import { DEFAULT_CRON } from '../../src/domain/cron.js';
import { NO_HOOKS } from '../../src/domain/hooks.js';
import { type TaskDefinition } from '../../src/domain/task.js';
import { intervalAnchor, type Schedule } from '../../src/domain/schedule.js';
import { messageOf } from '../../src/domain/errors.js';
import { BASE } from '../support/builders.js';
import { calendarOf } from './calendars.js';
import { type Cluster } from './cluster.js';
import { type Machine } from './machine.js';
import { type Plan, type Spec, type Step } from './plan.js';

const ACTOR = { name: 'someone', traceparent: null };

/** Lets the steps of a plan happen to a cluster. */
export class Director {
  /** Events of manual runs that were promised to a caller. */
  readonly promised: string[] = [];
  /** Executions that somebody asked to cancel. */
  readonly cancelled = new Set<string>();
  private isOver = false;

  constructor(private readonly cluster: Cluster) {}

  async play({ steps, ms }: Plan): Promise<void> {
    const { time } = this.cluster;
    for (const machine of this.cluster.machines.values()) machine.start();
    for (const step of steps) {
      await time.pass(Math.max(0, step.at - time.monotonicMs()));
      this.happen(step);
    }
    await time.pass(Math.max(0, ms - time.monotonicMs()));
  }

  /** Every fault ends, every process runs again. */
  heal(): void {
    const { cluster } = this;
    this.isOver = true;
    cluster.failCommits(null);
    cluster.copier.isOn = false;
    cluster.callees.mood = 'well';
    for (const machine of cluster.machines.values()) {
      machine.heal();
      machine.start();
    }
  }

  async disableAll(): Promise<void> {
    for (const { id, isEnabled } of (
      await this.cluster.tasks.list({}, { size: 100, cursor: null, offset: 0 })
    ).items)
      if (isEnabled) await this.machine('c1').api?.manage.toggle(id, null, false, ACTOR);
  }

  private happen(step: Step): void {
    const { cluster } = this;
    if ('node' in step && !cluster.machines.has(step.node)) return;
    const { journal, time } = cluster;
    journal.add({ kind: 'step', text: JSON.stringify({ ...step, at: undefined }) });
    const later = (ms: number, undo: () => void) =>
      time.schedule(ms, () => {
        if (!this.isOver) undo();
      });
    switch (step.do) {
      case 'create':
      case 'edit':
      case 'toggle':
      case 'delete':
      case 'run':
        return void this.ask(step);
      case 'cancel':
        return void this.cancel(step);
      case 'crash': {
        const machine = this.machine(step.node);
        return machine.roads.set(step.trap, () => {
          machine.crash();
          later(step.ms, () => machine.start());
        });
      }
      case 'pause': {
        const machine = this.machine(step.node);
        return machine.roads.set(step.trap, () => {
          machine.clock.pause();
          later(step.ms, () => machine.clock.resume());
        });
      }
      case 'restart': {
        const machine = this.machine(step.node);
        return void machine
          .stop()
          .then(() => time.schedule(this.isOver ? 0 : step.ms, () => machine.start()));
      }
      case 'cut':
      case 'mute': {
        const machine = this.machine(step.node);
        machine.setLink(step.side, step.do);
        return void later(step.ms, () => machine.setLink(step.side, 'passing'));
      }
      case 'slow': {
        const { slowMs } = this.machine(step.node).roads;
        slowMs[step.side] = step.mostMs;
        return void later(step.ms, () => (slowMs[step.side] = 0));
      }
      case 'step_clock':
        return this.machine(step.node).stepClock(step.byMs);
      case 'lose_queue':
        return cluster.loseQueue();
      case 'fail_over':
        return this.machine(step.node).roads.set(step.trap, () => void later(step.ms, cluster.replica()));
      case 'lose_lock':
        return cluster.loseLock();
      case 'fail_commits':
        cluster.failCommits(step);
        return void later(step.ms, () => cluster.failCommits(null));
      case 'copy_messages':
        cluster.copier.isOn = true;
        return void later(step.ms, () => (cluster.copier.isOn = false));
      case 'spoil_callees':
        cluster.callees.mood = step.how;
        return void later(step.ms, () => (cluster.callees.mood = 'well'));
    }
  }

  /** A user's wish, to a coordinator that runs; some get an error for an answer, as users do. */
  private async ask(step: Extract<Step, { task: string }>): Promise<void> {
    const api = this.apiAt(step.at);
    if (api === null) return;
    const { manage, run } = api;
    try {
      switch (step.do) {
        case 'create':
          return void (await manage.create(step.task, (createdAt) => definitionOf(step, createdAt), ACTOR));
        case 'edit':
          return void (await this.edit(manage, step));
        case 'toggle':
          return void (await manage.toggle(step.task, null, step.isEnabled, ACTOR));
        case 'delete':
          return await manage.delete(step.task, null, ACTOR);
        case 'run':
          this.promised.push((await run.run(step.task, { runKey: null }, ACTOR)).event.id);
      }
    } catch (error) {
      this.cluster.journal.add({ kind: 'step', text: `${step.do} ${step.task}: ${messageOf(error)}` });
    }
  }

  private async cancel({ at, place }: Extract<Step, { do: 'cancel' }>): Promise<void> {
    const { store, journal } = this.cluster;
    const { unended } = store;
    const id = unended[Math.round(place * (unended.length - 1))];
    const api = this.apiAt(at);
    if (id === undefined || api === null) return;
    this.cancelled.add(id);
    try {
      const { result, execution } = await api.cancel.cancel(id, ACTOR);
      if (result === 'requested') return;
      const text = `${result}, ${execution.status} ${execution.reason ?? ''}`;
      journal.add({ kind: 'told_end', executionId: id, text });
    } catch (error) {
      journal.add({ kind: 'step', text: `cancel ${id}: ${messageOf(error)}` });
    }
  }

  private apiAt(at: number): NonNullable<Machine['api']> | null {
    const apis = [...this.cluster.machines.values()].flatMap(({ api }) => (api === null ? [] : [api]));
    return apis[at % Math.max(1, apis.length)] ?? null;
  }

  /** Enabled or not, it stays so. */
  private async edit(
    manage: NonNullable<Machine['api']>['manage'],
    step: Extract<Step, { do: 'create' | 'edit' }>,
  ): Promise<void> {
    const current = await this.cluster.tasks.find(step.task);
    if (current === null) return;
    const { isEnabled } = current;
    await manage.replace(
      step.task,
      null,
      (createdAt) => ({ ...definitionOf(step, createdAt), isEnabled }),
      ACTOR,
    );
  }

  private machine(name: string): Machine {
    const machine = this.cluster.machines.get(name);
    if (machine === undefined) throw new Error(`there is no machine ${name}`);
    return machine;
  }
}

function definitionOf(
  { task, spec, at }: { task: string; spec: Spec; at: number },
  createdAt: number,
): TaskDefinition {
  return {
    name: task,
    group: 'default',
    schedule: scheduleOf(spec.timing, at, createdAt),
    executor: {
      type: 'http',
      url: 'http://127.0.0.1:9/',
      method: 'POST',
      headers: {},
      ack: spec.ack,
      signature: null,
    },
    params: null,
    policy: spec.policy,
    hooks: NO_HOOKS,
    pool: 'default',
    labels: {},
    owner: null,
    isEnabled: true,
  };
}

function scheduleOf(timing: Spec['timing'], at: number, createdAt: number): Schedule {
  switch (timing.type) {
    case 'interval':
      return {
        type: 'interval',
        everySec: timing.everySec,
        anchorAt: intervalAnchor(null, createdAt),
        startAt: null,
        endAt: null,
        jitterSec: 0,
      };
    case 'cron':
      return {
        type: 'cron',
        expr: `${timing.minutes.join(',')} * * * *`,
        timezone: 'UTC',
        ...DEFAULT_CRON,
        calendar: timing.leftOut === null ? null : calendarOf(timing.leftOut),
        startAt: null,
        endAt: null,
        jitterSec: 0,
      };
    case 'once':
      return { type: 'once', runAt: BASE + at + timing.inSec * 1000 };
  }
}
