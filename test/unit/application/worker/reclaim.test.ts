import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { total, valuesOf } from '../../../support/measured.js';
import { RunScene } from '../../../support/run-scene.js';
import { type HttpExecutorSpec } from '../../../../src/domain/executors/http-spec.js';
import { failed, succeeded } from '../../../support/scripted-executor.js';

const TTL_MS = 15_000;
const HOUR = 3_600_000;
const IDEMPOTENT = { isIdempotent: true };
const RECEIPT: HttpExecutorSpec = {
  type: 'http',
  url: 'http://orders:8080/run',
  method: 'POST',
  headers: {},
  ack: 'receipt',
  signature: null,
};

describe('A run whose worker is lost', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const start = (name: string) => scene.harness.worker(name).start();
  const attempts = () => scene.executor.calls.map(({ request }) => request.attempt);
  const messages = ({ logger }: ReturnType<typeof start>) => logger.lines.map(([, , message]) => message);

  it('goes on with attempts and failures where it was, if the task is idempotent', async () => {
    const { executor } = scene;
    executor.script = (request, signal) =>
      request.attempt === 2 ? executor.lasting(HOUR)(request, signal) : failed();
    await scene.publish({ ...IDEMPOTENT, retryCount: 2, retryIntervalSec: 10 });
    const first = start('first');
    await advance(12_000);
    expect(attempts()).toEqual([1, 2]);
    first.crash();
    const second = start('second');
    await advance(TTL_MS + 5000);
    expect(attempts()).toEqual([1, 2, 3]);
    await advance(60_000);
    expect(attempts()).toEqual([1, 2, 3, 4]);
    const [final] = await scene.ended();
    expect(final).toMatchObject({ status: 'fail', attempt: 4, generation: 2, worker: 'second' });
    const reclaimed = (await scene.reports()).find(({ entry }) => entry.kind === 'reclaimed');
    expect(reclaimed?.entry).toMatchObject({
      node: 'second',
      detail: { previous_worker: 'first', previous_generation: 1 },
    });
    expect(total(second.metrics, 'reclaims_total')).toBe(1);
    expect([first, second].map(({ metrics }) => valuesOf(metrics, 'queue_to_start_seconds').length)).toEqual([
      1, 0,
    ]);
    await advance(HOUR);
  });

  it.each(['report', 'open'])(
    'makes no further attempt, when it stood still in the call of %s until others had the run',
    async (method) => {
      const { executor } = scene;
      executor.script = () => failed();
      await scene.publish({ ...IDEMPOTENT, retryCount: 1, retryIntervalSec: 10 }, 1, 'task', RECEIPT);
      const first = start('first');
      await advance(9000);
      let goOn = () => {};
      first.redis.after = (called) =>
        called === method ? new Promise((resolve) => (goOn = resolve)) : undefined;
      await advance(1000);
      first.redis.state = 'cut';
      await advance(TTL_MS);
      start('second');
      await advance(TTL_MS);
      expect(attempts()).toEqual([1, 3]);
      first.redis.state = 'passing';
      goOn();
      await advance(1000);
      expect(attempts()).toEqual([1, 3]);
      expect(await scene.endings()).toEqual(['fail http_status']);
    },
  );

  it('ends as outcome_unknown without a call, if the task is not idempotent', async () => {
    scene.executor.script = scene.executor.lasting(60_000);
    await scene.publish();
    const first = start('first');
    await advance(1000);
    first.crash();
    start('second');
    await advance(TTL_MS + 5000);
    expect(attempts()).toEqual([1]);
    expect(await scene.endings()).toEqual(['fail outcome_unknown']);
    expect((await scene.ended())[0]?.message).toContain('worker first was lost');
    await advance(60_000);
    expect(await scene.endings()).toEqual(['fail outcome_unknown']);
  });

  it.each([
    [true, 'success', 1],
    [false, 'fail outcome_unknown', 0],
  ])('right after its claim may have begun (idempotent: %s → %s)', async (isIdempotent, ending, calls) => {
    const { claims } = scene.harness.broker;
    await scene.publish({ isIdempotent });
    const first = start('first');
    const claim = claims.claim.bind(claims);
    claims.claim = async (...args) => {
      const answer = await claim(...args);
      first.crash();
      return answer;
    };
    await advance(0);
    claims.claim = claim;
    start('second');
    await advance(TTL_MS + 5000);
    expect(await scene.endings()).toEqual([ending]);
    expect(attempts()).toHaveLength(calls);
  });

  it('ends as fail, since it has begun, when its task has no room for it any more', async () => {
    const { queue, claims } = scene.harness.broker;
    scene.executor.script = scene.executor.lasting(60_000);
    const [begun] = await scene.publish(IDEMPOTENT);
    const first = start('first');
    await advance(1000);
    first.crash();
    await advance(TTL_MS);
    await scene.publish(IDEMPOTENT);
    const deliveries = await queue.take({
      pools: ['default'],
      taker: 'other',
      max: 2,
      waitMs: 0,
      reclaimAfterMs: TTL_MS,
      signal: new AbortController().signal,
      onPoison: () => undefined,
    });
    const [late, fresh] = deliveries;
    if (late === undefined || fresh === undefined) throw new Error('there should be two');
    expect(late.message.event).toEqual(begun?.event);
    await claims.claim(fresh, 'other', HOUR);
    await queue.giveBack([late]);
    start('second');
    await advance(1000);
    expect(await scene.endings()).toEqual(['fail overlap']);
    expect(attempts()).toEqual([1]);
    await advance(60_000);
  });

  it('is stopped there as soon as that worker learns of it, and its late word does not count', async () => {
    scene.executor.script = scene.executor.lasting(60_000);
    await scene.publish(IDEMPOTENT);
    const first = start('first');
    await advance(1000);
    first.redis.state = 'cut';
    start('second');
    await advance(TTL_MS + 5000);
    expect(attempts()).toEqual([1, 2]);
    expect(scene.executor.running).toBe(2);
    first.redis.state = 'passing';
    await advance(5000);
    expect(scene.executor.calls[0]?.outcome).toMatchObject({ status: 'fail', reason: 'claim_lost' });
    expect(scene.executor.running).toBe(1);
    expect(total(first.metrics, 'claims_lost_total')).toBe(1);
    await advance(60_000);
    expect(await scene.endings()).toEqual(['success']);
    expect((await scene.ended())[0]?.worker).toBe('second');
    expect(total(first.metrics, 'executions_total')).toBe(0);
    expect(messages(first)).toContain('run stopped, its claim belongs to another worker');
  });

  it('and whose executor comes to an end all the same, reports too late', async () => {
    const { clock } = scene.harness;
    scene.executor.script = async ({ attempt }) => {
      await clock.sleep(attempt === 1 ? 30_000 : 60_000);
      return succeeded();
    };
    await scene.publish(IDEMPOTENT);
    const first = start('first');
    await advance(1000);
    first.redis.state = 'cut';
    start('second');
    await advance(28_900);
    first.redis.state = 'passing';
    await advance(200);
    expect(scene.executor.calls[0]?.outcome?.status).toBe('success');
    expect(await scene.endings()).toEqual([]);
    expect(messages(first)).toContain('late report refused, the claim was lost');
    await advance(60_000);
    expect((await scene.ended()).map(({ worker, status }) => [worker, status])).toEqual([
      ['second', 'success'],
    ]);
  });

  it('while it was paused between claim and start is not begun there any more', async () => {
    const { claims } = scene.harness.broker;
    await scene.publish(IDEMPOTENT);
    const paused = start('paused');
    const claim = claims.claim.bind(claims);
    let wake = () => undefined as void;
    const isAsleep = new Promise<void>((resolve) => (wake = resolve));
    claims.claim = async (...args) => {
      const answer = await claim(...args);
      await isAsleep;
      return answer;
    };
    await advance(0);
    claims.claim = claim;
    paused.redis.state = 'cut';
    start('second');
    await advance(2 * TTL_MS);
    paused.redis.state = 'passing';
    wake();
    await advance(0);
    expect(scene.executor.calls).toHaveLength(1);
    expect((await scene.ended()).map(({ worker }) => worker)).toEqual(['second']);
    expect(messages(paused)).toContain('run stopped, its claim belongs to another worker');
  });
});

