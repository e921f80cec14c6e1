import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Outcome } from '../../src/domain/execution.js';
import { type ExecutorSpec } from '../../src/domain/executor-spec.js';
import { type Clock } from '../../src/ports/clock.js';
import { type Executor, type ExecutorRequest, type StopReason } from '../../src/ports/executor.js';
import { BASE, nextUuid } from '../support/builders.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';

/** A real target. Its runs are told apart by execution id. */
export interface ExecutorPeer {
  /** Ends well at once. */
  readonly succeeding: ExecutorSpec;
  /** Takes the work over at once and answers for it later; absent: this kind of target answers by itself. */
  readonly accepting?: ExecutorSpec;
  /** Ends badly at once. */
  readonly failing: ExecutorSpec;
  /** Works until `complete` is called, and then ends well. */
  readonly lasting: ExecutorSpec;
  complete(): void;
  /** How often the target began this execution. */
  begun(executionId: string): number;
  /** Runs in the target now. */
  atWork(): number;
  close(): Promise<void>;
}

export interface ExecutorHarness {
  readonly executor: Executor;
  readonly peer: ExecutorPeer;
}

const TIMEOUT_MS = 30_000;
const STOP_REASONS: readonly StopReason[] = ['cancelled', 'replaced', 'drained', 'claim_lost'];

export const buildRequest = <Spec extends ExecutorSpec>(
  spec: Spec,
  overrides: Partial<ExecutorRequest<Spec>> = {},
): ExecutorRequest<Spec> => ({
  executionId: nextUuid(),
  taskId: 'task-1',
  spec,
  params: { size: 1 },
  slot: BASE,
  firedAt: BASE + 12,
  attempt: 1,
  timeoutMs: TIMEOUT_MS,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  receipt: null,
  ...overrides,
});

/** Of an attempt that nobody sends a receipt for. */
export async function outcomeOf<Spec extends ExecutorSpec>(
  executor: Executor<Spec>,
  request: ExecutorRequest<Spec>,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcome = await executor.execute(request, signal);
  if (outcome.status === 'delivered') throw new Error('delivered without being asked for a receipt');
  return outcome;
}

