import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AxProcess } from '../support/ax-process.js';
import { processesWith } from '../support/shell-peer.js';
import { until } from '../support/until.js';

interface ExecutionJson {
  readonly id: string;
  readonly status: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly attempts: readonly { readonly evidence: Readonly<Record<string, unknown>> }[];
}

/** Shell tasks through a whole ax: from the API to the command and back. */
describe('a shell task', () => {
  const running: AxProcess[] = [];
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ax-shell-e2e-'));
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((ax) => ax.stop()));
    await rm(folder, { recursive: true });
  });

  const serve = async (env: Readonly<Record<string, string>>) => {
    const ax = await AxProcess.serve({ AX_DATA_DIR: folder, ...env });
    running.push(ax);
    return ax;
  };

  async function runOnce(ax: AxProcess, command: string): Promise<string> {
    const schedule = { schedule_type: 'once', run_at: '2100-01-01T00:00:00Z' };
    const executor = { type: 'shell', command, env: { FOLDER: folder } };
    const task = { id: 'job', name: 'Job', ...schedule, executor, params: { size: 3 } };
    expect((await ax.api('POST', '/api/tasks', task)).status).toBe(201);
    const { json } = await ax.api<{ execution_id: string }>('POST', '/api/tasks/job/run');
    return json.execution_id;
  }

  const read = async (ax: AxProcess, id: string) =>
    (await ax.api<ExecutionJson>('GET', `/api/executions/${id}`)).json;

  const ended = (ax: AxProcess, id: string) => {
    const isEnded = async () => {
      const execution = await read(ax, id);
      return ['success', 'fail', 'timeout'].includes(execution.status) ? execution : null;
    };
    return until('the run has ended', isEnded);
  };

  it('keeps the end of its output: all 64 KiB with the attempt, a part for lists', async () => {
    const ax = await serve({ AX_SHELL_ENABLED: 'true' });
    const id = await runOnce(ax, 'yes x | head -c 100000');
    const { status, evidence, attempts } = await ended(ax, id);
    expect(status).toBe('success');
    expect(evidence).toMatchObject({ exit_code: 0, stdout_bytes: 100_000, stderr_bytes: 0 });
    expect(String(evidence['stdout_tail'])).toHaveLength(4096);
    expect(String(attempts[0]?.evidence['stdout_tail'])).toHaveLength(65_536);
  });

  it("has none of the worker's settings in its environment", async () => {
    const ax = await serve({ AX_SHELL_ENABLED: 'true' });
    const { evidence } = await ended(ax, await runOnce(ax, 'env | cut -d= -f1 | sort | tr "\\n" " "; pwd'));
    expect(evidence['stdout_tail']).toMatch(
      /^AX_ATTEMPT AX_EXECUTION_ID AX_PARAMS AX_SCHEDULE_AT AX_TASK_ID FOLDER HOME LANG (_ )?PATH PWD (SHLVL )?TZ (_ )?\/tmp\n$/,
    );
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'is ended with its worker, that stops by %s',
    async (signal) => {
      const ax = await serve({ AX_SHELL_ENABLED: 'true', AX_DRAIN_SEC: '0', AX_KILL_GRACE_SEC: '1' });
      await runOnce(ax, "trap '' TERM; setsid sleep 1000 & sleep 1000");
      await until('it runs', () => processesWith(`FOLDER=${folder}`).length === 3);
      ax.signal(signal);
      expect(await ax.exit()).toBe(0);
      expect(processesWith(`FOLDER=${folder}`)).toEqual([]);
    },
    60_000,
  );

  it('is ended with a worker that does not wait for its runs', async () => {
    const ax = await serve({ AX_SHELL_ENABLED: 'true' });
    await runOnce(ax, 'sleep 1000 & sleep 1000');
    await until('it runs', () => processesWith(`FOLDER=${folder}`).length === 3);
    ax.signal('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 1200));
    ax.signal('SIGINT');
    expect(await ax.exit()).toBe(130);
    await until('nothing of it runs', () => processesWith(`FOLDER=${folder}`).length === 0);
  }, 60_000);
});
