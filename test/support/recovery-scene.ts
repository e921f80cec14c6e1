import { type Execution, type ExecutionReport } from '../../src/domain/execution.js';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { type Task } from '../../src/domain/task.js';
import { BASE, buildReport } from './builders.js';
import { type CoordinatorNode } from './coordinator-node.js';
import { every, NodeHarness } from './node-harness.js';

export const HOUR = 3_600_000;
export const GRACE_MS = 10_000;

/** One execution that a coordinator recorded before it died, and `node`, whose recovery has to settle it. */
export class RecoveryScene {
  private constructor(
    readonly harness: NodeHarness,
    readonly node: CoordinatorNode,
  ) {}

  static async open(): Promise<RecoveryScene> {
    const harness = await NodeHarness.open();
    return new RecoveryScene(harness, harness.coordinator('leader'));
  }

  close(): Promise<void> {
    return this.harness.close();
  }

  /** An hourly task is triggered at `BASE + HOUR`, and its coordinator dies before or after it has published that. */
  async record(isIdempotent: boolean, death: 'before publish' | 'after publish'): Promise<void> {
    const { harness } = this;
    await harness.add(hourly(isIdempotent));
    await harness.clock.advance(HOUR);
    const former = harness.coordinator('former', { leaseMs: 1000 });
    former.redis.before = (method) => {
      if (method === 'publish' && death === 'before publish') throw new Error('it dies');
    };
    await former.tick.turn().catch(() => undefined);
    former.crash();
    await harness.clock.advance(1000);
  }

  /** A worker's report of it is applied. */
  async reported(report: Partial<ExecutionReport>): Promise<void> {
    const { id: executionId, taskId } = (await this.execution()).event;
    const whole = buildReport({ executionId, taskId, startedAt: BASE + HOUR, ...report });
    await this.harness.executions.apply([whole]);
  }

  /** Sweeps until everything that is old enough was looked at. */
  async sweep(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      await this.harness.clock.advance(GRACE_MS + 1);
      await this.node.leadership.ensure();
      await this.node.recovery.sweep();
    }
  }

  async execution(): Promise<Execution> {
    return (await this.harness.only()).execution;
  }

  async ledger(): Promise<string[]> {
    return (await this.harness.only()).ledger.map(({ kind }) => kind);
  }

  queued(): Promise<number> {
    return this.harness.broker.queue.depth();
  }
}

export const hourly = (isIdempotent: boolean): Task =>
  every(3600, { id: 'task', policy: { ...DEFAULT_POLICY, isIdempotent } });
