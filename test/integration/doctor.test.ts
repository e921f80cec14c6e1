import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { MysqlExamination } from '../../src/adapters/mysql/mysql-examination.js';
import { RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisExamination } from '../../src/adapters/redis/redis-examination.js';
import { RedisLock } from '../../src/adapters/redis/redis-lock.js';
import { RedisNodeRegistry } from '../../src/adapters/redis/redis-node-registry.js';
import { RedisQueue } from '../../src/adapters/redis/redis-queue.js';
import { RedisWorkerRegistry } from '../../src/adapters/redis/redis-worker-registry.js';
import { SchemaExamination } from '../../src/adapters/sql/schema-examination.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { ClusterExamination } from '../../src/application/doctor/cluster-examination.js';
import { PoolExamination } from '../../src/application/doctor/pool-examination.js';
import { BASE, buildMessage, buildTask } from '../support/builders.js';
import { lookAt, matching } from '../support/doctor.js';
import { connectMysql, openMysqlStore } from '../support/mysql-store.js';
import { buildNode, buildWorker } from '../support/pools.js';
import { RedisNamespace, silent } from '../support/redis-namespace.js';
import { auditOf, type SettableClock } from '../support/store.js';

const LONG = 600_000;
const NOW = BASE + 3_600_000;

/** Each part of an installation, as it should be and broken for real. */
describe('doctor', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;
  let namespace: RedisNamespace;
  let connection: RedisConnection;
  let clock: SettableClock;
  beforeEach(async () => {
    store = await openMysqlStore();
    namespace = new RedisNamespace(inject('redisUrl'));
    connection = namespace.connect();
    clock = store.clock;
    clock.set(NOW);
  });
  afterEach(async () => {
    await namespace.close();
    await store.close();
  });

  describe('the tables', () => {
    const look = () => lookAt(new SchemaExamination(store.db));

    it('are sound after ax migrate', async () => {
      expect(await look()).toEqual({
        migrations: { check: 'migrations', ...matching('ok', 'all applied') },
        unique_keys: { check: 'unique_keys', ...matching('ok', 'all there') },
        indexes: { check: 'indexes', ...matching('ok', 'all there') },
      });
    });

    it.each([
      ['DROP KEY trigger_event_slot', 'trigger_event (task_id, kind, slot)'],
      [
        'DROP KEY trigger_event_slot, ADD KEY trigger_event_slot (task_id, kind, slot)',
        'trigger_event (task_id, kind, slot)',
      ],
      ['DROP PRIMARY KEY', 'trigger_event (id)'],
    ])('lack a unique key after %s', async (change, key) => {
      await store.database.query(`ALTER TABLE trigger_event ${change}`);
      const { unique_keys, migrations } = await look();
      expect(unique_keys).toMatchObject(matching('problem', key));
      expect(migrations).toMatchObject({ state: 'ok' });
    });

    it('lack an index', async () => {
      await store.database.query('ALTER TABLE task_meta DROP KEY task_meta_due');
      expect((await look())['indexes']).toMatchObject(
        matching('problem', 'task_meta_due (enabled, next_trigger_time)'),
      );
    });

    it('lack a migration', async () => {
      await store.database.query("DELETE FROM ax_migration WHERE name = '0007_jitter'");
      expect((await look())['migrations']).toMatchObject(matching('problem', '0007_jitter'));
    });
  });

  describe('MySQL', () => {
    const look = (now = new SystemClock(), db = store.db) => lookAt(new MysqlExamination(db, now, 1000));

    it('can be reached and is in time', async () => {
      const found = await look();
      expect(Object.keys(found)).toEqual(['mysql_server', 'mysql_primary', 'mysql_session', 'mysql_clock']);
      expect(new Set(Object.values(found).map(({ state }) => state))).toEqual(new Set(['ok']));
    });

    it('has a session in another time zone', async () => {
      const db = connectMysql(store.database.url, { poolSize: 1 });
      await db.read((sql) => sql.run("SET time_zone = '+05:30'"));
      expect((await look(undefined, db))['mysql_session']).toMatchObject(matching('problem', '+05:30'));
      await db.close();
    });

    it('has a clock that is off', async () => {
      const late = Object.assign(new SystemClock(), { now: () => Date.now() - 3_600_000 });
      expect((await look(late))['mysql_clock']).toMatchObject({ state: 'warning' });
    });

    it('is away', async () => {
      const db = connectMysql('mysql://ax@127.0.0.1:1/ax');
      expect(await lookAt(new MysqlExamination(db, clock, 1000), new SchemaExamination(db))).toEqual({
        mysql_server: { check: 'mysql_server', ...matching('problem', 'ECONNREFUSED') },
        schema: { check: 'schema', ...matching('problem', 'could not be looked at') },
      });
      await db.close();
    });
  });

  describe('the cluster', () => {
    const machine = { now: () => clock.now() };
    const look = (options = {}) =>
      lookAt(
        new ClusterExamination(
          {
            lock: new RedisLock(connection),
            nodes: new RedisNodeRegistry(connection),
            queue: new RedisQueue(connection),
            clock,
            machine,
          },
          { zoneData: '2025c', clockLimitMs: 1000, queueLimit: 10, ...options },
        ),
        new PoolExamination({ workers: new RedisWorkerRegistry(connection), tasks: store.tasks }),
      );
    const join = (overrides = {}) => new RedisNodeRegistry(connection).announce(buildNode(overrides), LONG);

    it('has a leader, one version of time zone data, clocks that agree, workers and room', async () => {
      await new RedisLock(connection).acquire('leader', 'coordinator-1/1', LONG);
      await join();
      await store.tasks.insert(buildTask(), auditOf('x'));
      await new RedisWorkerRegistry(connection).announce(buildWorker(), LONG);
      const found = await look();
      expect(found).toMatchObject({
        leader: matching('ok', 'coordinator-1/1'),
        zone_data: matching('ok', '2025c'),
        clocks: matching('ok', 'no node by more than 1000 ms'),
        queue_depth: matching('ok', '0 messages'),
        pools: matching('ok', '1 live workers'),
      });
      expect(Object.keys(found)).toHaveLength(5);
    });

    it('has no leader', async () => {
      expect((await look())['leader']).toMatchObject(matching('problem', 'no coordinator lives'));
      await join({ node: 'worker-7', instance: 'w', role: 'worker' });
      expect((await look())['leader']).toMatchObject(matching('problem', 'no coordinator lives'));
      await join();
      expect((await look())['leader']).toMatchObject(
        matching('problem', 'no coordinator leads; there are coordinator-1'),
      );
    });

    it('has a node with other time zone data, and one whose clock is off', async () => {
      await join();
      await join({ instance: 'old', node: 'old', zoneData: '2021a' });
      await join({ instance: 'late', node: 'late', role: 'worker', clockOffsetMs: -12_345 });
      expect(await look()).toMatchObject({
        zone_data: matching('problem', 'this process has 2025c, but old has 2021a'),
        clocks: matching('warning', 'late by -12.3 s'),
      });
      expect((await look({ zoneData: '2030a' }))['zone_data']).toMatchObject(
        matching('problem', 'coordinator-1 has 2025c'),
      );
    });

    it('has a pool that nobody serves', async () => {
      await store.tasks.insert(buildTask({ pool: 'batch' }), auditOf('x'));
      await new RedisWorkerRegistry(connection).announce(buildWorker(), LONG);
      expect((await look())['pools']).toMatchObject(matching('problem', 'batch/http (1 tasks)'));
    });

    it('has a queue that is too deep', async () => {
      await new RedisQueue(connection).publish([buildMessage(), buildMessage()]);
      expect((await look({ queueLimit: 2 }))['queue_depth']).toMatchObject({ state: 'ok' });
      expect((await look({ queueLimit: 1 }))['queue_depth']).toMatchObject(
        matching('problem', '2 messages are more than the limit of 1'),
      );
    });
  });

  it('looks at Redis that is away', async () => {
    const away = new RedisConnection({ url: 'redis://127.0.0.1:1', namespace: 'x', logger: silent });
    expect(await lookAt(new RedisExamination(away))).toEqual({
      redis_server: { check: 'redis_server', ...matching('problem', 'ECONNREFUSED') },
    });
    await away.close();
  });
});
