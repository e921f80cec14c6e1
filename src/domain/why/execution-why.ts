import { explainOpen } from './open-why.js';
import { explainPending } from './pending-why.js';
import { atTime, because, type ExecutionCase, lastOf, said, type Verdict } from './verdict.js';
import { type Why, type WhyCode } from './why.js';

/** How far a run came, from what is recorded and, while it has not ended, from what the queue says of it. */
export function explainExecution(executionCase: ExecutionCase): Why {
  const { execution, say, live } = executionCase;
  const { event } = execution;
  const { code, text, evidence = {} } = verdictOf(executionCase);
  const name = `${event.kind === 'manual' ? 'The run by hand' : 'The slot'} of ${say(event.slot)}`;
  const late = event.isMisfire && execution.status !== 'skipped' && execution.status !== 'pending';
  const misfire = late ? ` was made up for at ${say(event.firedAt)} and` : '';
  const asked = live.runState === null ? {} : { queue_state: live.runState };
  return {
    code,
    slot: event.slot,
    summary: `${name}${misfire} ${text}.`,
    evidence: { ...evidence, ...asked },
  };
}

function verdictOf(executionCase: ExecutionCase): Verdict {
  const { execution, say } = executionCase;
  const { status, reason, finishedAt, attempt } = execution;
  const inAttempt = attempt === 0 ? '' : ` in attempt ${attempt}`;
  switch (status) {
    case 'pending':
      return explainPending(executionCase);
    case 'running':
    case 'retrying':
      return explainOpen(executionCase);
    case 'skipped':
      return skipped(executionCase);
    case 'success':
      return { code: 'succeeded', text: `succeeded${atTime(say, finishedAt)}${inAttempt}` };
    case 'timeout':
      return {
        code: 'timed_out',
        text: `timed out${atTime(say, finishedAt)}${inAttempt}${because(execution)}`,
      };
    case 'fail':
      return reason === 'outcome_unknown'
        ? {
            code: 'outcome_unknown',
            text: `has ended${atTime(say, finishedAt)} and nobody knows how${because(execution)}`,
          }
        : { code: 'failed', text: `failed${atTime(say, finishedAt)}${inAttempt}${because(execution)}` };
  }
}

/** Never begun, by reason: code, and what is said of it. */
const SKIPPED: Readonly<Record<string, readonly [WhyCode, string]>> = {
  calendar: ['calendar', 'was left out by the calendar of the task'],
  duplicate: ['duplicate_refused', 'was refused, as another event of the same slot was published before'],
  overlap: ['overlap_skipped', 'was skipped, as the task ran already'],
  cancelled: ['cancelled', 'was cancelled before it began'],
  precheck: ['precheck', 'was skipped, as the check before it did not pass'],
  deleted: ['deleted', 'was skipped, as the task was deleted before it was published'],
};

function skipped({ execution, ledger, say }: ExecutionCase): Verdict {
  const { event, reason, message, finishedAt } = execution;
  const detail = lastOf(ledger, 'finished')?.detail ?? {};
  const range = event.rangeEnd === null ? '' : ` with all slots up to ${say(event.rangeEnd)}`;
  if (reason === 'misfire') {
    const text = `was missed and skipped${range}, as decided at ${say(event.firedAt)}${said(message)}`;
    return { code: 'misfire_skipped', text, evidence: { ...detail, range_end: event.rangeEnd } };
  }
  const [code, text] = (reason === null ? undefined : SKIPPED[reason]) ?? [
    'skipped',
    `was skipped (${reason})`,
  ];
  return { code, text: `${text}${range}${atTime(say, finishedAt)}${said(message)}`, evidence: detail };
}
