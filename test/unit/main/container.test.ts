import { Container, type ContainerModule } from 'inversify';
import { afterAll, describe, expect, it } from 'vitest';
import { InProcessBroker } from '../../../src/adapters/embedded/in-process-broker.js';
import { HttpExecutor } from '../../../src/adapters/executors/http-executor.js';
import { openMysql } from '../../../src/adapters/mysql/open-mysql.js';
import { RedisConnection } from '../../../src/adapters/redis/redis-connection.js';
import { SystemClock } from '../../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../../src/adapters/system/system-random.js';
import { createLogger } from '../../../src/adapters/telemetry/pino-logger.js';
import { PrometheusMetrics } from '../../../src/adapters/telemetry/prometheus-metrics.js';
import { parseConfig, type Role } from '../../../src/main/config.js';
import { createContainer } from '../../../src/main/container.js';
import {
  executorsModule,
  inProcessModule,
  redisModule,
  storeModule,
  systemModule,
  telemetryModule,
} from '../../../src/main/modules/adapters.js';
import { coordinatorModule } from '../../../src/main/modules/coordinator.js';
import { workerModule } from '../../../src/main/modules/worker.js';
import { type Identity, TOKENS } from '../../../src/main/tokens.js';

type Mode = 'cluster' | 'embedded';
type TokenName = keyof typeof TOKENS;

const NAMES = Object.keys(TOKENS) as TokenName[];

/** The ways in which a process can run. */
const WAYS: readonly (readonly [Role, Mode])[] = [
  ['all', 'embedded'],
  ['all', 'cluster'],
  ['coordinator', 'cluster'],
  ['worker', 'cluster'],
];

function boundBy(module: ContainerModule): TokenName[] {
  const container = new Container();
  container.load(module);
  return NAMES.filter((name) => container.isBound(TOKENS[name]));
}

describe('createContainer', () => {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const logger = createLogger({ level: 'error', isPretty: false, node: 'node-1' });
  // Both connect when they are first used, which they never are.
  const redis = new RedisConnection({ url: 'redis://127.0.0.1:1', namespace: 'test', logger });
  const db = openMysql('mysql://nobody@127.0.0.1:1/none', { poolSize: 2, clock, random });
  afterAll(async () => {
    await redis.close();
    await db.close();
  });

  function backendOf(role: Role, mode: Mode): ContainerModule[] {
    if (mode === 'embedded') return [storeModule(db), inProcessModule(new InProcessBroker(clock, 'life-1'))];
    return role === 'worker' ? [redisModule(redis)] : [redisModule(redis), storeModule(db)];
  }

  function create(
    role: Role,
    mode: Mode,
    identity: Identity = { node: 'node-1', instance: 'node-1/1', version: '0.0.0' },
  ) {
    const urls = { AX_MYSQL_URL: 'mysql://nobody@127.0.0.1:1/none', AX_REDIS_URL: 'redis://127.0.0.1:1' };
    const config = parseConfig(mode === 'embedded' ? {} : urls, role, false);
    expect(config.backend.mode).toBe(mode);
    return createContainer(config, identity, [
      systemModule(clock, random),
      telemetryModule(logger, new PrometheusMetrics()),
      executorsModule([new HttpExecutor({ clock, version: '0.0.0' })]),
      ...backendOf(role, mode),
    ]);
  }

  /** What a role must do without: a worker never reads the task store. */
  const LACKS: Readonly<Record<Role, readonly TokenName[]>> = {
    all: [],
    coordinator: boundBy(workerModule),
    worker: [...boundBy(storeModule(db)), ...boundBy(coordinatorModule)],
  };

  it.each(WAYS)('gives role %s in mode %s one of everything that it needs, and no more', (role, mode) => {
    const container = create(role, mode);
    const without = LACKS[role];
    expect(without.length > 0).toBe(role !== 'all');
    for (const name of NAMES.filter((candidate) => !without.includes(candidate))) {
      const bound: unknown = container.get<unknown>(TOKENS[name]);
      expect(bound, name).toBeTypeOf('object');
      expect(bound, name).not.toBeNull();
      expect(container.get<unknown>(TOKENS[name]), `${name} is one`).toBe(bound);
    }
    const unbound = NAMES.filter((name) => !container.isBound(TOKENS[name]));
    expect(unbound.toSorted()).toEqual(without.toSorted());
  });

  it('binds every token in some way of running, and each to another name', () => {
    const bound = WAYS.flatMap(([role, mode]) => {
      const container = create(role, mode);
      return NAMES.filter((name) => container.isBound(TOKENS[name]));
    });
    expect([...new Set(bound)].toSorted()).toEqual(NAMES.toSorted());
    expect(new Set(NAMES.map((name) => String(TOKENS[name]))).size).toBe(NAMES.length);
  });

  it('makes two nodes in one process that share nothing but what they were given', () => {
    const [one, two] = ['1', '2'].map((i) =>
      create('all', 'cluster', { node: `node-${i}`, instance: `node-${i}/1`, version: '0.0.0' }),
    );
    const given: readonly TokenName[] = ['clock', 'machine', 'random', 'logger'];
    const shared = NAMES.filter(
      (name) => one?.get<unknown>(TOKENS[name]) === two?.get<unknown>(TOKENS[name]),
    );
    expect(shared.toSorted()).toEqual(given.toSorted());
  });
});
