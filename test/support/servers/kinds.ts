import { mysql } from './mysql.js';
import { redis } from './redis.js';
import type { ServerKind } from './server-kind.js';

/** The servers that the suites need, all of them in every run. */
export const kinds: readonly ServerKind[] = [mysql, redis];
