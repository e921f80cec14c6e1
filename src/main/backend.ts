import { type ContainerModule } from 'inversify';
import { InProcessBroker } from '../adapters/embedded/in-process-broker.js';
import { openSqlite } from '../adapters/embedded/sqlite-store.js';
import { assertMysqlFit } from '../adapters/mysql/assert-mysql-fit.js';
import { MysqlExamination } from '../adapters/mysql/mysql-examination.js';
import { openMysql } from '../adapters/mysql/open-mysql.js';
import { RedisConnection } from '../adapters/redis/redis-connection.js';
import { assertRedisFit } from '../adapters/redis/redis-fit.js';
import { RedisTimeReference } from '../adapters/redis/redis-time-reference.js';
import { MeasureOffset } from '../application/clock/measure-offset.js';
import { ReferenceClock } from '../application/clock/reference-clock.js';
import { type Clock } from '../ports/clock.js';
import { type Logger } from '../ports/logger.js';
import { type Metrics } from '../ports/metrics.js';
import { type Random } from '../ports/random.js';
import { type Config } from './config.js';
import { inProcessModule, redisModule, storeModule } from './modules/adapters.js';

/** Connections that every transaction of one node shares: the tick, the collector, the sweep and the API. */
const MYSQL_POOL = 10;

export interface Backend {
  /** The node's time. */
  readonly clock: Clock;
  /** Keeps `clock` on time, measured once already; null where there is no reference. */
  readonly measureOffset: MeasureOffset | null;
  readonly modules: readonly ContainerModule[];
  /** What the store is, as traces call it; of a worker that has none, its cluster's. */
  readonly system: 'mysql' | 'sqlite';
  /** Where the data is, for people. */
  readonly description: string;
  /** Tells how its connections are used. */
  measure(): void;
  /** Ends all connections. `isClean`: every result was persisted and nothing runs any more. */
  close(isClean: boolean): Promise<void>;
}

interface Tools {
  /** The machine's own clocks. */
  readonly machine: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Connects to the stores and refuses what ax cannot work with. @throws AxError `refused_start`, `unavailable`. */
export async function openBackend(config: Config, tools: Tools): Promise<Backend> {
  const { backend } = config;
  return backend.mode === 'embedded'
    ? openEmbedded(backend.dataDir, tools)
    : openCluster(backend.mysqlUrl, backend.redisUrl, config, tools);
}

async function openEmbedded(dataDir: string, { machine: clock, random, metrics }: Tools): Promise<Backend> {
  const store = await openSqlite(dataDir, { clock, random, metrics });
  return {
    clock,
    measureOffset: null,
    modules: [storeModule(store.db), inProcessModule(new InProcessBroker(clock, store.queueEpoch))],
    system: 'sqlite',
    description: `embedded, data in ${dataDir}`,
    measure: () => store.db.measurePool(),
    close: (isClean) => store.close({ clean: isClean }),
  };
}

async function openCluster(
  mysqlUrl: string | null,
  redisUrl: string,
  { role, namespace, clockLimitMs }: Config,
  { machine, random, metrics, logger }: Tools,
): Promise<Backend> {
  const redis = new RedisConnection({ url: redisUrl, namespace, logger, metrics });
  const reference = new RedisTimeReference(redis);
  const clock = new ReferenceClock(machine);
  const limitMs = clockLimitMs;
  const measureOffset = new MeasureOffset({ reference, machine, clock, metrics, logger, limitMs });
  const needsStore = role !== 'worker' && mysqlUrl !== null;
  const db = needsStore ? openMysql(mysqlUrl, { poolSize: MYSQL_POOL, clock, random, metrics }) : null;
  const close = async () => {
    await redis.close();
    await db?.close();
  };
  try {
    await assertRedisFit(redis);
    await measureOffset.measure();
    if (db !== null) await assertMysqlFit(db);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    clock,
    measureOffset,
    modules: [
      redisModule(redis),
      ...(db === null ? [] : [storeModule(db, [new MysqlExamination(db, clock, clockLimitMs)])]),
    ],
    system: 'mysql',
    description: db === null ? `worker on Redis, namespace ${namespace}` : `cluster, namespace ${namespace}`,
    measure: () => db?.measurePool(),
    close,
  };
}
