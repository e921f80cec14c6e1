import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Cluster } from '../support/cluster.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { exposedBy, valueIn } from '../support/exposed.js';
import { until } from '../support/until.js';

const LEASE_MS = 2000;
const CUTS = 5;
/** Longer than a lease and a tick, so that another has to take over. */
const CUT_MS = 5000;
/** For two cores that others use as well. */
const SLACK_MS = 3000;

/** A process whose ways to MySQL and Redis can be filtered. */
interface Node {
  readonly ax: AxProcess;
  readonly ways: readonly TcpProxy[];
}

describe('packets that are dropped', () => {
  const calls: { readonly slot: number; readonly arrivedAt: number }[] = [];
  const proxies: TcpProxy[] = [];
  let callee: Server;
  let cluster: Cluster;

  beforeEach(async () => {
    calls.length = 0;
    callee = createServer((request, response) => {
      const arrivedAt = Date.now();
      void json(request).then((body) => {
        calls.push({ slot: (body as { schedule_at: number }).schedule_at, arrivedAt });
        response.end();
      });
    });
    await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
    cluster = await Cluster.create({ AX_LEASE_MS: String(LEASE_MS) });
  }, 60_000);

  afterEach(async () => {
    await cluster.close();
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
    callee.close();
  });

  async function serve(role: 'coordinator' | 'worker'): Promise<Node> {
    const [mysql, redis] = [
      await TcpProxy.start(inject('mysqlUrl')),
      await TcpProxy.start(inject('redisUrl')),
    ];
    proxies.push(mysql, redis);
    const ax = await cluster.serve(role, {
      AX_MYSQL_URL: mysql.through(cluster.env['AX_MYSQL_URL'] ?? ''),
      AX_REDIS_URL: redis.through(cluster.env['AX_REDIS_URL'] ?? ''),
    });
    return { ax, ways: [mysql, redis] };
  }

  async function create(ax: AxProcess, fields: object): Promise<void> {
    const url = `http://127.0.0.1:${(callee.address() as AddressInfo).port}/`;
    const executor = { type: 'http', url };
    const task = { id: 'task', name: 'Task', idempotent: true, max_concurrent: 100, executor, ...fields };
    expect((await ax.api('POST', '/api/tasks', task)).status).toBe(201);
  }

  const isReady = async ({ ax }: Node) => (await fetch(`${ax.address()}/readyz`)).ok;
  const leads = async ({ ax }: Node) => valueIn(await exposedBy(ax), 'ax_leader') === 1;

  async function leaderOf(nodes: readonly Node[]): Promise<Node | null> {
    for (const node of nodes) if (await leads(node)) return node;
    return null;
  }

  it(`between a leader and both its servers, ${CUTS} times: it comes back by itself, and no slot is lost or doubled (SO-06)`, async () => {
    const nodes = [await serve('coordinator'), await serve('coordinator'), await serve('coordinator')];
    await cluster.serve('worker');
    const startAt = Math.ceil(Date.now() / 1000) * 1000 + 1000;
    await create(nodes[0]!.ax, { schedule_type: 'interval', interval: 1, start_at: startAt });
    await until('the first slots were called', () => calls.length >= 2);

    for (let n = 0; n < CUTS; n += 1) {
      const leader = await until('one leads', () => leaderOf(nodes));
      for (const way of leader.ways) way.stall();
      await pause(CUT_MS);
      const others = nodes.filter((node) => node !== leader);
      await until('another leads', () => leaderOf(others));
      for (const way of leader.ways) way.restore();
      const healedAt = Date.now();
      const next = await until('a slot after that was called', () =>
        calls.find(({ slot }) => slot > healedAt),
      );
      expect(next.arrivedAt - next.slot).toBeLessThan(LEASE_MS + 1000 + SLACK_MS);
      await until('it is ready again', () => isReady(leader), 30_000);
      expect(leader.ax.child.exitCode).toBeNull();
    }

    await nodes[0]!.ax.api('POST', '/api/tasks/task/toggle');
    const settled = () =>
      cluster.query<{ n: number }>(
        `SELECT COUNT(*) AS n FROM trigger_event e LEFT JOIN execution_log x ON x.id = e.id
         WHERE x.status IS NULL OR x.status NOT IN ('success', 'skipped')`,
      );
    await until('all runs have ended', async () => (await settled())[0]?.n === 0, 60_000);
    const events = await cluster.query<{ slot: number; last: number; status: string }>(
      `SELECT TIMESTAMPDIFF(SECOND, '1970-01-01', e.slot) AS slot,
         TIMESTAMPDIFF(SECOND, '1970-01-01', COALESCE(e.range_end, e.slot)) AS last, x.status
       FROM trigger_event e JOIN execution_log x ON x.id = e.id ORDER BY e.slot`,
    );
    // Each slot from the first on is an event of its own or in a range that is on record as missed.
    const from = Number(events[0]?.slot);
    expect(from * 1000).toBe(startAt);
    for (const [i, { slot }] of events.entries()) {
      if (i > 0) expect(Number(slot)).toBe(Number(events[i - 1]?.last) + 1);
    }
    const run = events.filter(({ status }) => status === 'success').map(({ slot }) => slot - from);
    expect(calls.map(({ slot }) => slot / 1000 - from).toSorted((a, b) => a - b)).toEqual(run);
  }, 240_000);

  it('between a worker and Redis: it says so, and works within ten seconds once they pass again (SO-29)', async () => {
    const coordinator = await cluster.serve('coordinator');
    const worker = await serve('worker');
    await create(coordinator, { schedule_type: 'interval', interval: 3600 });
    for (const way of worker.ways) way.stall();
    await until('it says that it is not ready', async () => !(await isReady(worker)), 60_000);
    expect((await coordinator.api('POST', '/api/tasks/task/run')).status).toBe(202);
    await pause(CUT_MS);
    expect(calls).toEqual([]);

    for (const way of worker.ways) way.restore();
    const healedAt = Date.now();
    await until('the run is begun', () => calls.length > 0, 60_000);
    expect((calls[0]?.arrivedAt ?? Infinity) - healedAt).toBeLessThan(10_000);
    await until('it is ready', () => isReady(worker), 30_000);
    expect(calls).toHaveLength(1);
  }, 180_000);
});
