import { checked } from '../adapters/http/field-problems.js';
import { VERIFY_RANGE, verificationJson } from '../adapters/http/verify-routes.js';
import { SqlHistoryRepo } from '../adapters/sql/sql-history-repo.js';
import { SystemClock } from '../adapters/system/system-clock.js';
import { type Verification, VerifyHistory } from '../application/history/verify-history.js';
import { RULES } from '../domain/findings.js';
import { type VerifiedStore } from './config.js';
import { openHistory } from './open-history.js';

/** A process of its own may take longer than a request. */
const MAX_STEPS = 20_000_000;

/**
 * Checks the history in a store and prints what breaks the rules, as lines or as the JSON of the API. Says whether it is clean.
 * @throws InvalidInput on `from` or `to`; AxError `refused_start`, `unavailable`.
 */
export async function verify(
  store: VerifiedStore,
  options: { readonly from?: string; readonly to?: string; readonly json?: boolean },
): Promise<boolean> {
  const { from, to } = checked(VERIFY_RANGE, { from: options.from, to: options.to });
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const clock = new SystemClock();
  const { db, close } = await openHistory(store, clock, 'GET /api/verify?from=&to=');
  try {
    const verifyHistory = new VerifyHistory(
      { history: new SqlHistoryRepo(db), clock },
      { maxSteps: MAX_STEPS },
    );
    const verification = await verifyHistory.verify(range);
    process.stdout.write(
      options.json === true ? `${JSON.stringify(verificationJson(verification))}\n` : lines(verification),
    );
    return verification.findings.violationCount === 0;
  } finally {
    await close();
  }
}

const text = (instant: number): string => new Date(instant).toISOString();

function lines({ from, to, checked: seen, findings }: Verification): string {
  const found = RULES.filter((rule) => findings.countOf(rule) > 0).map(
    (rule) => `${findings.countOf(rule)} ${rule}`,
  );
  return [
    ...findings.violations.map(({ rule, taskId, slot, executionId, detail }) =>
      [rule, taskId, text(slot), ...(executionId === null ? [] : [executionId]), detail].join('  '),
    ),
    ...findings.unknown.map(
      (item) => `unknown  ${item.taskId}  ${text(item.from)} to ${text(item.to)}  ${item.reason}`,
    ),
    ...(findings.isTruncated ? ['… not all are listed'] : []),
    `${text(from)} to ${text(to)}: ${seen.tasks} tasks, ${seen.slots} slots, ${seen.events} events; ` +
      (found.length === 0 ? 'no violation' : `violations: ${found.join(', ')}`) +
      (findings.unknownCount === 0 ? '' : `; ${findings.unknownCount} unknown`),
    '',
  ].join('\n');
}
