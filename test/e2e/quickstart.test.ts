import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AxProcess } from '../support/ax-process.js';
import { until } from '../support/until.js';

interface ExecutionJson {
  readonly id: string;
  readonly task_id: string;
  readonly status: string;
  readonly schedule_at: number;
  readonly range_end: number | null;
  readonly retry_times: number;
  readonly reason: string | null;
}

/** What `npm start` runs, after the build. */
describe('the quick start', () => {
  const running: AxProcess[] = [];
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ax-quickstart-'));
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((ax) => ax.stop()));
    await rm(dataDir, { recursive: true });
  });

  const start = async () => {
    const ax = await AxProcess.serve({ AX_DATA_DIR: dataDir }, '--examples', 'examples/quickstart.yaml');
    running.push(ax);
    return ax;
  };
  const executions = async (ax: AxProcess, query: string) =>
    (await ax.api<{ items: ExecutionJson[] }>('GET', `/api/executions?page_size=200&${query}`)).json.items;
  const succeeded = (ax: AxProcess, task: string) =>
    until(
      `a run of ${task} succeeds`,
      async () => (await executions(ax, `task_id=${task}&status=success`))[0],
      20_000,
    );

  it('fires its tasks, one of which fails first and is retried', async () => {
    const ax = await start();
    await succeeded(ax, 'hello');
    await succeeded(ax, 'tidy-up');
    expect((await succeeded(ax, 'flaky')).retry_times).toBe(1);
  }, 60_000);

  it('keeps tasks and history over a restart, with no slot lost or doubled', async () => {
    const first = await start();
    await succeeded(first, 'hello');
    first.signal('SIGINT');
    expect(await first.exit()).toBe(0);

    const second = await start();
    const before = (await executions(second, 'task_id=hello')).length;
    expect(before).toBeGreaterThan(0);
    const isSettled = (items: ExecutionJson[]) =>
      items.every(({ status }) => !['pending', 'running'].includes(status));
    const items = await until(
      'two more runs',
      async () => {
        const now = await executions(second, 'task_id=hello');
        return now.length >= before + 2 && isSettled(now) ? now : null;
      },
      30_000,
    );
    const slots = items.flatMap(({ schedule_at: from, range_end: to }) =>
      Array.from({ length: ((to ?? from) - from) / 5000 + 1 }, (_, i) => from + i * 5000),
    );
    const expected = Array.from({ length: slots.length }, (_, i) => Math.max(...slots) - i * 5000);
    expect(slots.toSorted((a, b) => b - a)).toEqual(expected);
  }, 90_000);

  it('refuses a data directory that another ax uses, and leaves that one alone', async () => {
    const ax = await start();
    const other = AxProcess.spawn(['serve'], {
      AX_DATA_DIR: dataDir,
      AX_HTTP_PORT: '0',
      AX_LOG_FORMAT: 'json',
    });
    expect(await other.exit()).not.toBe(0);
    expect(other.output()).toContain(dataDir);
    expect((await fetch(`${ax.address()}/readyz`)).status).toBe(200);
  }, 60_000);
});