describe('Copies of a message', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  it('that reach two workers at the same time are run once', async () => {
    scene.executor.script = scene.executor.lasting(100);
    const workers = [scene.harness.worker('first'), scene.harness.worker('second')];
    await scene.publish({ maxConcurrent: 100 }, 50);
    const deliveries = await scene.harness.broker.queue.take({
      pools: ['default'],
      taker: 'test',
      max: 100,
      waitMs: 0,
      reclaimAfterMs: HOUR,
      signal: new AbortController().signal,
      onPoison: () => undefined,
    });
    const runs = deliveries.flatMap((delivery) =>
      [...workers, ...workers].map(({ runExecution }) => runExecution.run(delivery, new AbortController())),
    );
    await scene.harness.clock.advance(1000);
    await Promise.all(runs);
    expect(scene.executor.calls).toHaveLength(50);
    expect(new Set(scene.executor.calls.map(({ request }) => request.executionId)).size).toBe(50);
    expect(await scene.endings()).toEqual(Array(50).fill('success'));
    const refused = workers.map(({ metrics }) =>
      total(metrics, 'duplicates_prevented_total', { line: 'claim' }),
    );
    expect(refused.reduce((a, b) => a + b)).toBe(150);
  });

  it('are left alone once the run has ended', async () => {
    scene.harness.worker('first').start();
    const messages = await scene.publish({}, 3);
    await scene.harness.clock.advance(1000);
    expect(await scene.harness.broker.queue.publish(messages)).toEqual(['known', 'known', 'known']);
    await scene.harness.clock.advance(1000);
    expect(scene.executor.calls).toHaveLength(1);
  });
});
