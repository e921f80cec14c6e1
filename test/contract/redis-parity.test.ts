import fc from 'fast-check';
import { expect, inject, it } from 'vitest';
import { DEFAULT_POLICY, type OverlapPolicy } from '../../src/domain/policy.js';
import { type Claim } from '../../src/ports/claims.js';
import { type Delivery } from '../../src/ports/queue.js';
import {
  type BrokerHarness,
  NEVER_MS,
  idsOf,
  reportOf,
  take,
  takeResults,
} from '../support/broker-harness.js';
import {
  buildEvent,
  buildMessage,
  buildReport,
  buildTask,
  nextUuid,
  snapshotOf,
} from '../support/builders.js';
import { openInProcess } from '../support/in-process-harness.js';
import { RedisNamespace } from '../support/redis-namespace.js';

/** Long before and long after the clocks of both sides. */
const [AGES_AGO, FAR_OFF] = [0, 4_102_444_800_000];

/**
 * Tasks of every overlap policy with some slots each, and a rival for one of the slots. Some runs were due before any claim and may wait
 * under `skip`, others came later, or too late for that.
 */
function makeMessages() {
  const ofTask = (count: number, maxConcurrent: number, overlapPolicy: OverlapPolicy) => {
    const task = buildTask({ policy: { ...DEFAULT_POLICY, maxConcurrent, overlapPolicy } });
    return Array.from({ length: count }, (_, i) => {
      const windowStart = i % 4 === 2 ? FAR_OFF : AGES_AGO;
      const times = { windowStart, windowEnd: windowStart + 5000, firedAt: i % 4 === 3 ? AGES_AGO : FAR_OFF };
      return buildMessage({ task: snapshotOf(task), event: buildEvent({ taskId: task.id, ...times }) });
    });
  };
  const messages = [
    ...ofTask(4, 1, 'skip'),
    ...ofTask(4, 2, 'skip'),
    ...ofTask(4, 1, 'queue'),
    ...ofTask(4, 2, 'queue'),
    ...ofTask(3, 1, 'replace'),
    ...ofTask(4, 2, 'replace'),
  ];
  const [first] = messages;
  return first ? [...messages, { ...first, event: { ...first.event, id: nextUuid() } }] : [];
}

/** One side of the comparison; deliveries and claims are named by their order, since handles differ. */
class Side {
  private deliveries: Delivery[] = [];
  private claims: Claim[] = [];

  constructor(
    private readonly broker: BrokerHarness,
    private readonly messages: ReturnType<typeof makeMessages>,
  ) {}

  async do({ verb, n, worker }: Step): Promise<unknown> {
    const { queue, claims } = this.broker;
    const delivery = this.deliveries[n % Math.max(1, this.deliveries.length)];
    const claim = this.claims[n % Math.max(1, this.claims.length)];
    const progress = {
      attempt: n % 8,
      failures: n % 4,
      receiptUntil: n % 3 === 0 ? 4_102_444_800_000 + n : null,
      retryAt: n % 3 === 1 ? 4_102_444_800_000 + n : null,
    };
    switch (verb) {
      case 'publish':
        return queue.publish(this.messages.filter((_, i) => (n >> i) & 1));
      case 'take': {
        const taken = await take(this.broker, { taker: worker, max: (n % 3) + 1 });
        this.deliveries.push(...taken);
        return idsOf(taken);
      }
      case 'giveBack':
        return delivery && queue.giveBack([delivery]);
      case 'claim': {
        if (delivery === undefined) return null;
        const { id: executionId, taskId } = delivery.message.event;
        const begun = buildReport({ executionId, taskId, worker, seq: n });
        const waiting = buildReport({ executionId, taskId, worker, seq: n, status: 'pending' });
        const terms = { ...(n % 2 === 0 ? { begun } : {}), waiting: () => waiting, maxWaiting: 2 };
        const answer = await claims.claim(delivery, worker, NEVER_MS, terms);
        if (answer.outcome !== 'claimed') return answer;
        this.claims.push(answer.claim);
        return { ...answer, claim: { ...answer.claim, handle: null } };
      }
      case 'renew':
        return claims.renew(this.claims, NEVER_MS);
      case 'report':
        return claim && claims.report(claim, buildReport({ ...reportOf(claim), seq: n }), progress);
      case 'finish':
        return claim && claims.finish(claim, buildReport({ ...reportOf(claim), status: 'success' }));
      case 'abandon':
        return claim && claims.abandon(claim, buildReport(reportOf(claim)));
      case 'handBack':
        return claim && claims.handBack(claim, buildReport(reportOf(claim)), progress);
      case 'cancel': {
        const event = this.messages[n % this.messages.length]?.event;
        if (event === undefined) return null;
        const of = { executionId: event.id, taskId: event.taskId, generation: 0, worker: null };
        const unbegun = buildReport({ ...of, status: 'skipped', seq: 1 });
        const begun = buildReport({ ...of, status: 'fail', seq: 2 });
        return this.broker.stops.cancel({ ...event, executionId: event.id }, { unbegun, begun });
      }
      case 'collect': {
        const batch = await takeResults(this.broker, { taker: worker, max: (n % 3) + 1 });
        if (n % 2 === 0) await this.broker.results.acknowledge(batch);
        return batch.reports.map(({ executionId, generation, seq, status }) => [
          executionId,
          generation,
          seq,
          status,
        ]);
      }
      case 'loseData':
        return n % 4 === 0 ? this.broker.loseData() : undefined;
    }
  }

  async look(): Promise<unknown> {
    const { queue, results } = this.broker;
    const states = await queue.states(this.messages.map(({ event }) => event));
    return { states, depth: await queue.depth(), waiting: (await results.backlog()).depth };
  }
}

const verb = fc.constantFrom(
  ...(['publish', 'publish', 'take', 'take', 'take', 'claim', 'claim', 'claim', 'claim', 'claim'] as const),
  ...([
    'giveBack',
    'renew',
    'report',
    'finish',
    'finish',
    'handBack',
    'abandon',
    'cancel',
    'collect',
  ] as const),
  ...(['loseData'] as const),
);
const step = fc.record({
  verb,
  n: fc.integer({ min: 0, max: 0xff_ffff }),
  worker: fc.constantFrom('worker-1', 'worker-2', 'worker-3'),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

it('the broker in the process answers every history as Redis does', { timeout: 120_000 }, async () => {
  const namespace = new RedisNamespace(inject('redisUrl'));
  const redis = namespace.broker();
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 70 }), async (steps) => {
        await namespace.empty();
        const messages = makeMessages();
        const sides = [new Side(redis, messages), new Side(openInProcess(), messages)] as const;
        for (const [at, one] of steps.entries()) {
          const [real, fake] = [await sides[0].do(one), await sides[1].do(one)];
          expect(fake, `step ${at}: ${one.verb}`).toEqual(real);
          expect(await sides[1].look(), `after step ${at}: ${one.verb}`).toEqual(await sides[0].look());
        }
      }),
      { numRuns: 100 },
    );
  } finally {
    await namespace.close();
  }
});
