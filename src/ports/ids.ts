/** Time-ordered unique ids. */
export interface Ids {
  /** A UUID, RFC 9562 version 7; of one node each greater than the one before. */
  next(): string;
}
