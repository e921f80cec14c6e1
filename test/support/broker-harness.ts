import { expect } from 'vitest';
import { DEFAULT_POLICY, type OverlapPolicy } from '../../src/domain/policy.js';
import { type Claim, type ClaimProgress, type Claims } from '../../src/ports/claims.js';
import { type Delivery, type Queue, type QueueMessage, type TakeRequest } from '../../src/ports/queue.js';
import { type LastOutcomes } from '../../src/ports/last-outcomes.js';
import { type ResultBatch, type Results } from '../../src/ports/results.js';
import { type Stops } from '../../src/ports/stops.js';
import { buildEvent, buildMessage, buildReport, buildTask, snapshotOf } from './builders.js';
import { until } from './until.js';

/** Queue, claims, stops and results over one store that nobody else uses. */
export interface BrokerHarness {
  readonly queue: Queue;
  readonly claims: Claims;
  readonly results: Results;
  readonly lastOutcomes: LastOutcomes;
  readonly stops: Stops;
  /** The store's clock, epoch ms. */
  now(): Promise<number>;
  /** Lets `ms` pass by the store's clock. */
  advance(ms: number): Promise<void>;
  /** The store goes on, empty. */
  loseData(): Promise<void>;
  /** Puts something that is no message into a pool; only where the store can hold such a thing. */
  readonly spoilQueue?: (pool: string, text: string) => Promise<void>;
  readonly spoilResults?: (text: string) => Promise<void>;
  close(): Promise<void>;
}

/** Whether entries can be spoilt; a suite skips, and shows, what does not apply. */
export interface BrokerCapabilities {
  readonly holdsText: boolean;
}

/** Longer than any test. */
export const NEVER_MS = 600_000;

const refusePoison = (handle: string, error: unknown) => {
  throw new Error(`unexpected poison ${handle}`, { cause: error });
};

/** Takes without waiting from pool `default` as `worker-1`, and takes nothing over, unless told otherwise. */
export const take = (
  { queue }: Pick<BrokerHarness, 'queue'>,
  request: Partial<TakeRequest> = {},
): Promise<Delivery[]> =>
  queue.take({
    pools: ['default'],
    taker: 'worker-1',
    max: 100,
    waitMs: 0,
    reclaimAfterMs: NEVER_MS,
    signal: new AbortController().signal,
    onPoison: refusePoison,
    ...request,
  });

/** Takes until there is at least one, for things that may take the store a moment. */
export const takeSoon = (harness: BrokerHarness, request: Partial<TakeRequest> = {}): Promise<Delivery[]> =>
  until('a message to take', async () => {
    const deliveries = await take(harness, request);
    return deliveries.length > 0 && deliveries;
  });

/** As `take`, from the results. */
export const takeResults = (
  { results }: BrokerHarness,
  request: Partial<Parameters<Results['take']>[0]> = {},
): Promise<ResultBatch> =>
  results.take({
    taker: 'collector-1',
    max: 5000,
    waitMs: 0,
    reclaimAfterMs: NEVER_MS,
    signal: new AbortController().signal,
    onPoison: refusePoison,
    ...request,
  });

export const idsOf = (deliveries: readonly Delivery[]): string[] =>
  deliveries.map(({ message }) => message.event.id);

export const inPool = (pool: string): QueueMessage => buildMessage({ task: snapshotOf(buildTask({ pool })) });

/** Publishes messages and takes them as `worker`, in their order. */
export async function publishAndTake(
  harness: Pick<BrokerHarness, 'queue'>,
  messages: readonly QueueMessage[],
  worker = 'worker-1',
): Promise<Delivery[]> {
  expect(await harness.queue.publish(messages)).toEqual(messages.map(() => 'added'));
  const deliveries = await take(harness, { taker: worker, max: messages.length });
  expect(idsOf(deliveries)).toEqual(messages.map(({ event }) => event.id));
  return deliveries;
}

/** Claims a delivery and fails unless it is claimed. */
export async function claimed(
  { claims }: Pick<BrokerHarness, 'claims'>,
  delivery: Delivery | undefined,
  worker: string,
  ttlMs = NEVER_MS,
) {
  if (delivery === undefined) throw new Error('nothing to claim');
  const answer = await claims.claim(delivery, worker, ttlMs);
  if (answer.outcome !== 'claimed') throw new Error(`${worker} could not claim: ${answer.outcome}`);
  return answer;
}

/** A report as the worker of `claim` would make it. */
export const reportOf = ({ executionId, taskId, generation, worker }: Claim) => ({
  executionId,
  taskId,
  generation,
  worker,
});

/** A life that tests can wait for. */
export const SHORT_MS = 300;

/** Of a run of which nothing has begun. */
export const NO_PROGRESS: ClaimProgress = { attempt: 0, failures: 0, receiptUntil: null, retryAt: null };

/** Publishes one message and takes it as `worker-1`. */
export async function publishOne(
  harness: Pick<BrokerHarness, 'queue'>,
  message = buildMessage(),
): Promise<Delivery> {
  const [delivery] = await publishAndTake(harness, [message]);
  if (delivery === undefined) throw new Error('nothing taken');
  return delivery;
}

/** The message of a taker that has been silent, taken over by `worker`. */
export async function takeOver(
  harness: BrokerHarness,
  worker: string,
  afterMs = SHORT_MS,
): Promise<Delivery> {
  await harness.advance(afterMs);
  const [delivery] = await takeSoon(harness, { taker: worker, reclaimAfterMs: afterMs, max: 1 });
  if (delivery === undefined) throw new Error('nothing taken over');
  return delivery;
}

export const finish = ({ claims }: BrokerHarness, claim: Claim): Promise<boolean> =>
  claims.finish(claim, buildReport({ ...reportOf(claim), status: 'success' }));

/** Who sent the reports that wait to be collected, and by which claim. */
export const reporters = async (harness: BrokerHarness) =>
  (await takeResults(harness)).reports.map(({ worker, generation }) => [worker, generation]);

/** Messages of one task, one slot each, oldest first. */
export function slotsOfOneTask(
  count: number,
  maxConcurrent: number,
  overlapPolicy: OverlapPolicy = 'skip',
): QueueMessage[] {
  const task = snapshotOf(buildTask({ policy: { ...DEFAULT_POLICY, maxConcurrent, overlapPolicy } }));
  return Array.from({ length: count }, () => buildMessage({ task, event: buildEvent({ taskId: task.id }) }));
}
