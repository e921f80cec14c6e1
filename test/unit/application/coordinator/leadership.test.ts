import { beforeEach, describe, expect, it } from 'vitest';
import { InProcessLock } from '../../../../src/adapters/embedded/in-process-lock.js';
import { Leadership } from '../../../../src/application/coordinator/leadership.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { Link } from '../../../support/link.js';
import { total, valuesOf } from '../../../support/measured.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

const LEASE_MS = 5000;

describe('Leadership', () => {
  let clock: FakeClock;
  let lock: InProcessLock;
  beforeEach(() => {
    clock = new FakeClock();
    lock = new InProcessLock(clock);
  });

  function node(owner: string) {
    const link = new Link();
    const metrics = new RecordingMetrics();
    const leadership = new Leadership({
      lock: link.to(() => lock),
      clock,
      metrics,
      logger: new RecordingLogger(),
      owner,
      leaseMs: LEASE_MS,
    });
    return { link, metrics, leadership };
  }

  it('is given to one, and tells the other when it may be free', async () => {
    const [first, second] = [node('first'), node('second')];
    expect(await first.leadership.ensure()).toMatchObject({ isLeader: true });
    await clock.advance(1200);
    expect(await second.leadership.ensure()).toEqual({ isLeader: false, retryInMs: LEASE_MS - 1200 + 1 });
    expect([first.leadership.isCurrent(), second.leadership.isCurrent()]).toEqual([true, false]);
  });

  it('ends by itself before anybody else can lead', async () => {
    const [first, second] = [node('first'), node('second')];
    await first.leadership.ensure();
    await clock.advance(LEASE_MS * 0.9 - 1);
    expect(first.leadership.isCurrent()).toBe(true);
    await clock.advance(1);
    expect(first.leadership.isCurrent()).toBe(false);
    expect(await second.leadership.ensure()).toMatchObject({ isLeader: false });
    await clock.advance(LEASE_MS * 0.1);
    expect(await second.leadership.ensure()).toMatchObject({ isLeader: true });
  });

  it('counts its life from when the renewal was sent, not from when the answer came', async () => {
    const { link, leadership } = node('slow');
    link.before = () => clock.advance(LEASE_MS);
    expect(await leadership.ensure()).toMatchObject({ isLeader: true });
    expect(leadership.isCurrent()).toBe(false);
  });

  it('does not depend on the wall clock', async () => {
    const { leadership } = node('first');
    await leadership.ensure();
    clock.set(clock.now() + 3_600_000);
    expect(leadership.isCurrent()).toBe(true);
    clock.set(clock.now() - 7_200_000);
    await clock.advance(LEASE_MS);
    expect(leadership.isCurrent()).toBe(false);
  });

  it('passes on at once when it is released, and leaves the lease of another alone', async () => {
    const [first, second, third] = [node('first'), node('second'), node('third')];
    await first.leadership.ensure();
    await first.leadership.release();
    expect(first.leadership.isCurrent()).toBe(false);
    expect(await second.leadership.ensure()).toMatchObject({ isLeader: true });
    await first.leadership.release();
    await third.leadership.release();
    expect(await third.leadership.ensure()).toMatchObject({ isLeader: false });
  });

  it('is released also when the answer that gave it was lost', async () => {
    const [first, second] = [node('first'), node('second')];
    first.link.state = 'mute';
    await expect(first.leadership.ensure()).rejects.toMatchObject({ code: 'unavailable' });
    first.link.state = 'passing';
    await first.leadership.release();
    expect(await second.leadership.ensure()).toMatchObject({ isLeader: true });
  });

  it('shows in metrics, on a node that is cut off, too', async () => {
    const { link, metrics, leadership } = node('first');
    await leadership.ensure();
    await leadership.ensure();
    expect(valuesOf(metrics, 'leader').at(-1)).toBe(1);
    expect(total(metrics, 'leader_changes_total')).toBe(1);

    link.state = 'cut';
    await clock.advance(1000);
    await expect(leadership.ensure()).rejects.toMatchObject({ code: 'unavailable' });
    expect(valuesOf(metrics, 'leader').at(-1)).toBe(1);
    await clock.advance(LEASE_MS);
    await expect(leadership.ensure()).rejects.toMatchObject({ code: 'unavailable' });
    expect(valuesOf(metrics, 'leader').at(-1)).toBe(0);
    expect(total(metrics, 'leader_changes_total')).toBe(1);
    expect(metrics.seen.at(-1)?.name).toBe('leaders');
  });
});
