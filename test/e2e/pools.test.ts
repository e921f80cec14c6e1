import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { Cluster } from '../support/cluster.js';
import { exposedBy, valueIn } from '../support/exposed.js';
import { until } from '../support/until.js';

const IDS = ['careful', 'repeatable'];

interface PoolStatus {
  readonly pool_status: { readonly live_workers: number; readonly problem: string | null };
}

describe('a pool that nobody serves', () => {
  let callee: Callee;
  let cluster: Cluster;
  let coordinator: AxProcess;
  beforeAll(async () => {
    callee = await Callee.start();
    cluster = await Cluster.create();
    coordinator = await cluster.serve('coordinator');
    await cluster.serve('worker', { AX_NODE_ID: 'of-default' });
  }, 120_000);
  afterAll(async () => {
    await cluster.close();
    await callee.close();
  });

  const metric = async (name: string) => valueIn(await exposedBy(coordinator), name);
  const measured = (name: string, value: number) =>
    until(`${name} is ${value}`, async () => (await metric(name)) === value, 60_000);
  const create = async (id: string) => {
    const answer = await coordinator.api<PoolStatus>('POST', '/api/tasks', {
      id,
      name: id,
      pool: 'batch',
      idempotent: id === 'repeatable',
      schedule_type: 'once',
      run_at: Date.now() + 1500,
      executor: { type: 'http', url: callee.origin },
    });
    expect(answer.status).toBe(201);
    return answer.json.pool_status;
  };
  const executionOf = async (id: string) => {
    const list = await coordinator.api<{ items: { id: string }[] }>('GET', `/api/executions?task_id=${id}`);
    const [first] = list.json.items;
    if (first === undefined) return null;
    return (await coordinator.api<PoolStatus & { status: string }>('GET', `/api/executions/${first.id}`))
      .json;
  };

  it('keeps the runs, says so everywhere, and runs each once when a worker of it comes', async () => {
    await until('a worker is known', async () => {
      const { json } = await coordinator.api<{ items: { node: string }[] }>('GET', '/api/workers');
      return json.items.some(({ node }) => node === 'of-default');
    });
    for (const id of IDS) {
      expect(await create(id)).toMatchObject({ live_workers: 0, problem: expect.any(String) as string });
    }
    for (const id of IDS) {
      const waiting = await until(`${id} was triggered`, () => executionOf(id));
      expect(waiting).toMatchObject({ status: 'pending', pool_status: { live_workers: 0 } });
    }
    await measured('ax_tasks_without_worker', 2);
    await measured('ax_pool_workers{pool="batch"}', 0);
    await measured('ax_pool_workers{pool="default"}', 1);
    await until(
      'the log tells it',
      () => coordinator.lines.some(({ pools }) => Array.isArray(pools) && pools.includes('batch/http')),
      60_000,
    );
    for (const id of IDS) expect(await executionOf(id)).toMatchObject({ status: 'pending' });
    expect(callee.requests).toEqual([]);

    await cluster.serve('worker', { AX_POOLS: 'batch' });
    for (const id of IDS) {
      await until(`${id} ran`, async () => (await executionOf(id))?.status === 'success', 60_000);
      expect(await executionOf(id)).toMatchObject({ pool_status: null });
      expect(await coordinator.api('GET', `/api/tasks/${id}`)).toMatchObject({
        json: { pool_status: { live_workers: 1, problem: null } },
      });
    }
    const called = callee.requests.map(({ body }) => (JSON.parse(body) as { task_id: string }).task_id);
    expect(called.toSorted()).toEqual(IDS);
    await measured('ax_tasks_without_worker', 0);
    await measured('ax_pool_workers{pool="batch"}', 1);
  }, 240_000);

  it('is one again when its worker stops, at once after an orderly stop', async () => {
    const worker = await cluster.serve('worker', { AX_POOLS: 'nightly', AX_NODE_ID: 'nightly' });
    const nodes = async () =>
      (await coordinator.api<{ items: { node: string }[] }>('GET', '/api/workers')).json.items.map(
        ({ node }) => node,
      );
    await until('it is known', async () => (await nodes()).includes('nightly'));
    await worker.stop();
    expect(await nodes()).not.toContain('nightly');
  }, 60_000);
});