export function executorSuite(name: string, factory: (clock: Clock) => Promise<ExecutorHarness>): void {
  describe(`${name} as an Executor`, () => {
    let clock: FakeClock;
    let executor: Executor;
    let peer: ExecutorPeer;
    let controller: AbortController;

    beforeEach(async () => {
      clock = new FakeClock();
      ({ executor, peer } = await factory(clock));
      controller = new AbortController();
    });

    afterEach(async () => {
      await until('nothing runs in the target any more', () => peer.atWork() === 0);
      expect(clock.pendingTimers).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
      await executor.close();
      await peer.close();
    });

    const execute = (spec: ExecutorSpec) => outcomeOf(executor, buildRequest(spec), controller.signal);

    /** A lasting attempt that the target has begun. */
    async function begin(signal = controller.signal): Promise<{ readonly outcome: Promise<Outcome> }> {
      const request = buildRequest(peer.lasting);
      const outcome = outcomeOf(executor, request, signal);
      await until('the target has begun', () => peer.begun(request.executionId) === 1);
      return { outcome };
    }

    it('says success, with evidence', async () => {
      const request = buildRequest(peer.succeeding);
      const outcome = await outcomeOf(executor, request, controller.signal);
      expect(outcome).toMatchObject({ status: 'success', reason: null, message: null });
      expect(outcome.evidence['duration_ms']).toBeTypeOf('number');
      expect(Object.keys(outcome.evidence).length).toBeGreaterThan(1);
      expect(peer.begun(request.executionId)).toBe(1);
    });

    it('says fail when the target ends badly, with reason, a line for people and evidence', async () => {
      const outcome = await execute(peer.failing);
      expect(outcome.status).toBe('fail');
      expect(outcome.reason).toBeTypeOf('string');
      expect(outcome.message).toMatch(/^.+$/);
      expect(Object.keys(outcome.evidence).length).toBeGreaterThan(1);
    });

    it('says delivered when the target takes over what it was asked a receipt for', async (test) => {
      const { accepting } = peer;
      if (accepting === undefined) return test.skip('its targets take nothing over');
      const request = buildRequest(accepting, { receipt: { token: 'token-1', url: null } });
      const outcome = await executor.execute(request, controller.signal);
      expect(outcome.status).toBe('delivered');
      expect(outcome.evidence['duration_ms']).toBeTypeOf('number');
      expect(peer.begun(request.executionId)).toBe(1);
    });

    it('is not delivered when the signal was aborted before', async (test) => {
      const { accepting } = peer;
      if (accepting === undefined) return test.skip('its targets take nothing over');
      controller.abort('cancelled' satisfies StopReason);
      const request = buildRequest(accepting, { receipt: { token: 'token-1', url: null } });
      const outcome = await executor.execute(request, controller.signal);
      expect(outcome).toMatchObject({ status: 'fail', reason: 'cancelled' });
      expect(peer.begun(request.executionId)).toBe(0);
    });

    it('waits for a target that takes its time', async () => {
      const { outcome } = await begin();
      await clock.advance(TIMEOUT_MS - 1);
      peer.complete();
      expect((await outcome).status).toBe('success');
    });

    it('says timeout at the deadline and leaves nothing running', async () => {
      const { outcome } = await begin();
      await clock.advance(TIMEOUT_MS);
      expect(await outcome).toMatchObject({ status: 'timeout', reason: 'deadline' });
      expect((await outcome).evidence['duration_ms']).toBe(TIMEOUT_MS);
    });

    it('does not begin when the signal was aborted before', async () => {
      controller.abort('drained' satisfies StopReason);
      const request = buildRequest(peer.succeeding);
      const outcome = await outcomeOf(executor, request, controller.signal);
      expect(outcome).toMatchObject({ status: 'fail', reason: 'drained' });
      expect(peer.begun(request.executionId)).toBe(0);
    });

    it.each(STOP_REASONS)('ends as fail with the reason of an abort: %s', async (reason) => {
      const { outcome } = await begin();
      controller.abort(reason);
      expect(await outcome).toMatchObject({ status: 'fail', reason });
      expect((await outcome).message).toMatch(/^.+$/);
    });

    it('takes an abort without a known reason for a cancellation', async () => {
      const { outcome } = await begin();
      controller.abort();
      expect(await outcome).toMatchObject({ status: 'fail', reason: 'cancelled' });
    });

    it('keeps the first of abort and deadline when both come at the same moment', async () => {
      const aborted = new AbortController();
      clock.schedule(TIMEOUT_MS, () => aborted.abort('cancelled' satisfies StopReason));
      const { outcome: abortFirst } = await begin(aborted.signal);
      const late = new AbortController();
      const { outcome: deadlineFirst } = await begin(late.signal);
      clock.schedule(TIMEOUT_MS, () => late.abort('cancelled' satisfies StopReason));
      await clock.advance(TIMEOUT_MS);
      expect(await abortFirst).toMatchObject({ status: 'fail', reason: 'cancelled' });
      expect(await deadlineFirst).toMatchObject({ status: 'timeout', reason: 'deadline' });
    });

    it('is not success when the target completes just after the abort', async () => {
      const { outcome } = await begin();
      controller.abort('cancelled' satisfies StopReason);
      peer.complete();
      expect(await outcome).toMatchObject({ status: 'fail', reason: 'cancelled' });
    });

    it('is not success when aborted at any moment before it has resolved', async () => {
      const statuses = new Set<string>();
      for (let turns = 0; turns < 40; turns += 1) {
        const racing = new AbortController();
        const { outcome } = await begin(racing.signal);
        let hasResolved = false;
        const watched = outcome.finally(() => (hasResolved = true));
        peer.complete();
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
        const wasResolved = hasResolved;
        racing.abort('cancelled' satisfies StopReason);
        const { status } = await watched;
        statuses.add(status);
        if (!wasResolved) expect(status).toBe('fail');
      }
      expect([...statuses]).toContain('fail');
    });

    it('keeps attempts apart that run side by side', async () => {
      const stopped = await Promise.all([begin(), begin(), begin()]);
      const unhurt = await Promise.all([1, 2, 3].map(() => begin(new AbortController().signal)));
      controller.abort('drained' satisfies StopReason);
      const first = await Promise.all(stopped.map(({ outcome }) => outcome));
      expect(first.map(({ reason }) => reason)).toEqual(['drained', 'drained', 'drained']);
      peer.complete();
      const rest = await Promise.all(unhurt.map(({ outcome }) => outcome));
      expect(rest.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    });

    it('leaves no listener on a signal that serves many attempts', async () => {
      for (let n = 0; n < 20; n += 1) await execute(n % 2 === 0 ? peer.succeeding : peer.failing);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });

    it('can be closed twice', async () => {
      await execute(peer.succeeding);
      await executor.close();
      await executor.close();
    });
  });
}
