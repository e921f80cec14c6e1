import { type LedgerEntry } from '../execution.js';
import { type ExecutionCase, lastOf, said, unreported, type Verdict } from './verdict.js';

/** Triggered, and no report of a worker is in the store. */
export function explainPending(executionCase: ExecutionCase): Verdict {
  const { execution, ledger, say, live } = executionCase;
  const fired = `was triggered at ${say(execution.event.firedAt)} by ${execution.event.node}`;
  const waiting = lastOf(ledger, 'waiting');
  if (execution.reason === 'precheck' && live.runState !== 'finished') return checking(executionCase, fired);
  switch (live.runState) {
    case 'finished':
    case 'claimed':
      return unreported(executionCase, fired);
    case 'waiting':
      return inLine(fired, waiting);
    case 'unknown': {
      const text = `${fired} and is not in the queue: not published yet, or lost with the queue's data; the leader publishes it again`;
      return { code: 'not_published', text };
    }
    case 'queued':
      return queued(executionCase, fired);
    case null: {
      if (waiting !== undefined && ledger.at(-1) === waiting) return inLine(fired, waiting);
      const text = `${fired} and no worker has reported it; the queue did not answer, so ax cannot tell how far it came`;
      return { code: 'triggered', text, evidence: { missing: 'what the queue says of the run' } };
    }
  }
}

/** A check before the run failed and is made again. */
function checking({ execution, ledger, say }: ExecutionCase, fired: string): Verdict {
  const { retry_at: retryAt = null, check = null } = lastOf(ledger, 'precheck_failed')?.detail ?? {};
  const again = typeof retryAt === 'number' ? ` and is made again at ${say(retryAt)}` : '';
  const text = `${fired}; the check before it did not pass${said(execution.message)}${again}`;
  return { code: 'precheck', text, evidence: { check, retry_at: retryAt } };
}

function queued({ ledger, live, say }: ExecutionCase, fired: string): Verdict {
  const { workers, queue } = live;
  const handed = lastOf(ledger, 'handed_back');
  const back = handed === undefined ? '' : `, was handed back by ${handed.node} at ${say(handed.at)}`;
  if (workers !== null && workers.problem !== null) {
    const evidence = { live_workers: workers.live, problem: workers.problem };
    return {
      code: 'no_worker',
      text: `${fired}${back} and waits in the queue: ${workers.problem}`,
      evidence,
    };
  }
  const served =
    workers === null ? 'how many workers serve it is not known' : `${workers.live} live workers serve it`;
  const before = queue === null ? '' : `, ${queue.depth} messages are in the queue`;
  const evidence = { live_workers: workers?.live ?? null, queue_depth: queue?.depth ?? null };
  return {
    code: 'not_claimed',
    text: `${fired}${back} and waits for a worker: ${served}${before}`,
    evidence,
  };
}

function inLine(fired: string, waiting: LedgerEntry | undefined): Verdict {
  const most = waiting?.detail['max_concurrent'];
  const room = most === undefined ? 'max_concurrent' : `max_concurrent = ${JSON.stringify(most)}`;
  const text = `${fired} and waits its turn in the line of the task, which runs ${room} times already`;
  return {
    code: 'waiting_overlap',
    text,
    evidence: { waiting_since: waiting?.at ?? null, ...waiting?.detail },
  };
}
