import { ContainerModule } from 'inversify';
import { AnnounceNode } from '../../application/announce-node.js';
import { Readiness } from '../../application/readiness.js';
import { zoneDataVersion } from '../../domain/cron/time-zone.js';
import { take } from '../take.js';
import { TOKENS as T } from '../tokens.js';

/** A loop that has not finished a turn for this long does not do its work. */
const STALE_AFTER_MS = 15_000;

/** Life of what a node says of itself. */
const ANNOUNCEMENT_MS = 15_000;

/** What every role has. */
export const commonModule = new ContainerModule(({ bind }) => {
  bind(T.announceNode).toDynamicValue((context) => {
    const {
      nodeRegistry: registry,
      identity,
      config,
      ...deps
    } = take(context, 'nodeRegistry', 'clock', 'machine', 'metrics', 'logger', 'identity', 'config');
    return new AnnounceNode(
      { ...deps, registry },
      { ...identity, role: config.role, zoneData: zoneDataVersion() },
      ANNOUNCEMENT_MS,
    );
  });
  bind(T.readiness).toResolvedValue((clock) => new Readiness(clock, STALE_AFTER_MS), [T.clock]);
});
