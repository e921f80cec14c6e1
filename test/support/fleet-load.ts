import { setTimeout as delay } from 'node:timers/promises';
import { type AxProcess } from './ax-process.js';
import { Callee } from './callee.js';
import { reply, stallHeaders, type CalleeAnswer } from './callee-answers.js';

/** Fields of a task that make up its part of the load. */
type Fields = Readonly<Record<string, unknown>>;

const EVERY_SECOND = { schedule_type: 'interval', interval: 1 };
const BY_HAND = { schedule_type: 'once', run_at: '2100-01-01T00:00:00Z' };

/** By turns, over and over. */
function byTurns(...answers: readonly CalleeAnswer[]): CalleeAnswer {
  let next = 0;
  return (socket, request) => answers[next++ % answers.length]?.(socket, request);
}

/**
 * A load with everything that runs can come to: success, failure, retries, timeouts, overlap, checks and post-hooks that fail, slow runs,
 * runs by hand, a pool without workers, and misfires when both coordinators are paused.
 */
export class FleetLoad {
  private readonly over = new AbortController();
  private runs: Promise<void> = Promise.resolve();

  private constructor(
    private readonly callee: Callee,
    private readonly coordinator: AxProcess,
  ) {}

  static async start(coordinator: AxProcess): Promise<FleetLoad> {
    const callee = await Callee.start();
    const load = new FleetLoad(callee, coordinator);
    const ok = reply({ delayMs: 5 });
    const url = (path: string, answer: CalleeAnswer) => callee.on(path, answer);
    const http = (path: string, answer: CalleeAnswer) => ({ type: 'http', url: url(path, answer) });
    const failing = reply({ status: 503 });
    const slow = reply({ delayMs: 1500 });
    const given = { type: 'http', url: url('/refuses', failing) };
    await load.post('/api/calendars', { name: 'known', holidays: ['2100-01-01'], known_until: '2100-12-31' });
    await Promise.all([
      // Fails, is tried again, times out, is slow, and overlaps: the task that the dashboard of one task is asked about.
      load.create('mixed', {
        ...EVERY_SECOND,
        executor: http('/mixed', byTurns(ok, failing, ok, slow, failing, failing, stallHeaders())),
        ...{ idempotent: true, retry_count: 1, retry_interval: 1, timeout_sec: 2, slow_after_sec: 1 },
        ...{ hooks: { post: { on: 'always', target: given, retry_count: 0 } }, window_sec: 1 },
      }),
      load.create('quick', { ...EVERY_SECOND, executor: http('/quick', ok), window_sec: 1 }),
      load.create('checked', {
        ...EVERY_SECOND,
        executor: http('/checked', ok),
        hooks: { pre: { type: 'http', url: url('/ready', byTurns(ok, failing)) } },
      }),
      load.create('relapsed', {
        ...BY_HAND,
        executor: http('/relapsed', byTurns(ok, failing, failing, failing)),
      }),
      load.create('stranded', { ...EVERY_SECOND, executor: http('/stranded', ok), pool: 'nowhere' }),
      load.create('timed', {
        ...BY_HAND,
        executor: http(
          '/timed',
          byTurns(...Array.from({ length: 15 }, (_, i) => reply({ delayMs: i === 7 ? 700 : 30 }))),
        ),
        max_concurrent: 100,
      }),
    ]);
    return load;
  }

  /** Runs a task by hand `times` times. */
  async run(task: string, times: number): Promise<void> {
    for (let i = 0; i < times; i++) await this.coordinator.api('POST', `/api/tasks/${task}/run`);
  }

  /** Runs by hand and other requests, until the load ends. */
  keepOn(): void {
    const { signal } = this.over;
    this.runs = (async () => {
      while (!signal.aborted) {
        await this.run('quick', 1);
        await this.coordinator.api('GET', '/api/tasks');
        await delay(250);
      }
    })();
  }

  async end(): Promise<void> {
    this.over.abort();
    await this.runs;
    await this.callee.close();
  }

  private create(id: string, fields: Fields): Promise<void> {
    return this.post('/api/tasks', { id, name: id, group: 'load', ...fields });
  }

  private async post(path: string, body: Fields): Promise<void> {
    const answer = await this.coordinator.api('POST', path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.json)}`);
  }
}
