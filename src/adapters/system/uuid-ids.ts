import { v7 } from 'uuid';
import { type Ids } from '../../ports/ids.js';

/** Ids stay in order within a millisecond and when the wall clock steps back, because `v7` keeps a counter for the process. */
export class UuidIds implements Ids {
  next(): string {
    return v7();
  }
}
