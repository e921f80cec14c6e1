import { type Readiness } from '../../application/readiness.js';
import { ANY_QUERY } from './list-query.js';
import { route, type Route } from './route.js';

/** What a probe or a scraper asks of any process, without a token. `exposition` writes the metrics in Prometheus text format. */
export function processRoutes(
  readiness: Pick<Readiness, 'report'>,
  exposition: () => Promise<string>,
): Route[] {
  return [
    route({
      method: 'get',
      path: '/healthz',
      query: ANY_QUERY,
      handle: async () => ({ status: 200, json: { status: 'ok' } }),
    }),
    route({
      method: 'get',
      path: '/readyz',
      query: ANY_QUERY,
      handle: async () => {
        const { isReady, parts } = readiness.report();
        const shown = parts.map(({ part, isReady: ready, problem }) => ({ part, ready, problem }));
        const status = isReady ? 'ready' : 'not_ready';
        return { status: isReady ? 200 : 503, json: { status, parts: shown } };
      },
    }),
    route({
      method: 'get',
      path: '/metrics',
      query: ANY_QUERY,
      handle: async () => ({
        status: 200,
        headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
        text: await exposition(),
      }),
    }),
  ];
}
