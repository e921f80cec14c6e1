import { type Delivery, type QueueMessage } from '../../ports/queue.js';
import { ClaimedRun } from './claimed-run.js';
import { QueueLife } from './queue-life.js';
import { type RunDeps } from './run-deps.js';
import { RunReports, waitingReport } from './run-reports.js';
import { RunTrace } from './run-trace.js';

/**
 * Runs one delivered event: claim → report → attempts → one atomic finish. Whatever happens, each path ends in exactly one of: finished,
 * handed back, waiting in the line of its task (nobody runs it, it is delivered again), or claim lost (then another worker owns the run,
 * and nothing that this one says counts).
 */
export class RunExecution {
  private readonly queueLife: QueueLife;

  constructor(private readonly deps: RunDeps) {
    this.queueLife = new QueueLife(deps.queue);
  }

  /** `stop` ends the run early; its abort reason is a StopReason. @throws AxError `unavailable` only before the claim. */
  async run(delivery: Delivery, stop: AbortController): Promise<void> {
    const { claims, heartbeats, worker, claimTtlMs, clock, metrics, maxWaiting } = this.deps;
    const trace = new RunTrace(this.deps, delivery.message);
    // After an outage longer than a claim lives, the queue hands a worker the runs that it still has.
    const isHere = await heartbeats.holds(delivery.message.event.id);
    const claimedAt = clock.monotonicMs();
    const first = this.firstClaim(delivery.message);
    const begun = first.claimed(clock.now(), delivery.message.publishedAt);
    // With a check before it, no run begins with its claim.
    const isChecked = delivery.message.task.hooks.pre !== null;
    const waiting = () => waitingReport(delivery.message, clock.now(), worker);
    const terms = { ...(isChecked ? {} : { begun }), waiting, maxWaiting };
    const answer = isHere ? null : await claims.claim(delivery, worker, claimTtlMs, terms);
    if (answer !== null) trace.claimed(answer);
    if (answer?.outcome === 'waiting') return;
    if (answer?.outcome !== 'claimed') {
      metrics.count('duplicates_prevented_total', { line: 'claim' });
      return;
    }
    const { message } = delivery;
    const { queueLife } = this;
    const run = new ClaimedRun({ ...this.deps, queueLife }, { message, answer, first, trace, stop });
    heartbeats.add(answer.claim, claimedAt, (reason) => stop.abort(reason));
    try {
      await run.toEnd();
    } finally {
      heartbeats.remove(answer.claim);
    }
  }

  /** The reports of a claim that nobody claimed before; they count only if it turns out to be one. */
  private firstClaim({ event, generationFloor }: QueueMessage): RunReports {
    const { id: executionId, taskId } = event;
    return new RunReports(
      { executionId, taskId, generation: generationFloor + 1, worker: this.deps.worker },
      0,
    );
  }
}
