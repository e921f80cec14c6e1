import { mysql } from './mysql.js';
import { rabbitmq } from './rabbitmq.js';
import { redis } from './redis.js';
import type { ServerKind } from './server-kind.js';

/** The servers that most suites need; they are started together. */
export const stores: readonly ServerKind[] = [mysql, redis];
export const brokers: readonly ServerKind[] = [rabbitmq];

export const kinds: readonly ServerKind[] = [...stores, ...brokers];

/** Groups of servers that the tests of a vitest project need. */
export const groupsFor = (project: string): readonly (readonly ServerKind[])[] =>
  project === 'integration' ? [stores] : [stores, brokers];
