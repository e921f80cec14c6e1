import { type Claims } from '../../src/ports/claims.js';
import { type Receipts } from '../../src/ports/receipts.js';
import { type Stops } from '../../src/ports/stops.js';
import { CallWatch, type OpenCall } from './call-watch.js';
import { ClaimWatch } from './claim-watch.js';
import { type Grants } from './grants.js';
import { type Journal } from './journal.js';
import { type Closings, ReceiptWatch } from './receipt-watch.js';
import { RunBook } from './run-book.js';
import { StopWatch } from './stop-watch.js';

/** What stands in front of one life of the queue, and the book that its parts share. */
export class QueueWatch {
  readonly claims: Claims;
  readonly stops: Stops;
  readonly receipts: Receipts;
  readonly calls: CallWatch;
  private readonly book: RunBook;

  constructor(
    ports: { readonly claims: Claims; readonly stops: Stops; readonly receipts: Receipts },
    /** Which life of the queue it is; the same queue has another one after a failover. */
    public life: number,
    cluster: {
      readonly journal: Journal;
      readonly grants: Grants;
      readonly closings: Closings;
      readonly openCalls: ReadonlySet<OpenCall>;
      readonly nowMs: () => number;
      readonly isReachable: (worker: string) => boolean;
    },
  ) {
    const { journal, grants, closings, openCalls, nowMs, isReachable } = cluster;
    this.book = new RunBook(nowMs, grants);
    const { book } = this;
    this.claims = new ClaimWatch(ports.claims, book, journal, this, grants, isReachable).port;
    this.stops = new StopWatch(ports.stops, book, journal).port;
    this.receipts = new ReceiptWatch(ports.receipts, book, this, closings).port;
    this.calls = new CallWatch(book, journal, this, grants, openCalls);
  }

  /** Calls `then` when the book says what the ports say: at once unless answers are on their way. */
  whenUpToDate(then: () => void): void {
    this.book.whenUpToDate(then);
  }

  /** Remembers the book. The function that it returns brings that back for another life of the queue. */
  remember(): (life: number) => void {
    const bringBack = this.book.remember();
    return (life) => {
      this.life = life;
      bringBack();
    };
  }
}
