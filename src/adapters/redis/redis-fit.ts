import { AxError } from '../../domain/errors.js';
import { type RedisConnection } from './redis-connection.js';

/** The oldest version that ax works with. */
export const OLDEST = { major: 6, minor: 2 };

/**
 * Refuses a server on which ax would lose data. Asks by INFO, which managed services allow where they forbid CONFIG; what a server does
 * not tell is taken to be right.
 * @throws AxError `refused_start` naming the fix; `unavailable`.
 */
export async function assertRedisFit(connection: Pick<RedisConnection, 'info'>): Promise<void> {
  const version = field(await connection.info('server'), 'redis_version');
  if (version !== null && isTooOld(version)) {
    const fix = `use ${OLDEST.major}.${OLDEST.minor} or newer`;
    throw new AxError('refused_start', `Redis ${version} is too old, it lacks XAUTOCLAIM: ${fix}`);
  }
  const policy = field(await connection.info('memory'), 'maxmemory_policy');
  if (policy !== null && policy !== 'noeviction') {
    const fix = 'set "maxmemory-policy noeviction" in redis.conf or by CONFIG SET, and watch its memory';
    throw new AxError(
      'refused_start',
      `Redis evicts keys when memory is short (maxmemory-policy is "${policy}"), also leases, claims and messages: ${fix}`,
    );
  }
}

/** A field of INFO; null if the server does not tell it. */
export const field = (info: string | null, name: string): string | null =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info ?? '')?.[1] ?? null;

/** Whether a version, as INFO tells it, lacks what ax needs. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
}
