import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { AxProcess } from '../support/ax-process.js';
import { mysql as mysqlKind } from '../support/servers/mysql.js';
import { redis as redisKind } from '../support/servers/redis.js';
import { until } from '../support/until.js';
import { LoggingCallee } from './logging-callee.js';
import { ClusterNode } from './nodes.js';
import { OwnServer } from './own-server.js';

export const LEASE_MS = 5000;
export const CLAIM_TTL_MS = 5000;

/** A cluster with servers of its own: two coordinators, three workers, each behind proxies of its own, and a callee. */
export class Lane {
  /** A number in [0, 1) per call. */
  readonly random: () => number;

  private constructor(
    readonly index: number,
    readonly mysql: OwnServer,
    /** The one that the nodes use now; a failover replaces it. */
    public redis: OwnServer,
    readonly callee: LoggingCallee,
    readonly coordinators: readonly ClusterNode[],
    readonly workers: readonly ClusterNode[],
    seed: number,
  ) {
    this.random = randomFrom(seed);
  }

  static async start(index: number, seed: number): Promise<Lane> {
    const [mysql, redis] = await Promise.all([OwnServer.start(mysqlKind), OwnServer.start(redisKind)]);
    await onMysql(mysql.url, 'CREATE DATABASE ax');
    const urls = { redis: redis.url, mysql: new URL('/ax', mysql.url).href };
    const migration = AxProcess.spawn(['migrate'], { AX_MYSQL_URL: urls.mysql });
    if ((await migration.exit()) !== 0) throw new Error(`ax migrate failed:\n${migration.output()}`);
    const env = {
      AX_NAMESPACE: 'faults',
      AX_LEASE_MS: String(LEASE_MS),
      AX_CLAIM_TTL_MS: String(CLAIM_TTL_MS),
      AX_DRAIN_SEC: '3',
    };
    const create = (name: string, role: 'coordinator' | 'worker') =>
      ClusterNode.create(name, role, urls, env);
    const coordinators = await Promise.all(['c1', 'c2'].map((name) => create(name, 'coordinator')));
    const workers = await Promise.all(['w1', 'w2', 'w3'].map((name) => create(name, 'worker')));
    const callee = await LoggingCallee.start();
    const lane = new Lane(index, mysql, redis, callee, coordinators, workers, seed);
    for (const node of lane.nodes) await node.start();
    return lane;
  }

  get nodes(): readonly ClusterNode[] {
    return [...this.coordinators, ...this.workers];
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)] as T;
  }

  async leader(): Promise<ClusterNode> {
    return until('somebody leads', async () => {
      for (const node of this.coordinators) if ((await node.gauge('ax_leader')) === 1) return node;
      return null;
    });
  }

  async standby(): Promise<ClusterNode> {
    const leader = await this.leader();
    return this.coordinators.find((node) => node !== leader) as ClusterNode;
  }

  /** A worker that is in the middle of several runs. */
  async busyWorker(): Promise<ClusterNode> {
    return until('a worker has runs', async () => {
      for (const node of this.workers)
        if (((await node.gauge('ax_running_executions')) ?? 0) >= 4) return node;
      return null;
    });
  }

  /** A request to the API of whichever coordinator answers it, repeated until one does. */
  async api(method: string, path: string, body?: unknown): Promise<void> {
    for (let tries = 0; ; tries++) {
      const node = this.coordinators[tries % this.coordinators.length];
      const answer = await node?.ax?.api(method, path, body).catch(() => null);
      const isDone = answer !== null && answer !== undefined && answer.status < 500;
      if (isDone && (answer.status < 400 || tries > 0)) return;
      if (isDone) throw new Error(`${method} ${path} was refused: ${JSON.stringify(answer.json)}`);
      if (tries > 200) throw new Error(`${method} ${path}: no coordinator answers`);
      await pause(100);
    }
  }

  /** Rows of a query, past all proxies; the session is in UTC. */
  async query(sql: string, values: unknown[] = []): Promise<RowDataPacket[]> {
    return onMysql(new URL('/ax', this.mysql.url).href, sql, values);
  }

  /** Commands to Redis, past all proxies. */
  async onRedis<T>(use: (client: Redis) => Promise<T>, url = this.redis.url): Promise<T> {
    const client = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: null });
    client.on('error', () => undefined);
    try {
      return await use(client);
    } finally {
      client.disconnect();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.callee.die();
    await Promise.all([this.mysql.remove(), this.redis.remove()]);
  }
}

async function onMysql(url: string, sql: string, values: unknown[] = []): Promise<RowDataPacket[]> {
  const connection = await createConnection(url);
  try {
    await connection.query(`SET time_zone = '+00:00'`);
    return (await connection.query<RowDataPacket[]>(sql, values))[0];
  } finally {
    connection.destroy();
  }
}

/** Mulberry32: a small generator whose whole state is its seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
