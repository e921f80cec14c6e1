import { type CancelAnswer, type Stops } from '../../src/ports/stops.js';
import { type Journal } from './journal.js';
import { type RunBook } from './run-book.js';

/** Stands in front of the stops of one life of the queue: what becomes of a cancel is what the book says of the run. */
export class StopWatch {
  constructor(
    private readonly stops: Stops,
    private readonly book: RunBook,
    private readonly journal: Journal,
  ) {}

  readonly port: Stops = {
    cancel: (...args) => this.book.counted(this.cancel(...args)),
    subscribe: (listener) => this.stops.subscribe(listener),
  };

  private async cancel(...args: Parameters<Stops['cancel']>): Promise<CancelAnswer> {
    const [{ executionId, taskId }] = args;
    const { book } = this;
    const answer = await this.stops.cancel(...args);
    const before = book.run(executionId);
    const expected =
      before?.state === 'finished' ? 'finished' : book.isLive(executionId) ? 'requested' : 'ended';
    this.journal.add({ kind: 'cancel', executionId, text: answer });
    if (answer !== expected)
      this.journal.add({
        kind: 'violation',
        rule: 'cancel',
        executionId,
        text: `a cancel was answered ${answer}, and the run is ${before?.state ?? 'not known'}`,
      });
    if (answer === 'requested') book.ask(executionId, 'cancelled');
    if (answer !== 'ended') return answer;
    book.leave(taskId, executionId);
    book.stops.delete(executionId);
    const none = { worker: 'nobody', generation: 0, limit: null, delivered: null, lastDelivered: 0 };
    book.write(executionId, {
      ...(before ?? none),
      ...{ taskId, hasMark: false, since: -Infinity, endsAt: 0, told: 0, state: 'finished' },
    });
    return answer;
  }
}
