import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { afterEach, describe, expect, it } from 'vitest';
import { MysqlExamination } from '../../src/adapters/mysql/mysql-examination.js';
import { RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisExamination } from '../../src/adapters/redis/redis-examination.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { OwnServer } from '../faults/own-server.js';
import { connectMysql } from '../support/mysql-store.js';
import { silent } from '../support/redis-namespace.js';
import { mysql as mysqlKind } from '../support/servers/mysql.js';
import { redis as redisKind } from '../support/servers/redis.js';

const SERVER_MS = 150_000;

/** With servers of their own, since what is broken here belongs to the whole server. */
describe('doctor', () => {
  let server: OwnServer;
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    await server.remove();
  });

  it(
    'sees that Redis evicts, keeps nothing, or is a replica',
    async () => {
      server = await OwnServer.start(redisKind);
      const connection = new RedisConnection({ url: server.url, namespace: 'x', logger: silent });
      const client = new Redis(server.url);
      closers.push(
        () => connection.close(),
        () => client.quit(),
      );
      const look = async () =>
        Object.fromEntries(
          (await new RedisExamination(connection).examine()).map(({ check, state, finding }) => [
            check.replace('redis_', ''),
            [state, finding],
          ]),
        );
      const says = (text: string): unknown => expect.stringContaining(text);
      expect(await look()).toEqual({
        server: ['ok', says('version')],
        primary: ['ok', says('primary')],
        eviction: ['ok', 'noeviction'],
        persistence: ['warning', says('it saves nothing')],
      });
      await client.config('SET', 'save', '3600 1');
      expect((await look())['persistence']).toEqual(['warning', says('at intervals (3600 1)')]);
      await client.config('SET', 'appendonly', 'yes');
      expect((await look())['persistence']).toEqual(['ok', 'appendonly is on']);
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
      expect((await look())['eviction']).toEqual(['problem', says('allkeys-lru')]);
      await client.replicaof('127.0.0.1', 1);
      expect((await look())['primary']).toEqual(['problem', says('replica')]);
    },
    SERVER_MS,
  );

  it(
    'sees that MySQL is read only, or a replica',
    async () => {
      server = await OwnServer.start(mysqlKind);
      const admin = await createConnection(server.url);
      await admin.query('CREATE DATABASE ax');
      const db = connectMysql(new URL('/ax', server.url).href);
      closers.push(
        () => db.close(),
        () => admin.end(),
      );
      const look = async () => {
        const found = await new MysqlExamination(db, new SystemClock(), 1000).examine();
        const { state, finding } = found.find(({ check }) => check === 'mysql_primary') ?? {};
        return [state, finding];
      };
      expect(await look()).toEqual(['ok', 'it takes writes and replicates nobody']);
      await admin.query('SET GLOBAL read_only = 1');
      expect(await look()).toEqual(['problem', 'the server is read only']);
      await admin.query('SET GLOBAL read_only = 0');
      const isMariaDb = /mariadb/i.test(await mysqlKind.logIn(server.url));
      await admin.query(
        isMariaDb
          ? "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USER = 'ax'"
          : "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_USER = 'ax'",
      );
      expect(await look()).toEqual(['problem', 'the server is a replica of another one']);
    },
    SERVER_MS,
  );
});
