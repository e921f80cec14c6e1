import { type ExecutorSpec } from '../../src/domain/executor-spec.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.js';
import { type QueueMessage } from '../../src/ports/queue.js';
import { coordinatorVerdict } from '../../src/application/coordinator/coordinator-verdict.js';
import { type CancelAnswer } from '../../src/ports/stops.js';
import { buildEvent, buildMessage, buildTask, snapshotOf } from './builders.js';
import { NodeHarness } from './node-harness.js';

/** Messages in the queue, workers that run them, and what those report. */
export class RunScene {
  private readonly seen: ExecutionReport[] = [];

  private constructor(readonly harness: NodeHarness) {}

  static async open(): Promise<RunScene> {
    return new RunScene(await NodeHarness.open());
  }

  close(): Promise<void> {
    return this.harness.close();
  }

  get executor() {
    return this.harness.executor;
  }

  /** Puts the next slots of a task with this policy into the queue, triggered now. */
  async publish(
    policy: Partial<Policy> = {},
    count = 1,
    taskId = 'task',
    executor?: ExecutorSpec,
  ): Promise<QueueMessage[]> {
    const { clock, broker } = this.harness;
    const task = snapshotOf(
      buildTask({
        id: taskId,
        policy: { ...DEFAULT_POLICY, ...policy },
        ...(executor === undefined ? {} : { executor }),
      }),
    );
    const now = clock.now();
    const messages = Array.from({ length: count }, (_, i) => {
      const event = buildEvent({ taskId, slot: now + i, firedAt: now, queueEpoch: 'life-1' });
      return buildMessage({ event, task, publishedAt: now });
    });
    await broker.queue.publish(messages);
    return messages;
  }

  /** Asks a run to stop, as the API does. */
  async cancel({ event, task }: QueueMessage): Promise<CancelAnswer> {
    const verdict = (status: 'skipped' | 'fail'): ExecutionReport =>
      coordinatorVerdict(event, {
        status,
        reason: 'cancelled',
        message: 'cancelled',
        at: this.harness.clock.now(),
        node: 'test',
      });
    const { stops } = this.harness.broker;
    const run = { ...event, executionId: event.id, pool: task.pool };
    return stops.cancel(run, { unbegun: verdict('skipped'), begun: verdict('fail') });
  }

  /** Everything that was reported so far, in order; there must be no collector. */
  async reports(): Promise<ExecutionReport[]> {
    const { reports } = await this.harness.broker.results.take({
      taker: 'test',
      max: 10_000,
      waitMs: 0,
      reclaimAfterMs: Number.MAX_SAFE_INTEGER,
      signal: new AbortController().signal,
      onPoison: () => undefined,
    });
    this.seen.push(...reports);
    return [...this.seen];
  }

  /** Kind and status of every report so far. */
  async told(): Promise<string[]> {
    return (await this.reports()).map(({ entry, status }) => `${entry.kind} ${status}`);
  }

  /** The final reports so far. */
  async ended(): Promise<ExecutionReport[]> {
    return (await this.reports()).filter(({ entry }) => entry.kind === 'finished');
  }

  /** How each run ended so far: status, and the reason if there is one. */
  async endings(): Promise<string[]> {
    return (await this.ended()).map(({ status, reason }) =>
      reason === null ? status : `${status} ${reason}`,
    );
  }
}
