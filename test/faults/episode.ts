import { setTimeout as pause } from 'node:timers/promises';
import { recordedEvents } from './evidence.js';
import { type Lane } from './lane.js';
import { type Measure, type Nemesis } from './nemesis.js';
import { type Call, type Expectation, type Judgement, judge, type RecordedEvent } from './rule.js';
import { type MixedTask, taskMix } from './task-mix.js';

const CALM_BEFORE_SEC = 4;
/** Time to create the tasks, on a machine that is busy. */
const CREATE_MS = 6000;
const SETTLE_MS = 60_000;

/** One nemesis against one mix of tasks, which are created before and have ended after. */
export class Episode {
  private readonly undecidable = new Map<string, { readonly from: number; until: number }>();
  private measure: Measure = { kind: 'none', at: 0 };

  private constructor(
    private readonly lane: Lane,
    readonly nemesis: Nemesis,
    private readonly prefix: string,
    private readonly tasks: readonly MixedTask[],
  ) {}

  /** Strikes in the middle of the mix, and waits until every slot is settled, or could have been. */
  static async run(lane: Lane, nemesis: Nemesis, number: number, calmAfterSec: number): Promise<Episode> {
    const startAt = Math.ceil(Date.now() / 1000) * 1000 + CREATE_MS;
    const endAt = startAt + (CALM_BEFORE_SEC + nemesis.seconds + calmAfterSec) * 1000;
    const prefix = `e${number}`;
    const tasks = taskMix(prefix, startAt, endAt, (workMs) => lane.callee.url(workMs));
    const episode = new Episode(lane, nemesis, prefix, tasks);
    await Promise.all(tasks.map(({ body }) => lane.api('POST', '/api/tasks', body)));
    if (Date.now() > startAt) throw new Error('the tasks were not created in time');
    await pause(startAt + (CALM_BEFORE_SEC - 2) * 1000 - Date.now());
    await episode.disableAndDelete();
    await pause(Math.max(0, startAt + CALM_BEFORE_SEC * 1000 + lane.random() * 1000 - Date.now()));
    episode.measure = await nemesis.strike(lane);
    await pause(Math.max(0, endAt - Date.now()));
    await episode.settle();
    return episode;
  }

  async judge(): Promise<Judgement> {
    return judge(
      this.tasks.map((task) => this.expectationOf(task)),
      await recordedEvents(this.lane, this.prefix),
      this.calls(),
    );
  }

  /** Ms; null when there was nothing to time. */
  async recoveryMs(): Promise<number | null> {
    const { kind, at } = this.measure;
    const calls = this.calls();
    switch (kind) {
      case 'next-slot':
        return nextSlotMs(this.tasks, calls, at);
      case 'dispatch':
        return dispatchMs(await recordedEvents(this.lane, this.prefix), calls, at);
      case 'rerun':
        return rerunMs(calls, at);
      case 'none':
        return null;
    }
  }

  private calls(): Call[] {
    return this.lane.callee.calls.filter(({ taskId }) => taskId.startsWith(`${this.prefix}-`));
  }

  private async disableAndDelete(): Promise<void> {
    const change = async (task: MixedTask, method: string, path: string, body?: unknown) => {
      // A slot of the last two seconds may not have been decided yet.
      const around = { from: Date.now() - 2000, until: Infinity };
      this.undecidable.set(task.id, around);
      await this.lane.api(method, `/api/tasks/${task.id}${path}`, body);
      around.until = Date.now();
    };
    await Promise.all(
      this.tasks.map(async (task) => {
        if (task.fate === 'disabled') await change(task, 'POST', '/toggle', { enabled: false });
        if (task.fate === 'deleted') await change(task, 'DELETE', '');
      }),
    );
  }

  private expectationOf({ id, isIdempotent, windowMs, slots }: MixedTask): Expectation {
    const around = this.undecidable.get(id) ?? { from: Infinity, until: Infinity };
    return {
      taskId: id,
      isIdempotent,
      windowMs,
      slots: new Set(slots.filter((slot) => slot < around.from)),
      undecidable: new Set(slots.filter((slot) => slot >= around.from && slot <= around.until)),
    };
  }

  private async settle(): Promise<void> {
    for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline; await pause(1000)) {
      const { findings } = await this.judge();
      if (!findings.some(({ breach, what }) => breach === 'open' || what === 'no event')) return;
    }
  }
}

function nextSlotMs(tasks: readonly MixedTask[], calls: readonly Call[], at: number): number | null {
  const waits = tasks.flatMap(({ id, slots, fate }) => {
    const next = slots.find((slot) => slot >= at);
    const arrivals = calls.filter((call) => call.taskId === id && call.slot >= at).map((call) => call.at);
    return fate !== 'stays' || next === undefined || arrivals.length === 0
      ? []
      : [Math.min(...arrivals) - next];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

function dispatchMs(events: readonly RecordedEvent[], calls: readonly Call[], at: number): number | null {
  const fresh = new Set(events.filter(({ firedAt }) => firedAt >= at).map(({ id }) => id));
  const arrivals = calls.filter(({ executionId }) => fresh.has(executionId)).map((call) => call.at - at);
  return arrivals.length === 0 ? null : Math.max(0, Math.min(...arrivals));
}

function rerunMs(calls: readonly Call[], at: number): number | null {
  const before = new Set(calls.filter((call) => call.at < at).map(({ executionId }) => executionId));
  const again = calls.filter((call) => call.at >= at && before.has(call.executionId));
  return again.length === 0 ? null : Math.max(...again.map((call) => call.at - at));
}
