import { type Clock } from '../../ports/clock.js';
import { InProcessClaims } from './in-process-claims.js';
import { type InProcessLastOutcomes } from './in-process-last-outcomes.js';
import { InProcessQueue } from './in-process-queue.js';
import { InProcessReceipts } from './in-process-receipts.js';
import { InProcessResults } from './in-process-results.js';
import { InProcessState } from './in-process-state.js';
import { InProcessStops } from './in-process-stops.js';

/**
 * Queue, claims, stops, results, receipts and last outcomes inside one process: for embedded mode, unit tests and simulation. All that it knows dies with the process,
 * so every process names another `epoch`. Each call does its work in one turn of the event loop, which makes it atomic.
 */
export class InProcessBroker {
  readonly queue: InProcessQueue;
  readonly claims: InProcessClaims;
  readonly stops: InProcessStops;
  readonly results: InProcessResults;
  readonly receipts: InProcessReceipts;
  readonly lastOutcomes: InProcessLastOutcomes;

  constructor(clock: Clock, epoch: string) {
    const state = new InProcessState(clock, epoch);
    this.queue = new InProcessQueue(state);
    this.claims = new InProcessClaims(state);
    this.stops = new InProcessStops(state);
    this.results = new InProcessResults(state);
    this.receipts = new InProcessReceipts(clock);
    this.lastOutcomes = state.lastOutcomes;
  }
}
