import { type Readiness } from '../../application/readiness.js';
import { ANY_QUERY } from './list-query.js';
import { route, type Route } from './route.js';

/** The metrics of the process as a scraper reads them. */
export interface MetricsText {
  readonly contentType: string;
  readonly body: string;
}

/** What a probe or a scraper asks of any process, without a token. */
export function processRoutes(
  readiness: Pick<Readiness, 'report'>,
  exposition: (accept: string) => Promise<MetricsText>,
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
      handle: async (request) => {
        const { contentType, body } = await exposition(request.header('accept') ?? '');
        return { status: 200, headers: { 'Content-Type': contentType }, text: body };
      },
    }),
  ];
}
