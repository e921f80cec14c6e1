import { beforeEach, describe, expect, it } from 'vitest';
import { InProcessNodeRegistry } from '../../../src/adapters/embedded/in-process-node-registry.js';
import { PrometheusMetrics } from '../../../src/adapters/telemetry/prometheus-metrics.js';
import { AnnounceNode } from '../../../src/application/announce-node.js';
import { AxError } from '../../../src/domain/errors.js';
import { type NodeAnnouncement } from '../../../src/ports/node-registry.js';
import { FakeClock } from '../../support/fake-clock.js';
import { buildNode } from '../../support/pools.js';
import { RecordingLogger } from '../../support/recording.js';

const TTL_MS = 15_000;
const LONG = 3_600_000;
const SELF = buildNode({ instance: 'self', node: 'self' });

describe('AnnounceNode', () => {
  let clock: FakeClock;
  let registry: InProcessNodeRegistry;
  let metrics: PrometheusMetrics;
  let logger: RecordingLogger;
  beforeEach(() => {
    clock = new FakeClock();
    registry = new InProcessNodeRegistry(clock);
    metrics = new PrometheusMetrics();
    logger = new RecordingLogger();
  });

  const announcer = (role = 'coordinator', machine: { now: () => number } = clock) =>
    new AnnounceNode({ registry, clock, machine, metrics, logger }, { ...SELF, role }, TTL_MS);
  const others = (...nodes: Partial<NodeAnnouncement>[]) =>
    Promise.all(
      nodes.map((node) => registry.announce(buildNode({ instance: node.node ?? '', ...node }), LONG)),
    );
  const disagreement = async () =>
    (await metrics.exposition()).body
      .split('\n')
      .find((line) => line.startsWith('ax_zone_data_disagreement'));
  const warnings = () => logger.lines.map(([level, facts]) => [level, facts['others']]);

  it('says that the node lives and how far its machine is off, until it ends', async () => {
    const stop = new AbortController();
    const running = announcer('worker', { now: () => clock.now() - 250 }).run(stop.signal);
    for (let life = 0; life < 3; life++) {
      await clock.advance(TTL_MS);
      expect(await registry.list()).toEqual([{ ...SELF, role: 'worker', clockOffsetMs: 250 }]);
    }
    stop.abort();
    await running;
    expect(await registry.list()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('knows no offset where there is no reference', async () => {
    await announcer().turn();
    expect(await registry.list()).toMatchObject([{ clockOffsetMs: null }]);
  });

  it('tells once which nodes have other time zone data, again when there are others, and counts them', async () => {
    const node = announcer();
    await others({ node: 'a' }, { node: 'b', zoneData: '2024a' });
    await node.turn();
    await node.turn();
    expect(warnings()).toEqual([['warn', ['b: 2024a']]]);
    expect(await disagreement()).toBe('ax_zone_data_disagreement 1');
    await others({ node: 'c', zoneData: '2023b' });
    await node.turn();
    expect(warnings().slice(1)).toEqual([['warn', ['b: 2024a', 'c: 2023b']]]);
    await registry.withdraw('b');
    await registry.withdraw('c');
    await node.turn();
    expect(await disagreement()).toBe('ax_zone_data_disagreement 0');
    await others({ node: 'b', zoneData: '2024a' });
    await node.turn();
    expect(warnings().slice(2)).toEqual([['warn', ['b: 2024a']]]);
  });

  it('leaves the comparison to coordinators', async () => {
    await others({ node: 'b', zoneData: '2024a' });
    await announcer('worker').turn();
    expect(warnings()).toEqual([]);
  });

  it('goes on while the registry is away, and says so once', async () => {
    const announce = registry.announce.bind(registry);
    registry.announce = async () => {
      throw new AxError('unavailable', 'away');
    };
    const stop = new AbortController();
    const running = announcer().run(stop.signal);
    await clock.advance(TTL_MS * 2);
    expect(logger.lines.map(([, , line]) => line)).toEqual(['node not announced, trying again']);
    registry.announce = announce;
    await clock.advance(TTL_MS);
    expect(await registry.list()).toHaveLength(1);
    stop.abort();
    await running;
  });
});
