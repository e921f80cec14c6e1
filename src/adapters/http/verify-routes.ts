import { type Verification, type VerifyHistory } from '../../application/history/verify-history.js';
import { RULES } from '../../domain/findings.js';
import { strict } from './field-problems.js';
import { queryInstant } from './instant.js';
import { route, type Route } from './route.js';

/** The range to verify, from text. */
export const VERIFY_RANGE = strict({ from: queryInstant.optional(), to: queryInstant.optional() });

/** The checker over ax's own history. */
export function verifyRoutes({ verifyHistory }: { readonly verifyHistory: VerifyHistory }): Route[] {
  return [
    route({
      method: 'get',
      path: '/verify',
      query: VERIFY_RANGE,
      handle: async ({ query: { from, to } }) => {
        const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
        return { status: 200, json: verificationJson(await verifyHistory.verify(range)) };
      },
    }),
  ];
}

/** The JSON of a verification; instants are epoch ms. `counts` has all that was found, also what is not listed. */
export function verificationJson({
  from,
  to,
  checked,
  findings,
}: Verification): Readonly<Record<string, unknown>> {
  const counts = Object.fromEntries(RULES.map((rule) => [rule, findings.countOf(rule)]));
  return {
    from,
    to,
    checked,
    counts: { ...counts, unknown: findings.unknownCount },
    violations: findings.violations.map(({ rule, taskId, slot, executionId, detail }) => ({
      rule,
      task_id: taskId,
      slot,
      execution_id: executionId,
      detail,
    })),
    unknown: findings.unknown.map((item) => ({
      task_id: item.taskId,
      from: item.from,
      to: item.to,
      reason: item.reason,
    })),
    is_truncated: findings.isTruncated,
  };
}
