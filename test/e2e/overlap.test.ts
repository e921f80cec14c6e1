import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Cluster } from '../support/cluster.js';
import { until } from '../support/until.js';

const SLOTS = 8;
const RUN_MS = 3000;
const LONG_MS = 120_000;

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly schedule_at: number;
}

/** Counts, per task, the calls that are open; a call is over when it was answered or its caller has gone. */
class Target {
  /** Task → most calls at a time. */
  readonly peaks = new Map<string, number>();
  readonly called: string[] = [];
  /** Path → status of the answer and how long it takes. */
  readonly answers = new Map<string, { readonly status: number; readonly ms: number }>();
  private readonly open = new Map<string, number>();
  private readonly server: Server = createServer((request, response) => {
    void json(request).then((body) => {
      const { task_id: taskId, execution_id: id } = body as { task_id: string; execution_id: string };
      this.called.push(id);
      this.count(taskId, 1);
      response.on('close', () => this.count(taskId, -1));
      const { status, ms } = this.answers.get(request.url ?? '') ?? { status: 200, ms: 0 };
      const timer = setTimeout(() => response.writeHead(status).end(), ms);
      response.on('close', () => clearTimeout(timer));
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private count(taskId: string, by: number): void {
    const now = (this.open.get(taskId) ?? 0) + by;
    this.open.set(taskId, now);
    this.peaks.set(taskId, Math.max(now, this.peaks.get(taskId) ?? 0));
  }
}

describe('overlapping and cancelled runs on MySQL, Redis and two workers', () => {
  const target = new Target();
  let cluster: Cluster;
  let ax: AxProcess;
  let workers: AxProcess[];

  beforeAll(async () => {
    await target.start();
    target.answers.set('/slow', { status: 200, ms: RUN_MS });
    target.answers.set('/brief', { status: 200, ms: 400 });
    target.answers.set('/long', { status: 200, ms: LONG_MS });
    target.answers.set('/failing', { status: 500, ms: 0 });
    target.answers.set('/receipt', { status: 202, ms: 0 });
    cluster = await Cluster.create({ AX_CLAIM_TTL_MS: '3000', AX_DRAIN_SEC: '1' });
    ax = await cluster.serve('coordinator');
    workers = [await cluster.serve('worker'), await cluster.serve('worker')];
  }, 120_000);
  afterAll(async () => {
    await cluster.close();
    target.stop();
  });

  async function create(id: string, path: string, fields: object): Promise<void> {
    const executor = {
      type: 'http',
      url: target.url(path),
      ...(path === '/receipt' ? { ack: 'receipt' } : {}),
    };
    const times = { schedule_type: 'interval', interval: 86_400, timeout_sec: 600 };
    const { status, json: body } = await ax.api('POST', '/api/tasks', {
      id,
      name: id,
      ...times,
      executor,
      ...fields,
    });
    expect(status, JSON.stringify(body)).toBe(201);
  }
  async function run(id: string): Promise<string> {
    return (await ax.api<{ execution_id: string }>('POST', `/api/tasks/${id}/run`)).json.execution_id;
  }
  const find = async (id: string) => (await ax.api<Shown>('GET', `/api/executions/${id}`)).json;
  const reaches = (id: string, status: string) =>
    until(`${id} is ${status}`, async () => (await find(id)).status === status, 60_000);
  const all = async (taskId: string) =>
    (
      await ax.api<{ items: Shown[] }>('GET', `/api/executions?task_id=${taskId}&page_size=100`)
    ).json.items.toReversed();
  async function cancel(id: string) {
    const { status, json: body } = await ax.api<{ result: string; execution: Shown }>(
      'POST',
      `/api/executions/${id}/cancel`,
    );
    return { status, result: body.result, end: `${body.execution.status} ${body.execution.reason}` };
  }

  it('max_concurrent 1, runs of 3 s, a slot a second: never two at a time, and a verdict for every slot', async () => {
    const start = Math.ceil(Date.now() / 1000) * 1000 + 2000;
    const policies = ['skip', 'queue', 'replace'];
    for (const overlap_policy of policies) {
      await create(overlap_policy, '/slow', {
        ...{ interval: 1, start_at: start, end_at: start + (SLOTS - 1) * 1000, overlap_policy },
      });
    }
    const verdicts: Record<string, string[]> = {};
    for (const policy of policies) {
      await until(
        () => `a verdict for every slot of ${policy}: ${JSON.stringify(verdicts[policy])}`,
        async () => {
          const found = (await all(policy)).sort((a, b) => a.schedule_at - b.schedule_at);
          verdicts[policy] = found.map(({ status, reason }) => `${status} ${reason}`);
          return found.length === SLOTS && found.every(({ status }) => /success|fail|skipped/.test(status));
        },
        90_000,
      );
    }
    expect(policies.map((policy) => target.peaks.get(policy))).toEqual([1, 1, 1]);
    expect(new Set(verdicts['skip'])).toEqual(new Set(['success null', 'skipped overlap']));
    expect(verdicts['queue']).toEqual(Array.from({ length: SLOTS }, () => 'success null'));
    expect(verdicts['replace']?.at(-1)).toBe('success null');
    const replaced = verdicts['replace']?.slice(0, -1) ?? [];
    expect(replaced.every((verdict) => ['fail replaced', 'skipped overlap'].includes(verdict))).toBe(true);
    const order = (await all('queue')).sort((a, b) => a.schedule_at - b.schedule_at).map(({ id }) => id);
    expect(target.called.filter((id) => order.includes(id))).toEqual(order);
  }, 150_000);

  it('slots of a second that reach a worker all at once, runs of 400 ms, policy skip: none is skipped', async () => {
    const start = Math.ceil(Date.now() / 1000) * 1000 + 1000;
    const end = start + (SLOTS - 1) * 1000;
    await create('bunched', '/brief', {
      ...{ interval: 1, start_at: start, end_at: end, window_sec: 600, pool: 'away' },
    });
    await until('all are fired', async () => (await all('bunched')).length === SLOTS, 60_000);
    await cluster.serve('worker', { AX_POOLS: 'away' });
    await until(
      'all to be success',
      async () => (await all('bunched')).every(({ status }) => status === 'success'),
      60_000,
    );
    const inOrder = (await all('bunched')).sort((a, b) => a.schedule_at - b.schedule_at).map(({ id }) => id);
    expect(target.called.filter((id) => inOrder.includes(id))).toEqual(inOrder);
    expect(target.peaks.get('bunched')).toBe(1);
    const { ledger } = (
      await ax.api<{ ledger: { kind: string }[] }>('GET', `/api/executions/${inOrder.at(-1)}`)
    ).json;
    expect(ledger.map(({ kind }) => kind)).toContain('waiting');
  }, 150_000);

  it('a cancel ends a run in every state, for good', async () => {
    await create('unserved', '/long', { pool: 'nobody' });
    await create('line', '/long', { overlap_policy: 'queue' });
    await create('retrying', '/failing', { idempotent: true, retry_count: 3, retry_interval: 600 });
    await create('awaiting', '/receipt', {});
    const queued = await run('unserved');
    const running = await run('line');
    await reaches(running, 'running');
    const waiting = await run('line');
    await until('it waits', async () => {
      const { ledger } = (await ax.api<{ ledger: { kind: string }[] }>('GET', `/api/executions/${waiting}`))
        .json;
      return ledger.some(({ kind }) => kind === 'waiting');
    });
    const retrying = await run('retrying');
    await reaches(retrying, 'retrying');
    const awaiting = await run('awaiting');
    await until('it was delivered', () => target.called.includes(awaiting));
    expect(await cancel(queued)).toEqual({ status: 200, result: 'cancelled', end: 'skipped cancelled' });
    expect(await cancel(waiting)).toEqual({ status: 200, result: 'cancelled', end: 'skipped cancelled' });
    for (const id of [running, retrying, awaiting])
      expect(await cancel(id)).toEqual({ status: 200, result: 'cancelled', end: 'fail cancelled' });
    expect((await cancel(running)).result).toBe('already_ended');
    expect(target.called).not.toContain(waiting);
    const next = await run('line');
    await reaches(next, 'running'); // The place is free again.
    expect((await cancel(next)).result).toBe('cancelled');
  }, 120_000);

  it('marks of workers that were killed free themselves, and the line goes on, two at a time', async () => {
    await create('killed', '/long', { max_concurrent: 2, overlap_policy: 'queue' });
    const runs: string[] = [];
    for (let i = 0; i < 5; i += 1) runs.push(await run('killed'));
    await until('two run', () => runs.filter((id) => target.called.includes(id)).length === 2);
    for (const worker of workers) worker.signal('SIGKILL');
    target.answers.set('/long', { status: 200, ms: 500 });
    await cluster.serve('worker');
    const ends = async () =>
      (await Promise.all(runs.map(find))).map(({ status, reason }) => `${status} ${reason}`);
    await until(
      'all have ended',
      async () => (await ends()).every((end) => !/pending|running/.test(end)),
      60_000,
    );
    const [first, second, ...rest] = await ends();
    expect([first, second]).toEqual(['fail outcome_unknown', 'fail outcome_unknown']);
    expect(rest).toEqual(['success null', 'success null', 'success null']);
    expect(target.peaks.get('killed')).toBe(2);
  }, 120_000);
});
