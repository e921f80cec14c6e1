/** A clock that all nodes of a cluster share. It may be wrong, and another server's clock may take its place; all nodes see the same one. */
export interface TimeReference {
  /** Epoch ms, possibly with a fraction, read between call and answer. May step. @throws AxError `unavailable`. */
  nowMs(): Promise<number>;
}
