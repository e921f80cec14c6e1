import { type Clock } from '../ports/clock.js';
import { type Logger } from '../ports/logger.js';
import { type Metrics } from '../ports/metrics.js';
import { type NodeAnnouncement, type NodeRegistry } from '../ports/node-registry.js';

/** Names in one line of the log. */
const MAX_NAMES = 20;

/** What does not change while the process lives. */
export type NodeIdentity = Omit<NodeAnnouncement, 'clockOffsetMs'>;

/**
 * Tells the cluster that this process lives, three times in the life of its word, and whether its clock and time zone data are those of the
 * others. A coordinator also looks at the others: two that have different time zone data may expect different slots.
 */
export class AnnounceNode {
  /** Nodes with other time zone data at the last look. */
  private differing = '';

  constructor(
    private readonly deps: {
      readonly registry: NodeRegistry;
      readonly clock: Clock;
      /** The machine's own; the same one where there is no reference. */
      readonly machine: Pick<Clock, 'now'>;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
    private readonly self: NodeIdentity,
    private readonly ttlMs: number,
  ) {}

  async run(stop: AbortSignal): Promise<void> {
    const { registry, clock, logger } = this.deps;
    let isAway = false;
    while (!stop.aborted) {
      try {
        await this.turn();
        isAway = false;
      } catch (error) {
        if (!isAway) logger.warn({ err: error }, 'node not announced, trying again');
        isAway = true;
      }
      await clock.sleep(this.ttlMs / 3, stop);
    }
    await registry.withdraw(this.self.instance).catch((error: unknown) => {
      logger.warn({ err: error }, 'node not withdrawn, its announcement runs out');
    });
  }

  /** One announcement, and of a coordinator one look. @throws AxError `unavailable`. */
  async turn(): Promise<void> {
    const { registry, clock, machine } = this.deps;
    const clockOffsetMs = clock === machine ? null : clock.now() - machine.now();
    await registry.announce({ ...this.self, clockOffsetMs }, this.ttlMs);
    if (this.self.role !== 'worker') this.compareZones(await registry.list());
  }

  /** Told once for each set of nodes that have other data. */
  private compareZones(nodes: readonly NodeAnnouncement[]): void {
    const { metrics, logger } = this.deps;
    const { zoneData } = this.self;
    const others = nodes.filter((node) => node.zoneData !== zoneData);
    metrics.gauge('zone_data_disagreement', {}, others.length);
    const names = others.map(({ node, zoneData: other }) => `${node}: ${other}`).sort();
    const differing = names.join(', ');
    if (differing !== '' && differing !== this.differing) {
      const facts = { zone_data: zoneData, others: names.slice(0, MAX_NAMES) };
      const message = 'nodes have different time zone data, fire times may differ: run one Node.js on all';
      logger.warn(facts, message);
    }
    this.differing = differing;
  }
}
