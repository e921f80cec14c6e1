import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openTracing } from '../../../../src/adapters/telemetry/open-tracing.js';
import { traceIdOf, type Tracer } from '../../../../src/ports/tracer.js';
import { OtlpCollector } from '../../../support/otlp-collector.js';
import { RecordingLogger } from '../../../support/recording.js';

const SPAN = {
  name: 'attempt',
  kind: 'internal',
  parent: null,
  attributes: {},
} as const;
const record = (tracer: Tracer, context: string) =>
  tracer.record(
    context,
    () => ({ startedAt: 1, endedAt: 2 }),
    () => SPAN,
  );

const open = (protocol: 'http/protobuf' | 'http/json') =>
  openTracing(
    {
      protocol,
      sampler: { root: 'on', ratio: 1, isParentBased: true },
      limits: { maxQueueSize: 512, maxBatchSize: 512, delayMs: 5000 },
      keepsFailures: true,
    },
    { resource: { 'service.name': 'ax' }, logger: new RecordingLogger() },
  );

describe('openTracing', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['http/protobuf', 'application/x-protobuf'],
    ['http/json', 'application/json'],
  ] as const)(
    'exports by %s to where the environment says, at the latest when it closes',
    async (protocol, type) => {
      const collector = await OtlpCollector.start();
      vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${collector.url}/base`);
      vi.stubEnv('OTEL_SERVICE_NAME', 'scheduler');
      const { tracer, close } = await open(protocol);
      const context = tracer.start(null);
      record(tracer, context);
      await close();
      const [request] = collector.requests;
      expect(request).toMatchObject({ path: '/base/v1/traces', type });
      const id = traceIdOf(context);
      const sent = protocol === 'http/json' ? Buffer.from(id) : Buffer.from(id, 'hex');
      expect(request?.body.includes(sent)).toBe(true);
      expect(request?.body.includes('scheduler')).toBe(true);
      await collector.close();
    },
  );

  it('does not wait long for a collector that never answers', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const { tracer, close } = await open('http/json');
    record(tracer, tracer.start(null));
    const startedAt = performance.now();
    await close();
    expect(performance.now() - startedAt).toBeLessThan(8000); // Exports by themselves take up to ten seconds.
    server.closeAllConnections();
    server.close();
  }, 30_000);
});
