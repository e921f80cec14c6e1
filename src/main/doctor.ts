import { doctorJson } from '../adapters/http/doctor-routes.js';
import { MysqlExamination } from '../adapters/mysql/mysql-examination.js';
import { openMysql } from '../adapters/mysql/open-mysql.js';
import { RedisConnection } from '../adapters/redis/redis-connection.js';
import { RedisExamination } from '../adapters/redis/redis-examination.js';
import { RedisLock } from '../adapters/redis/redis-lock.js';
import { RedisNodeRegistry } from '../adapters/redis/redis-node-registry.js';
import { RedisQueue } from '../adapters/redis/redis-queue.js';
import { RedisTimeReference } from '../adapters/redis/redis-time-reference.js';
import { RedisWorkerRegistry } from '../adapters/redis/redis-worker-registry.js';
import { SchemaExamination } from '../adapters/sql/schema-examination.js';
import { SqlExecutionRepo } from '../adapters/sql/sql-execution-repo.js';
import { SqlTaskRepo } from '../adapters/sql/sql-task-repo.js';
import { SystemClock } from '../adapters/system/system-clock.js';
import { SystemRandom } from '../adapters/system/system-random.js';
import { MeasureOffset } from '../application/clock/measure-offset.js';
import { ReferenceClock } from '../application/clock/reference-clock.js';
import { ClusterExamination } from '../application/doctor/cluster-examination.js';
import { ExamineInstallation } from '../application/doctor/examine-installation.js';
import { PoolExamination } from '../application/doctor/pool-examination.js';
import { RunExamination } from '../application/doctor/run-examination.js';
import { TaskExamination } from '../application/doctor/task-examination.js';
import { zoneDataVersion } from '../domain/cron/time-zone.js';
import { type Diagnosis } from '../domain/diagnosis.js';
import { AxError } from '../domain/errors.js';
import { type Metrics } from '../ports/metrics.js';
import { type parseExplanation } from './config.js';
import { openHistory } from './open-history.js';
import { SILENT } from './silent-logger.js';

const UNMEASURED: Metrics = {
  count: () => undefined,
  observe: () => undefined,
  gauge: () => undefined,
  clear: () => undefined,
  clearLeaders: () => undefined,
};

type Settings = ReturnType<typeof parseExplanation>;

/**
 * Looks at an installation and prints a line for each check, or the JSON of the API. Says whether there is no problem.
 * @throws AxError `refused_start` when there is nothing to look at, or a running embedded ax has it.
 */
export async function doctor(settings: Settings, options: { readonly json?: boolean }): Promise<boolean> {
  const checks =
    'dataDir' in settings.store
      ? await examineEmbedded(settings.store)
      : await examineCluster(settings.store, settings);
  const json = doctorJson(checks);
  process.stdout.write(options.json === true ? `${JSON.stringify(json)}\n` : lines(json));
  return json.problems === 0;
}

/** A stopped one: nobody serves, so nothing is late. */
async function examineEmbedded(store: { readonly dataDir: string }): Promise<Diagnosis[]> {
  const clock = new SystemClock();
  const { db, close } = await openHistory(store, clock, 'GET /api/doctor');
  try {
    const tasks = new TaskExamination({ tasks: new SqlTaskRepo(db), clock }, false);
    return await new ExamineInstallation([new SchemaExamination(db), tasks]).examine();
  } finally {
    await close();
  }
}

async function examineCluster(
  store: { readonly mysqlUrl: string },
  settings: Settings,
): Promise<Diagnosis[]> {
  const { redis, queueLimit, clockLimitMs } = settings;
  if (redis === null)
    throw new AxError('refused_start', 'AX_REDIS_URL is not set: a cluster has both, MySQL and Redis');
  const machine = new SystemClock();
  const clock = new ReferenceClock(machine);
  const db = openMysql(store.mysqlUrl, { poolSize: 2, clock, random: new SystemRandom() });
  const connection = new RedisConnection({ ...redis, logger: SILENT });
  try {
    const reference = new RedisTimeReference(connection);
    const offset = { reference, machine, clock, metrics: UNMEASURED, logger: SILENT, limitMs: clockLimitMs };
    // Without Redis it is this machine's time; that Redis is away is told below.
    await new MeasureOffset(offset).measure().catch(() => undefined);
    const tasks = new SqlTaskRepo(db);
    const cluster = {
      ...{ lock: new RedisLock(connection), queue: new RedisQueue(connection) },
      ...{ nodes: new RedisNodeRegistry(connection), clock, machine },
    };
    return await new ExamineInstallation([
      new MysqlExamination(db, clock, clockLimitMs),
      new SchemaExamination(db),
      new RedisExamination(connection),
      new ClusterExamination(cluster, { zoneData: zoneDataVersion(), clockLimitMs, queueLimit }),
      new PoolExamination({ workers: new RedisWorkerRegistry(connection), tasks }),
      new TaskExamination({ tasks, clock }, true),
      new RunExamination({ executions: new SqlExecutionRepo(db), clock }),
    ]).examine();
  } finally {
    await connection.close();
    await db.close();
  }
}

function lines({ checks, problems, warnings }: ReturnType<typeof doctorJson>): string {
  return [
    ...checks.map(({ check, state, finding, fix }) =>
      [state.padEnd(7), check.padEnd(17), fix === null ? finding : `${finding} → ${fix}`].join('  '),
    ),
    `${problems} problems, ${warnings} warnings`,
    '',
  ].join('\n');
}
