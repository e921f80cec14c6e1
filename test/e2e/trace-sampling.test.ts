import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { Cluster } from '../support/cluster.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { until } from '../support/until.js';

const PERSISTED = 'INSERT execution_log';

describe('which runs are traced, on real processes', () => {
  let collector: OtlpCollector;
  let callee: Callee;
  let cluster: Cluster;
  beforeAll(async () => {
    collector = await OtlpCollector.start();
    callee = await Callee.start();
    cluster = await Cluster.create();
    callee.on('/bad', reply({ status: 500 }));
  }, 120_000);
  afterAll(async () => {
    await cluster.close();
    await Promise.all([callee.close(), collector.close()]);
  });

  async function create(ax: AxProcess, id: string, path: string): Promise<void> {
    const executor = { type: 'http', url: `${callee.origin}${path}` };
    const task = { id, name: id, schedule_type: 'once', run_at: '2100-01-01T00:00:00Z', executor };
    expect((await ax.api('POST', '/api/tasks', task)).status).toBe(201);
  }

  /** Runs it until it has ended; its trace id. */
  async function run(ax: AxProcess, id: string, headers: Record<string, string> = {}): Promise<string> {
    const { json } = await ax.api<{ id: string; trace_id: string }>(
      'POST',
      `/api/tasks/${id}/run`,
      undefined,
      headers,
    );
    await until('the run has ended', async () => {
      const found = await ax.api<{ status: string }>('GET', `/api/executions/${json.id}`);
      return ['success', 'fail'].includes(found.json.status);
    });
    return json.trace_id;
  }

  const flags = (traceId: string) =>
    callee.requests
      .map(({ headers }) => headers['traceparent'] ?? '')
      .filter((traceparent) => traceparent.includes(traceId))
      .map((traceparent) => traceparent.slice(-2));

  it('with the sampler off, tells nobody to trace and exports failures alone; a caller who traces is followed', async () => {
    const env = { ...collector.env, OTEL_TRACES_SAMPLER: 'parentbased_always_off' };
    const coordinator = await cluster.serve('coordinator', env);
    const worker = await cluster.serve('worker', env);
    await create(coordinator, 'good', '/good');
    await create(coordinator, 'bad', '/bad');
    const good = await run(coordinator, 'good');
    const bad = await run(coordinator, 'bad');
    const caller = '4bf92f3577b34da6a3ce929d0e0e4736';
    await run(coordinator, 'good', { traceparent: `00-${caller}-00f067aa0ba902b7-01` });
    const kept = await collector.trace(bad, PERSISTED);
    expect(kept.map(({ name }) => name).toSorted()).toEqual(
      [
        PERSISTED,
        'POST',
        'attempt',
        'claim',
        'finish',
        'process default',
        'publish default',
        'trigger',
      ].toSorted(),
    );
    await collector.trace(caller, PERSISTED);
    expect([flags(good), flags(bad), flags(caller)]).toEqual([['00'], ['00'], ['01']]);
    await Promise.all([coordinator.stop(), worker.stop()]);
    expect(collector.of(good)).toEqual([]);
  }, 180_000);

  it('with AX_TRACE_KEEP_FAILURES=false exports nothing that was not sampled', async () => {
    const off = { OTEL_TRACES_SAMPLER: 'always_off', AX_TRACE_KEEP_FAILURES: 'false' };
    const ax = await cluster.serve('all', { ...collector.env, ...off });
    await create(ax, 'bad-2', '/bad');
    const bad = await run(ax, 'bad-2');
    await ax.stop();
    expect(collector.of(bad)).toEqual([]);
  }, 120_000);

  it('loads no library for it without an exporter, and makes trace ids all the same', async () => {
    const watched = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WATCH)}` };
    /** What a run makes a node load. */
    const loadedBy = async (id: string, env: Readonly<Record<string, string>>): Promise<string[]> => {
      const ax = await cluster.serve('all', { ...watched, ...env });
      await create(ax, id, '/good');
      expect(flags(await run(ax, id))).toEqual(['01']);
      await ax.stop();
      return ax.text.filter((line) => line.startsWith('loaded '));
    };
    expect(await loadedBy('without', {})).toEqual([]);
    expect(await loadedBy('with', collector.env)).toContain('loaded @opentelemetry/core');
  }, 180_000);

  it('runs on, says so once and stops in time while the collector takes nothing', async () => {
    collector.status = 400;
    const ax = await cluster.serve('all', collector.env);
    await create(ax, 'lonely', '/good');
    for (let i = 0; i < 3; i++) await run(ax, 'lonely');
    const refused = () => ax.lines.filter(({ msg }) => msg.startsWith('traces not exported'));
    const had = collector.requests.length;
    await until('it was told twice', async () => {
      await run(ax, 'lonely');
      return refused().length > 0 && collector.requests.length > had + 1;
    });
    collector.status = 200;
    await until('it says that they are taken again', async () => {
      await run(ax, 'lonely');
      return ax.lines.some(({ msg }) => msg === 'traces are exported again');
    });
    expect(refused()).toHaveLength(1);
    expect(await ax.stop()).toBe(0);
  }, 180_000);
});

/** Prints the name of each package of OpenTelemetry but its interface, which the metrics have anyway, as it is loaded. */
const WATCH = `
import Module from 'node:module';
const load = Module._load;
Module._load = function (request, ...rest) {
  if (/^@opentelemetry.(?!api$)/.test(request)) process.stdout.write('loaded ' + request + '\\n');
  return load.call(this, request, ...rest);
};
`;
