import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { RedisReceipts } from '../../src/adapters/redis/redis-receipts.js';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { type BrokerHarness, takeResults } from '../support/broker-harness.js';
import { buildEvent, buildMessage, buildTask, snapshotOf } from '../support/builders.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { failed, ScriptedExecutor } from '../support/scripted-executor.js';
import { until } from '../support/until.js';
import { WorkerNode } from '../support/worker-node.js';

const CLAIM_TTL_MS = 1500;
/** Long enough that a worker is surely stopped while it waits. */
const RETRY_SEC = 5;

describe('A worker on Redis that is lost between two attempts', () => {
  const clock = new SystemClock();
  let namespace: RedisNamespace;
  let nodes: WorkerNode[];
  let reports: ExecutionReport[];
  let seen: BrokerHarness;
  beforeEach(() => {
    namespace = new RedisNamespace(inject('redisUrl'));
    seen = namespace.broker();
    nodes = [];
    reports = [];
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await namespace.close();
  });

  /** Every attempt of it fails. */
  const start = (name: string) => {
    const executor = new ScriptedExecutor(clock);
    executor.script = ({ attempt }) => ({ ...failed(), evidence: { http_status: 500 + attempt } });
    const executors = new Map([[executor.type, executor]]);
    const connection = namespace.connect();
    const broker = { ...namespace.broker(connection), receipts: new RedisReceipts(connection) };
    const node = new WorkerNode({ clock, broker }, name, { executors, claimTtlMs: CLAIM_TTL_MS, drainMs: 0 });
    nodes.push(node.start());
    return { node, attempts: () => executor.calls.map(({ request }) => request.attempt) };
  };
  const told = async () => {
    reports.push(...(await takeResults(seen)).reports);
    return reports;
  };
  const publish = async () => {
    const policy = { ...DEFAULT_POLICY, isIdempotent: true, retryCount: 2, retryIntervalSec: RETRY_SEC };
    const task = buildTask({ policy });
    const event = buildEvent({ taskId: task.id, queueEpoch: await seen.queue.epoch() });
    const { queueEpoch } = event;
    await seen.queue.publish([buildMessage({ event, task: snapshotOf(task), queueEpoch })]);
  };
  const kinds = (kind: string) => reports.filter(({ entry }) => entry.kind === kind);

  it.each([
    ['drains', (node: WorkerNode) => node.stop(), 'handed_back'],
    ['dies', async (node: WorkerNode) => node.crash(), 'reclaimed'],
  ] as const)(
    'as it %s, hands over with its attempts and failures counted',
    async (_how, lose, trace) => {
      await publish();
      const first = start('first');
      await until('it waits for its retry', async () =>
        (await told()).some(({ entry }) => entry.kind === 'retry_planned'),
      );
      await lose(first.node);
      const second = start('second');
      await until('the run ends', async () => (await told()).some(({ status }) => status === 'fail'), 60_000);

      expect(first.attempts()).toEqual([1]);
      expect(second.attempts()).toEqual([2, 3]);
      expect(kinds(trace)).toHaveLength(1);
      const failures = [...kinds('attempt_failed'), ...kinds('finished')];
      expect(failures.map(({ worker, entry }) => [worker, entry.detail])).toMatchObject([
        ['first', { attempt: 1, status: 'fail', evidence: { http_status: 501 } }],
        ['second', { attempt: 2, status: 'fail', evidence: { http_status: 502 } }],
        ['second', { attempt: 3, status: 'fail', evidence: { http_status: 503 } }],
      ]);
      const planned = kinds('retry_planned').map(({ entry }) => entry);
      expect(planned.map(({ at, detail }) => [detail['attempt'], Number(detail['retry_at']) - at])).toEqual([
        [2, RETRY_SEC * 1000],
        [3, RETRY_SEC * 1000],
      ]);
      const retryAt = planned[0]?.detail['retry_at'];
      expect(kinds('reclaimed')[0]).toMatchObject({
        status: 'retrying',
        entry: { detail: { retry_at: retryAt } },
      });
      expect(kinds('attempt_started')[0]?.entry).toMatchObject({ detail: { attempt: 2 } });
      expect(kinds('attempt_started')[0]?.entry.at).toBeGreaterThan(Number(retryAt) - 1000);
      expect(kinds('finished')[0]).toMatchObject({ status: 'fail', attempt: 3, generation: 2 });
    },
    90_000,
  );
});
