import { inject } from 'vitest';
import { type StoreUrls } from './setup.js';

/** The servers that were found or started for the benchmarks. */
export const servers = (): StoreUrls => ({ mysqlUrl: inject('mysqlUrl'), redisUrl: inject('redisUrl') });
