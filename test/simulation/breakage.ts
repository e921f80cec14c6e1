import { messageFor } from '../../src/application/message-for.js';
import { FireTimes } from '../../src/domain/schedule.js';
import { isBroken } from '../../src/domain/task.js';
import { type Claim, type Claims, type RenewAnswer } from '../../src/ports/claims.js';
import { type Queue } from '../../src/ports/queue.js';
import { type DecidedBatch, type TriggerRepo } from '../../src/ports/trigger-repo.js';

/** Ways to take a guarantee's ground away, to see that the checker notices. They exist in the simulation only. */
export type Breakage =
  | 'no_unique_key'
  | 'no_generations'
  | 'no_epochs'
  | 'no_marks'
  | 'no_stops'
  | 'publish_before_commit'
  | 'from_now_on_takeover';

export const BREAKAGES: readonly Breakage[] = [
  'no_unique_key',
  'no_generations',
  'no_epochs',
  'no_marks',
  'no_stops',
  'publish_before_commit',
  'from_now_on_takeover',
];

/** Takes every claim of an execution for its latest one. */
export class ForgivingClaims implements Claims {
  private readonly latest = new Map<string, Claim>();

  constructor(private readonly claims: Claims) {}

  async claim(...args: Parameters<Claims['claim']>): ReturnType<Claims['claim']> {
    const answer = await this.claims.claim(...args);
    if (answer.outcome === 'claimed') this.latest.set(answer.claim.executionId, answer.claim);
    return answer;
  }

  renew(claims: readonly Claim[], ttlMs: number): Promise<RenewAnswer[]> {
    return this.claims.renew(
      claims.map((claim) => this.latestOf(claim)),
      ttlMs,
    );
  }

  report(claim: Claim, ...rest: [Parameters<Claims['report']>[1], Parameters<Claims['report']>[2]]) {
    return this.claims.report(this.latestOf(claim), ...rest);
  }

  finish(claim: Claim, report: Parameters<Claims['finish']>[1]) {
    return this.claims.finish(this.latestOf(claim), report);
  }

  abandon(claim: Claim, report: Parameters<Claims['abandon']>[1]) {
    return this.claims.abandon(this.latestOf(claim), report);
  }

  handBack(claim: Claim, ...rest: [Parameters<Claims['handBack']>[1], Parameters<Claims['handBack']>[2]]) {
    return this.claims.handBack(this.latestOf(claim), ...rest);
  }

  private latestOf(claim: Claim): Claim {
    return this.latest.get(claim.executionId) ?? claim;
  }
}

/** Has room for every run. */
export const withoutMarks = (claims: Claims): Claims => ({
  claim: ({ handle, message }, ...rest) => {
    const { task } = message;
    const policy = { ...task.policy, maxConcurrent: 1_000_000 };
    return claims.claim({ handle, message: { ...message, task: { ...task, policy } } }, ...rest);
  },
  renew: (...args) => claims.renew(...args),
  report: (...args) => claims.report(...args),
  finish: (...args) => claims.finish(...args),
  abandon: (...args) => claims.abandon(...args),
  handBack: (...args) => claims.handBack(...args),
});

/** Hears of no stop while it runs. */
export const deafToStops = (claims: Claims): Claims => ({
  claim: (...args) => claims.claim(...args),
  renew: async (...args) =>
    (await claims.renew(...args)).map((answer) => (answer === 'lost' ? answer : 'alive')),
  report: (...args) => claims.report(...args),
  finish: (...args) => claims.finish(...args),
  abandon: (...args) => claims.abandon(...args),
  handBack: (...args) => claims.handBack(...args),
});

/** Sends what it decides before the transaction has ended. */
export function publishingFirst(triggers: TriggerRepo, queue: () => Queue): TriggerRepo {
  return deciding(triggers, (batch, now) => {
    void queue().publish(
      batch.fired.map(({ event, task }) => messageFor(event, task, 0, now, event.queueEpoch)),
    );
    return batch;
  });
}

/** Passes over all that is due when another node decided last. */
export function startingFromNow(triggers: TriggerRepo, isTakeover: () => boolean): TriggerRepo {
  return deciding(triggers, (batch, now, due) => {
    if (!isTakeover()) return batch;
    const times = new FireTimes();
    const advances = due.flatMap((task) =>
      isBroken(task) ? [] : [{ taskId: task.id, nextSlot: times.next(task.schedule, now), holdUntil: null }],
    );
    return { fired: [], skipped: [], errors: [], advances };
  });
}

type Due = Parameters<Parameters<TriggerRepo['decideDue']>[1]>[0];

const deciding = (
  triggers: TriggerRepo,
  change: (batch: DecidedBatch, now: number, due: Due) => DecidedBatch,
): TriggerRepo => ({
  decideDue: (request, decide) => triggers.decideDue(request, (due) => change(decide(due), request.now, due)),
  nextDueAt: () => triggers.nextDueAt(),
  countDue: (now) => triggers.countDue(now),
  recordManual: (...args) => triggers.recordManual(...args),
});
