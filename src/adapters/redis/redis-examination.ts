import { type Diagnosis, ok, problem, warning } from '../../domain/diagnosis.js';
import { messageOf } from '../../domain/errors.js';
import { type Examination } from '../../ports/examination.js';
import { type RedisConnection } from './redis-connection.js';
import { field, isTooOld, OLDEST } from './redis-fit.js';

/** The server: whether it can be reached, keeps what it is given, and is the primary. */
export class RedisExamination implements Examination {
  readonly part = 'redis';

  constructor(private readonly connection: RedisConnection) {}

  async examine(): Promise<Diagnosis[]> {
    let server: string | null;
    try {
      server = await this.connection.info('server');
    } catch (error) {
      return [problem('redis_server', messageOf(error), 'see that Redis runs, and AX_REDIS_URL')];
    }
    return [versionDiagnosis(server), await this.primary(), await this.eviction(), await this.persistence()];
  }

  private async primary(): Promise<Diagnosis> {
    const role = field(await this.connection.info('replication'), 'role');
    if (role === null) return ok('redis_primary', 'the server does not tell its role');
    if (role === 'master') return ok('redis_primary', 'it is the primary');
    return problem('redis_primary', 'the server is a replica', 'give the primary in AX_REDIS_URL');
  }

  private async eviction(): Promise<Diagnosis> {
    const policy = field(await this.connection.info('memory'), 'maxmemory_policy');
    if (policy === null)
      return ok('redis_eviction', 'the server does not tell its policy; it must be noeviction');
    if (policy === 'noeviction') return ok('redis_eviction', policy);
    return problem(
      'redis_eviction',
      `maxmemory-policy is ${policy}: leases, claims and messages go when memory is short`,
      'set maxmemory-policy noeviction',
    );
  }

  private async persistence(): Promise<Diagnosis> {
    const isAppending = field(await this.connection.info('persistence'), 'aof_enabled');
    if (isAppending === '1') return ok('redis_persistence', 'appendonly is on');
    const points = await this.savePoints();
    const kept =
      points === null
        ? isAppending === null
          ? 'the server does not tell what it keeps'
          : 'appendonly is off'
        : points === ''
          ? 'appendonly is off and it saves nothing'
          : `appendonly is off and it saves at intervals (${points})`;
    return warning(
      'redis_persistence',
      `${kept}: after a crash of Redis, runs that may have begun and are not idempotent end as outcome_unknown`,
      'set appendonly yes',
    );
  }

  /** Null: may not be asked. */
  private async savePoints(): Promise<string | null> {
    try {
      const answer: unknown = await this.connection.run((client) => client.config('GET', 'save'));
      return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null;
    } catch {
      return null;
    }
  }
}

function versionDiagnosis(server: string | null): Diagnosis {
  const version = field(server, 'redis_version');
  if (version === null) return ok('redis_server', 'it answers and does not tell its version');
  if (!isTooOld(version)) return ok('redis_server', `version ${version}`);
  const { major, minor } = OLDEST;
  return problem('redis_server', `version ${version} is too old`, `use ${major}.${minor} or newer`);
}
