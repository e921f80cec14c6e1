import { type PoolStatus } from '../../application/pools/live-workers.js';
import { type QueryWorkers } from '../../application/pools/query-workers.js';
import { type WorkerAnnouncement } from '../../ports/worker-registry.js';
import { instantText } from './instant.js';
import { NO_QUERY } from './list-query.js';
import { route, type Route } from './route.js';

/** Workers: the live ones. */
export function workerRoutes({ queryWorkers }: { readonly queryWorkers: QueryWorkers }): Route[] {
  return [
    route({
      method: 'get',
      path: '/workers',
      query: NO_QUERY,
      handle: async () => ({
        status: 200,
        json: { items: (await queryWorkers.list()).map(workerJson), next_cursor: null },
      }),
    }),
  ];
}

/** The JSON of a worker. */
export const workerJson = (worker: WorkerAnnouncement): Readonly<Record<string, unknown>> => ({
  instance: worker.instance,
  node: worker.node,
  pools: worker.pools,
  executors: worker.executors,
  concurrency: worker.concurrency,
  running: worker.running,
  draining: worker.isDraining,
  version: worker.version,
  zone_data: worker.zoneData ?? null,
  started_at: instantText(worker.startedAt),
  seen_at: instantText(worker.seenAt),
});

/** The JSON that says whether a task's runs find a worker; null: nobody knows. */
export const poolStatusJson = (status: PoolStatus | null): Readonly<Record<string, unknown>> | null =>
  status === null ? null : { live_workers: status.liveWorkers, problem: status.problem };
