import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Heartbeats } from '../../../../src/application/worker/heartbeats.js';
import { AxError } from '../../../../src/domain/errors.js';
import { type Claim, type Claims, type RenewAnswer } from '../../../../src/ports/claims.js';
import { type Stops } from '../../../../src/ports/stops.js';
import { nextUuid } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { total } from '../../../support/measured.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

const TTL_MS = 15_000;

describe('Heartbeats', () => {
  let clock: FakeClock;
  let metrics: RecordingMetrics;
  let heartbeats: Heartbeats;
  let renewals: { readonly at: number; readonly ids: readonly string[] }[];
  let renew: (claims: readonly Claim[]) => Promise<RenewAnswer[]>;
  let stop: AbortController;
  let running: Promise<void>;
  let stopped: string[];
  let tell: Parameters<Stops['subscribe']>[0] | null;

  beforeEach(() => {
    clock = new FakeClock();
    metrics = new RecordingMetrics();
    renewals = [];
    stopped = [];
    renew = async (claims) => claims.map(() => 'alive');
    const claims: Pick<Claims, 'renew'> = {
      renew: (batch, ttlMs) => {
        expect(ttlMs).toBe(TTL_MS);
        renewals.push({ at: clock.monotonicMs(), ids: batch.map(({ executionId }) => executionId) });
        return renew(batch);
      },
    };
    heartbeats = new Heartbeats({
      claims: claims as Claims,
      stops: {
        subscribe: (listener) => {
          tell = listener;
          return () => (tell = null);
        },
      },
      clock,
      metrics,
      logger: new RecordingLogger(),
      claimTtlMs: TTL_MS,
    });
    stop = new AbortController();
    running = heartbeats.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
    expect(tell).toBeNull();
  });

  const away = async () => {
    throw new AxError('unavailable', 'the queue is away');
  };

  function hold(executionId = nextUuid(), generation = 1): Claim {
    const claim: Claim = {
      taskId: 'task',
      kind: 'schedule',
      slot: 0,
      executionId,
      pool: 'default',
      worker: 'worker-1',
      generation,
      handle: '1-0',
    };
    heartbeats.add(claim, clock.monotonicMs(), (reason) =>
      stopped.push(`${executionId} ${generation} ${reason}`),
    );
    return claim;
  }

  it('renews all claims in one call, at a third of their life', async () => {
    const ids = [hold(), hold(), hold()].map(({ executionId }) => executionId);
    await clock.advance(TTL_MS);
    expect(renewals).toEqual([5000, 10_000, 15_000].map((at) => ({ at, ids })));
  });

  it('calls nobody while there is nothing to renew', async () => {
    const claim = hold();
    heartbeats.remove(claim);
    await clock.advance(TTL_MS);
    expect(renewals).toEqual([]);
  });

  it('stops the run whose claim is lost, and no other', async () => {
    const [kept, lost] = [hold(), hold()];
    renew = async (claims) => claims.map((claim) => (claim === lost ? 'lost' : 'alive'));
    await clock.advance(6000);
    expect(stopped).toEqual([`${lost.executionId} 1 claim_lost`]);
    expect(total(metrics, 'claims_lost_total')).toBe(1);
    expect(await heartbeats.isAlive(lost)).toBe(false);
    expect(await heartbeats.isAlive(kept)).toBe(true);
    await clock.advance(5000);
    expect(renewals.at(-1)?.ids).toEqual([kept.executionId]);
  });

  it('stops a run that was asked to stop, told by a beat, and keeps its claim alive until it has ended', async () => {
    const claim = hold();
    renew = async () => ['cancelled'];
    await clock.advance(5000);
    expect(stopped).toEqual([`${claim.executionId} 1 cancelled`]);
    expect(total(metrics, 'claims_lost_total')).toBe(0);
    await clock.advance(5000);
    expect(renewals).toHaveLength(2);
    expect(await heartbeats.isAlive(claim)).toBe(true);
  });

  it('stops a run as soon as it is told, and no other', () => {
    hold();
    const { executionId } = hold();
    tell?.(executionId, 'replaced');
    tell?.(nextUuid(), 'cancelled');
    expect(stopped).toEqual([`${executionId} 1 replaced`]);
    expect(renewals).toEqual([]);
  });

  it('does not take a run for lost that ended while its renewal was under way', async () => {
    const claim = hold();
    renew = async () => {
      heartbeats.remove(claim);
      return ['lost'];
    };
    await clock.advance(6000);
    expect(stopped).toEqual([]);
    expect(total(metrics, 'claims_lost_total')).toBe(0);
  });

  it('goes on while the queue is away, and stops nothing for that', async () => {
    hold();
    renew = away;
    await clock.advance(60_000);
    expect(stopped).toEqual([]);
    renew = async (claims) => claims.map(() => 'alive');
    await clock.advance(5000);
    expect(renewals).toHaveLength(13);
  });

  describe('says whether a claim is alive', () => {
    it('without asking, while its life is sure', async () => {
      const claim = hold();
      await clock.advance(4999);
      expect(await heartbeats.isAlive(claim)).toBe(true);
      expect(renewals).toEqual([]);
    });

    it('by renewing it, once its life may have passed', async () => {
      const claim = hold();
      renew = away;
      await clock.advance(TTL_MS + 1);
      await expect(heartbeats.isAlive(claim)).rejects.toMatchObject({ code: 'unavailable' });
      renew = async () => ['lost'];
      expect(await heartbeats.isAlive(claim)).toBe(false);
      expect(stopped).toHaveLength(1);
    });

    it('counted from when the renewal was sent', async () => {
      const claim = hold();
      renew = async (claims) => {
        await clock.sleep(4000);
        return claims.map(() => 'alive');
      };
      await clock.advance(9000);
      renew = away;
      await clock.advance(5000 + TTL_MS - 9000 - 1);
      expect(await heartbeats.isAlive(claim)).toBe(true);
      await clock.advance(9000);
      await expect(heartbeats.isAlive(claim)).rejects.toMatchObject({ code: 'unavailable' });
    });
  });

  describe('knows the runs of this worker', () => {
    it('and makes sure of a claim when it is asked for its event', async () => {
      const { executionId } = hold();
      expect(await heartbeats.holds(executionId)).toBe(true);
      expect(renewals).toHaveLength(1);
      expect(await heartbeats.holds(nextUuid())).toBe(false);
      renew = async () => ['lost'];
      expect(await heartbeats.holds(executionId)).toBe(false);
      expect(stopped).toHaveLength(1);
    });

    it('and keeps a later claim of an event when the run of an earlier one ends', async () => {
      const old = hold();
      renew = async () => ['lost'];
      expect(await heartbeats.holds(old.executionId)).toBe(false);
      renew = async (claims) => claims.map(() => 'alive');
      const later = hold(old.executionId, 2);
      expect(await heartbeats.isAlive(old)).toBe(false);
      heartbeats.remove(old);
      await clock.advance(5000);
      expect(renewals.at(-1)?.ids).toEqual([later.executionId]);
      expect(await heartbeats.isAlive(later)).toBe(true);
    });
  });
});
