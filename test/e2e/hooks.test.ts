import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { type CalleeAnswer, reply } from '../support/callee-answers.js';
import { until } from '../support/until.js';

interface Detail {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly error_msg: string | null;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly attempts: readonly unknown[];
  readonly ledger: readonly { readonly kind: string; readonly detail: Readonly<Record<string, unknown>> }[];
}

/** Answers by turns, the last one over and over. */
function byTurns(...answers: CalleeAnswer[]): CalleeAnswer {
  let next = 0;
  return (socket, request) => answers[Math.min(next++, answers.length - 1)]?.(socket, request);
}

describe('Hooks, over the API of a real process', () => {
  let callee: Callee;
  let directory: string;
  let ax: AxProcess;
  beforeAll(async () => void (callee = await Callee.start()));
  afterAll(() => callee.close());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ax-hooks-'));
    ax = await serve();
    callee.requests.length = 0;
    for (const path of ['/run', '/ready', '/told']) callee.on(path, reply());
  });
  afterEach(async () => {
    await ax.stop();
    await rm(directory, { recursive: true });
  });

  const serve = () => AxProcess.serve({ AX_DATA_DIR: directory });
  const to = (path: string) => callee.requests.filter((request) => request.path === path);
  async function run(hooks: object): Promise<string> {
    const far = '2100-01-01T00:00:00Z';
    const task = { id: 'sync', name: 'Sync', schedule_type: 'once', run_at: far };
    const executor = { type: 'http', url: `${callee.origin}/run` };
    const created = await ax.api('POST', '/api/tasks', { ...task, executor, hooks });
    expect(created.status, JSON.stringify(created.json)).toBe(201);
    const { json } = await ax.api<{ execution_id: string }>('POST', '/api/tasks/sync/run');
    return json.execution_id;
  }
  const read = async (id: string) => (await ax.api<Detail>('GET', `/api/executions/${id}`)).json;
  /** The execution once its ledger has a line of this kind. */
  const once = (id: string, kind: string, withinMs = 30_000): Promise<Detail> =>
    until(
      kind,
      async () => {
        const detail = await read(id);
        return detail.ledger.some((line) => line.kind === kind) && detail;
      },
      withinMs,
    );

  it('a pre-hook that fails skips the run, with what the callee answered', async () => {
    callee.on('/ready', reply({ status: 503, body: 'stock is being counted' }));
    const id = await run({ pre: { type: 'http', url: `${callee.origin}/ready`, method: 'POST' } });
    const detail = await once(id, 'finished');
    expect(detail).toMatchObject({
      status: 'skipped',
      reason: 'precheck',
      error_msg: 'check 1 failed: answered 503',
      evidence: { http_status: 503, output_tail: 'stock is being counted' },
      attempts: [],
    });
    expect(to('/run')).toEqual([]);
    const [check] = to('/ready');
    expect(check?.headers).toMatchObject({ 'x-ax-hook': 'pre', 'idempotency-key': `${id}:pre:1` });
    expect(JSON.parse(check?.body ?? '')).toMatchObject({ hook: 'pre', execution_id: id, check: 1 });
  });

  it('a pre-hook that is tried again lets the run begin when it passes', async () => {
    callee.on('/ready', byTurns(reply({ status: 500 }), reply({ status: 500 }), reply()));
    const again = { on_fail: 'retry', retry_count: 5, retry_interval: 1 };
    const id = await run({ pre: { type: 'http', url: `${callee.origin}/ready`, ...again } });
    const detail = await once(id, 'finished');
    expect(detail).toMatchObject({ status: 'success', reason: null });
    expect(detail.attempts).toHaveLength(1);
    expect(detail.ledger.map(({ kind }) => kind).filter((kind) => kind.startsWith('precheck'))).toEqual([
      'precheck_failed',
      'precheck_failed',
      'precheck_passed',
    ]);
    expect([to('/ready').length, to('/run').length]).toEqual([3, 1]);
  });

  it('a run waits for the success of another task', async () => {
    const id = await run({ pre: { type: 'task_succeeded', task_id: 'load', within_sec: 60 } });
    expect(await once(id, 'finished')).toMatchObject({ status: 'skipped', reason: 'precheck' });
    const executor = { type: 'http', url: `${callee.origin}/load` };
    const load = {
      id: 'load',
      name: 'Load',
      schedule_type: 'once',
      run_at: '2100-01-01T00:00:00Z',
      executor,
    };
    await ax.api('POST', '/api/tasks', load);
    const first = await ax.api<{ execution_id: string }>('POST', '/api/tasks/load/run');
    await once(first.json.execution_id, 'finished');
    // What the queue knew dies with the process; the store still knows.
    await ax.stop();
    ax = await serve();
    const second = await ax.api<{ execution_id: string }>('POST', '/api/tasks/sync/run');
    expect(await once(second.json.execution_id, 'finished')).toMatchObject({ status: 'success' });
  });

  it('a post-hook is told of a failure over a killed coordinator and a callee that answers 500 twice', async () => {
    callee.on('/run', reply({ status: 503 }));
    callee.on('/told', byTurns(reply({ status: 500 }), reply({ status: 500 }), reply()));
    const target = { type: 'http', url: `${callee.origin}/told` };
    const id = await run({ post: { on: 'failure', target, retry_interval: 1 } });
    expect(await once(id, 'post_hook_failed')).toMatchObject({ status: 'fail', reason: 'http_status' });
    ax.signal('SIGKILL');
    await ax.exit();
    ax = await serve();
    // A try that was under way at the kill is made again after its lease.
    const detail = await once(id, 'post_hook_sent', 90_000);
    expect(detail).toMatchObject({ status: 'fail', reason: 'http_status' });
    expect(detail.ledger.filter(({ kind }) => kind.startsWith('post_hook')).length).toBeGreaterThanOrEqual(2);
    const told = to('/told');
    expect(told.length).toBeGreaterThanOrEqual(3);
    for (const { headers, body } of told) {
      expect(headers).toMatchObject({ 'idempotency-key': `${id}:post`, 'x-ax-hook': 'post' });
      expect(JSON.parse(body)).toMatchObject({ execution_id: id, task_id: 'sync', status: 'fail' });
    }
    expect(to('/run')).toHaveLength(1);
  }, 150_000);

  it('a post-hook is not told of what it does not ask for', async () => {
    const target = { type: 'http', url: `${callee.origin}/told` };
    const id = await run({ post: { on: 'failure', target } });
    expect(await once(id, 'finished')).toMatchObject({ status: 'success' });
    await ax.stop();
    expect(to('/told')).toEqual([]);
  });
});
