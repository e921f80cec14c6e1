import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/embedded/sqlite-store.js';
import { RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisNodeRegistry } from '../../src/adapters/redis/redis-node-registry.js';
import { type doctorJson } from '../../src/adapters/http/doctor-routes.js';
import { AxProcess } from '../support/ax-process.js';
import { Cluster } from '../support/cluster.js';
import { buildNode } from '../support/pools.js';
import { silent } from '../support/redis-namespace.js';
import { SettableClock } from '../support/store.js';
import { until } from '../support/until.js';

type Answer = ReturnType<typeof doctorJson>;

async function doctor(env: Readonly<Record<string, string>>, ...args: string[]) {
  const ax = AxProcess.spawn(['doctor', ...args], env);
  const code = await ax.exit();
  return { code, output: ax.output() };
}

const problemsOf = ({ checks }: Answer) =>
  checks.filter(({ state }) => state === 'problem').map(({ check }) => check);

describe('ax doctor on a cluster', () => {
  let cluster: Cluster;
  let coordinator: AxProcess;
  beforeAll(async () => {
    cluster = await Cluster.create();
    coordinator = await cluster.serve('coordinator', { AX_NODE_ID: 'leading' });
    await cluster.serve('worker', { AX_NODE_ID: 'working' });
  }, 120_000);
  afterAll(() => cluster.close());

  const asked = async () => (await coordinator.api<Answer>('GET', '/api/doctor')).json;

  it('finds nothing and ends with 0, and so says the API', async () => {
    const sound = await until('both nodes are known', async () => {
      const answer = await doctor(cluster.env);
      return answer.output.includes('on 2 live nodes') && answer;
    });
    expect(sound.code).toBe(0);
    expect(sound.output).toMatch(/ok +leader +leading\//);
    expect(sound.output).toMatch(/0 problems, [01] warnings$/);
    const { problems, checks } = await asked();
    expect(problems).toBe(0);
    expect(checks).toHaveLength(sound.output.split('\n').length - 1);
    const page = await readFile(new URL('../../docs/doctor.md', import.meta.url), 'utf8');
    const explained = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, check]) => check);
    expect(checks.map(({ check }) => check).toSorted()).toEqual(explained.toSorted());
  }, 120_000);

  it('ends with 1 and names what is broken: a key, a node', async () => {
    await cluster.query('ALTER TABLE trigger_event DROP KEY trigger_event_slot');
    const { AX_REDIS_URL: url = '', AX_NAMESPACE: namespace = '' } = cluster.env;
    const connection = new RedisConnection({ url, namespace, logger: silent });
    const other = buildNode({ instance: 'other', node: 'other', zoneData: '1999a' });
    await new RedisNodeRegistry(connection).announce(other, 600_000);
    const { code, output } = await doctor(cluster.env, '--json');
    expect(code).toBe(1);
    const answer = JSON.parse(output) as Answer;
    expect(problemsOf(answer)).toEqual(['unique_keys', 'zone_data']);
    expect(answer).toMatchObject({ problems: 2, checks: expect.any(Array) as unknown });
    expect(output).toContain('other has 1999a');
    expect(problemsOf(await asked())).toEqual(['unique_keys', 'zone_data']);
    // The coordinator has seen it by itself, too.
    await until('the coordinator warns', () =>
      coordinator.lines.some(({ msg }) => msg.includes('different time zone data')),
    );
    await connection.close();
  }, 120_000);

  it('ends with 2 when it is not told where to look', async () => {
    const { AX_MYSQL_URL = '' } = cluster.env;
    const { code, output } = await doctor({ AX_MYSQL_URL });
    expect([code, output]).toEqual([2, expect.stringContaining('AX_REDIS_URL is not set')]);
    expect((await doctor({}, '--fast')).code).toBe(2);
  }, 120_000);
});

describe('ax doctor on an embedded ax', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ax-doctor-'));
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  it('looks at the tables of a stopped one, and leaves a running one to the API', async () => {
    const env = { AX_DATA_DIR: dataDir };
    const nothing = await doctor(env);
    expect([nothing.code, nothing.output]).toEqual([2, expect.stringContaining(`no history in ${dataDir}`)]);
    const ax = await AxProcess.serve(env);
    const busy = await doctor(env);
    expect([busy.code, busy.output]).toEqual([2, expect.stringContaining('GET /api/doctor')]);
    const { json } = await ax.api<Answer>('GET', '/api/doctor');
    expect([json.problems, json.warnings, json.checks.map(({ check }) => check)]).toEqual([
      0,
      0,
      [
        ...['migrations', 'unique_keys', 'indexes', 'leader', 'zone_data', 'queue_depth', 'pools'],
        ...['broken_tasks', 'overdue_tasks', 'zombie_runs'],
      ],
    ]);
    await ax.stop();
    expect((await doctor(env)).code).toBe(0);
    const store = await openSqlite(dataDir, { clock: new SettableClock(), random: { next: () => 0 } });
    await store.db.knex.raw('DROP INDEX execution_log_task');
    await store.close({ clean: true });
    const broken = await doctor(env);
    expect([broken.code, broken.output]).toEqual([
      1,
      expect.stringMatching(/problem +indexes +missing: execution_log_task/),
    ]);
  }, 120_000);
});
