import { expect } from 'vitest';
import { InProcessBroker } from '../../src/adapters/embedded/in-process-broker.js';
import { type BrokerHarness } from './broker-harness.js';
import { FakeClock } from './fake-clock.js';

/** A broker inside this process on a clock that only `advance` moves; losing data gives it another life. */
export function openInProcess(): BrokerHarness {
  const clock = new FakeClock();
  let lives = 1;
  let broker = new InProcessBroker(clock, 'life-1');
  return {
    get queue() {
      return broker.queue;
    },
    get claims() {
      return broker.claims;
    },
    get stops() {
      return broker.stops;
    },
    get lastOutcomes() {
      return broker.lastOutcomes;
    },
    get results() {
      return broker.results;
    },
    now: async () => clock.now(),
    advance: (ms) => clock.advance(ms),
    loseData: async () => {
      broker = new InProcessBroker(clock, `life-${(lives += 1)}`);
    },
    close: async () => expect(clock.pendingTimers).toBe(0),
  };
}
