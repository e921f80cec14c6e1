import { randomUUID } from 'node:crypto';
import { type Container } from 'inversify';
import { EgressRules } from '../adapters/executors/egress-rules.js';
import { HttpExecutor } from '../adapters/executors/http-executor.js';
import { replyQueueOf } from '../adapters/executors/mq/mq-message.js';
import { MqExecutor } from '../adapters/executors/mq/mq-executor.js';
import { ShellExecutor } from '../adapters/executors/shell/shell-executor.js';
import { createHttpApp } from '../adapters/http/create-http-app.js';
import { type HttpServer, startHttpServer } from '../adapters/http/start-http-server.js';
import { SystemClock } from '../adapters/system/system-clock.js';
import { SystemRandom } from '../adapters/system/system-random.js';
import { type PinoLogger } from '../adapters/telemetry/pino-logger.js';
import { PrometheusMetrics } from '../adapters/telemetry/prometheus-metrics.js';
import { TracedExecutor } from '../adapters/telemetry/traced-executor.js';
import { type Tracing } from '../adapters/telemetry/tracing-options.js';
import { type UseCases } from '../application/use-cases.js';
import { zoneDataVersion } from '../domain/cron/time-zone.js';
import { type Executor } from '../ports/executor.js';
import { type Backend, openBackend } from './backend.js';
import { type Config } from './config.js';
import { createContainer, hasCoordinator, hasWorker } from './container.js';
import { executorsModule, systemModule, telemetryModule } from './modules/adapters.js';
import { tracingModule } from './modules/tracing.js';
import { openTraces } from './open-traces.js';
import { replyQueuesOf } from './reply-queues.js';
import { TOKENS as T } from './tokens.js';

type LoopName =
  | 'clock'
  | 'node'
  | 'schedule'
  | 'recover'
  | 'pools'
  | 'load'
  | 'calendars'
  | 'worker'
  | 'receipts'
  | 'announce'
  | 'collect'
  | 'hooks';

/** A loop and the signal that ends it. */
interface RunningLoop {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * One ax process, from start to stop. Start: connect and check the stores → first look at the time reference → wire → admin token →
 * listen → clock → loops.
 * Stop: not ready → tick, recovery and the looks at pools, load and calendars (the lease is released) → worker (says that it drains, drains, heartbeats last,
 * withdraws) → reply queues → collector (applies what came in) → post-hooks (those on their way) → node withdrawn → API → executors → clock → stores →
 * traces.
 * Nothing is closed before its users have ended.
 */
export class Node {
  /** The generated admin token, on the first start only. */
  newToken: string | null = null;
  private http: HttpServer | null = null;
  private readonly loops = new Map<LoopName, RunningLoop>();

  private constructor(
    private readonly config: Config,
    private readonly container: Container,
    private readonly backend: Backend,
    private readonly executors: readonly Executor[],
    private readonly tracing: Tracing | null,
    private readonly metrics: PrometheusMetrics,
    private readonly logger: PinoLogger,
  ) {}

  /** Connects and wires; nothing runs yet. @throws AxError `refused_start`, `unavailable`. */
  static async open(config: Config, version: string, logger: PinoLogger): Promise<Node> {
    const random = new SystemRandom();
    const metrics = metricsOf(config);
    const instance = `${config.nodeId}/${randomUUID().slice(0, 8)}`;
    const identity = { node: config.nodeId, instance, version };
    const tracing = await openTraces(config, identity, logger);
    const machine = new SystemClock();
    const backend = await openBackend(config, { machine, random, metrics, logger });
    const { clock } = backend;
    const { brokers, namespace, secrets } = config;
    const egress = new EgressRules(config.egress);
    const executors: Executor[] = [
      new HttpExecutor({ clock, version, secrets, egress }),
      new MqExecutor({ brokers, replyQueue: replyQueueOf(namespace), clock, random, logger }),
      ...(config.shell === null ? [] : [new ShellExecutor({ clock, ...config.shell })]),
    ];
    const traced = tracing === null ? null : { tracer: tracing.tracer, clock, system: backend.system };
    const container = createContainer(config, identity, [
      systemModule(clock, random, backend.measureOffset === null ? clock : machine),
      telemetryModule(logger, metrics, tracing?.tracer),
      executorsModule(traced === null ? executors : executors.map((one) => new TracedExecutor(one, traced))),
      ...backend.modules,
      ...(traced === null ? [] : [tracingModule(traced)]),
    ]);
    return new Node(config, container, backend, executors, tracing, metrics, logger);
  }

