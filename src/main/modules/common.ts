import { ContainerModule } from 'inversify';
import { Readiness } from '../../application/readiness.js';
import { TOKENS as T } from '../tokens.js';

/** A loop that has not finished a turn for this long does not do its work. */
const STALE_AFTER_MS = 15_000;

/** What every role has. */
export const commonModule = new ContainerModule(({ bind }) => {
  bind(T.readiness).toResolvedValue((clock) => new Readiness(clock, STALE_AFTER_MS), [T.clock]);
});
