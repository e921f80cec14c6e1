import { type Diagnosis, named, ok, problem, warning } from '../../domain/diagnosis.js';
import { type Clock } from '../../ports/clock.js';
import { type Examination } from '../../ports/examination.js';
import { type Lock } from '../../ports/lock.js';
import { type NodeAnnouncement, type NodeRegistry } from '../../ports/node-registry.js';
import { type Queue } from '../../ports/queue.js';
import { LEASE } from '../coordinator/leadership.js';

/** What the processes of the cluster make of each other: leader, time zone data, clocks, queue. */
export class ClusterExamination implements Examination {
  readonly part = 'cluster';

  constructor(
    private readonly deps: {
      readonly lock: Pick<Lock, 'holder'>;
      readonly nodes: Pick<NodeRegistry, 'list'>;
      readonly queue: Pick<Queue, 'depth'>;
      readonly clock: Clock;
      /** The machine's own; the same one where there is no reference. */
      readonly machine: Pick<Clock, 'now'>;
    },
    /** `zoneData`: version of this process's. */
    private readonly options: {
      readonly zoneData: string;
      readonly clockLimitMs: number;
      readonly queueLimit: number;
    },
  ) {}

  async examine(): Promise<Diagnosis[]> {
    const nodes = await this.deps.nodes.list();
    return [await this.leader(nodes), this.zoneData(nodes), ...this.clocks(nodes), await this.queue()];
  }

  private async leader(nodes: readonly NodeAnnouncement[]): Promise<Diagnosis> {
    const holder = await this.deps.lock.holder(LEASE);
    if (holder !== null) return ok('leader', holder);
    const standby = nodes.filter(({ role }) => role !== 'worker').map(({ node }) => node);
    return standby.length === 0
      ? problem('leader', 'no coordinator lives, so nothing fires', 'start ax serve --role coordinator')
      : problem(
          'leader',
          `no coordinator leads; there are ${named(standby)}`,
          'look again in some seconds, then at their logs',
        );
  }

  private zoneData(nodes: readonly NodeAnnouncement[]): Diagnosis {
    const { zoneData } = this.options;
    const others = nodes.filter((node) => node.zoneData !== zoneData);
    if (others.length === 0) return ok('zone_data', `${zoneData}, here and on ${nodes.length} live nodes`);
    const names = others.map(({ node, zoneData: other }) => `${node} has ${other}`);
    return problem(
      'zone_data',
      `this process has ${zoneData}, but ${named(names)}: fire times may differ`,
      'run the same Node.js on all nodes',
    );
  }

  private clocks(nodes: readonly NodeAnnouncement[]): Diagnosis[] {
    const { clock, machine } = this.deps;
    if (clock === machine) return [];
    const limit = this.options.clockLimitMs;
    const here = clock.now() - machine.now();
    const offsets: readonly (readonly [string, number])[] = [
      ['this machine', here],
      ...nodes.map(({ node, clockOffsetMs }) => [node, clockOffsetMs ?? 0] as const),
    ];
    const off = offsets.filter(([, ms]) => Math.abs(ms) > limit);
    if (off.length === 0)
      return [
        ok('clocks', `this machine is off by ${Math.round(here)} ms, no node by more than ${limit} ms`),
      ];
    const names = off.map(([name, ms]) => `${name} by ${(ms / 1000).toFixed(1)} s`);
    return [
      warning(
        'clocks',
        `off from the time of Redis: ${named(names)}; ax corrects it`,
        'mend NTP on these machines',
      ),
    ];
  }

  private async queue(): Promise<Diagnosis> {
    const { queueLimit } = this.options;
    const depth = await this.deps.queue.depth();
    if (depth <= queueLimit) return ok('queue_depth', `${depth} messages, the limit is ${queueLimit}`);
    return problem(
      'queue_depth',
      `${depth} messages are more than the limit of ${queueLimit}: dispatch is paused`,
      'start more workers, or see why runs take so long; AX_QUEUE_LIMIT sets the limit',
    );
  }
}