  get description(): string {
    return this.backend.description;
  }

  get address(): string {
    return this.http?.address ?? '';
  }

  /** Null in a worker. */
  get useCases(): UseCases | null {
    return hasCoordinator(this.config) ? this.container.get(T.useCases) : null;
  }

  async start(): Promise<void> {
    const { config, container, logger, metrics } = this;
    const { version } = container.get(T.identity);
    metrics.gauge('build_info', { version, node: config.nodeId, role: config.role }, 1);
    metrics.gauge('zone_data_info', { version: zoneDataVersion() }, 1);
    this.newToken = (await this.useCases?.authenticate.prepare()) ?? null;
    const app = createHttpApp({
      useCases: this.useCases,
      readiness: container.get(T.readiness),
      exposition: (accept) => {
        this.backend.measure();
        return metrics.exposition(accept);
      },
      metrics,
      clock: container.get(T.clock),
      logger,
    });
    this.http = await startHttpServer(app, config.http.host, config.http.port);
    if (this.backend.measureOffset !== null) this.begin('clock', this.backend.measureOffset);
    this.begin('node', container.get(T.announceNode));
    if (hasCoordinator(config)) {
      this.begin('collect', container.get(T.collectResults));
      this.begin('schedule', container.get(T.scheduleLoop));
      this.begin('recover', container.get(T.recoverExecutions));
      this.begin('hooks', container.get(T.deliverHooks));
      this.begin('pools', container.get(T.watchPools));
      this.begin('load', container.get(T.measureLoad));
      this.begin('calendars', container.get(T.watchCalendars));
    }
    if (hasWorker(config)) {
      this.begin('receipts', replyQueuesOf(config, container));
      this.begin('worker', container.get(T.workerLoop));
      this.begin('announce', container.get(T.announceWorker));
    }
    logger.info({ address: this.http.address, role: config.role }, `listening on ${this.http.address}`);
  }

  /** Drains and closes everything; may be called after a failed start. */
  async stop(): Promise<void> {
    this.container.get(T.readiness).stopping();
    await Promise.all([
      this.end('schedule'),
      this.end('recover'),
      this.end('pools'),
      this.end('load'),
      this.end('calendars'),
    ]);
    await this.endWorker();
    await this.end('receipts');
    await this.end('collect');
    await this.end('hooks');
    await this.end('node');
    await this.http?.close();
    await Promise.all(this.executors.map((executor) => executor.close()));
    await this.end('clock');
    await this.backend.close(await this.isDrained());
    await this.tracing?.close();
  }

  private begin(name: LoopName, loop: { run(stop: AbortSignal): Promise<void> }): void {
    const stop = new AbortController();
    this.loops.set(name, { stop, ended: loop.run(stop.signal) });
  }

  private async end(name: LoopName): Promise<void> {
    const loop = this.loops.get(name);
    loop?.stop.abort();
    await loop?.ended;
  }

  private async endWorker(): Promise<void> {
    if (!this.loops.has('worker')) return;
    await Promise.all([this.container.get(T.announceWorker).drain(), this.end('worker')]);
    await this.end('announce');
  }

  private async isDrained(): Promise<boolean> {
    if (this.config.backend.mode !== 'embedded') return true;
    return (await this.container.get(T.results).backlog()).depth === 0;
  }
}

function metricsOf(config: Config): PrometheusMetrics {
  return new PrometheusMetrics({
    ...config.metrics,
    namespace: config.namespace,
    scopes: [
      'every',
      ...(hasCoordinator(config) ? (['coordinator', 'leader'] as const) : []),
      ...(hasWorker(config) ? (['worker'] as const) : []),
    ],
  });
}
