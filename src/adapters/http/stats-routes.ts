import { type RunSummary, type SummarizeRuns } from '../../application/executions/summarize-runs.js';
import { type Spread } from '../../domain/run-stats.js';
import { strict } from './field-problems.js';
import { instantText, queryInstant } from './instant.js';
import { route, type Route } from './route.js';
import { taskIdOf } from './task-routes.js';

const STATS_RANGE = strict({ from: queryInstant.optional(), to: queryInstant.optional() });

/** What the executions of a task came to. */
export function statsRoutes({ summarizeRuns }: { readonly summarizeRuns: SummarizeRuns }): Route[] {
  return [
    route({
      method: 'get',
      path: '/tasks/:id/stats',
      query: STATS_RANGE,
      handle: async (request) => {
        const { from, to } = request.query;
        const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
        const id = taskIdOf(request);
        return { status: 200, json: { task_id: id, ...statsJson(await summarizeRuns.summarize(id, range)) } };
      },
    }),
  ];
}

const statsJson = ({ from, to, stats }: RunSummary) => ({
  from: instantText(from),
  to: instantText(to),
  total: stats.total,
  statuses: Object.fromEntries(stats.statuses),
  reasons: stats.reasons,
  success_rate: stats.successRate,
  duration: spreadJson(stats.duration),
  lateness: spreadJson(stats.lateness),
  queueing: spreadJson(stats.queueing),
});

const spreadJson = ({ count, p50Ms, p95Ms, p99Ms, maxMs }: Spread) => ({
  count,
  p50_ms: p50Ms,
  p95_ms: p95Ms,
  p99_ms: p99Ms,
  max_ms: maxMs,
});
