import { type Explanation, type ExplainSlot } from '../../application/history/explain-slot.js';
import { attemptsOf } from './attempts.js';
import { executionJson } from './execution-json.js';
import { strict } from './field-problems.js';
import { localText, queryInstant } from './instant.js';
import { route, type Route } from './route.js';
import { taskIdOf } from './task-routes.js';

/** The instant that is asked about, from text. */
export const WHY_QUERY = strict({ at: queryInstant.optional() });

/** What became of the run that was expected at an instant. */
export function whyRoutes({ explainSlot }: { readonly explainSlot: ExplainSlot }): Route[] {
  return [
    route({
      method: 'get',
      path: '/tasks/:id/why',
      query: WHY_QUERY,
      handle: async (request) => {
        const explanation = await explainSlot.explain(taskIdOf(request), request.query.at ?? null);
        return { status: 200, json: whyJson(explanation) };
      },
    }),
  ];
}

/** The JSON of an explanation; instants are epoch ms, `local` is the same in the zone of the schedule. */
export function whyJson(explanation: Explanation): Readonly<Record<string, unknown>> {
  const { taskId, at, slot, code, summary, evidence, recorded, next, notTold, timezone } = explanation;
  const found =
    recorded === null
      ? {}
      : {
          execution: executionJson(recorded.execution),
          attempts: attemptsOf(recorded.ledger),
          ledger: recorded.ledger.map(({ kind, at, node, detail }) => ({ kind, at, node, detail })),
        };
  return {
    task_id: taskId,
    at,
    slot,
    code,
    summary,
    evidence: { ...evidence, ...found, ...(notTold.length === 0 ? {} : { not_told: notTold }) },
    next: next === null ? null : { slot: next, local: localText(next, timezone) },
  };
}
