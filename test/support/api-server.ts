import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OfflineCalendarSource } from '../../src/adapters/calendars/offline-calendar-source.js';
import { InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { InProcessWorkerRegistry } from '../../src/adapters/embedded/in-process-worker-registry.js';
import { openSqlite, type SqliteStore } from '../../src/adapters/embedded/sqlite-store.js';
import { createHttpApp } from '../../src/adapters/http/create-http-app.js';
import { type HttpServer, startHttpServer } from '../../src/adapters/http/start-http-server.js';
import { SqlCalendarRepo } from '../../src/adapters/sql/sql-calendar-repo.js';
import { SchemaExamination } from '../../src/adapters/sql/schema-examination.js';
import { SqlAuditLog } from '../../src/adapters/sql/sql-audit-log.js';
import { SqlDurationRepo } from '../../src/adapters/sql/sql-duration-repo.js';
import { SqlExecutionRepo } from '../../src/adapters/sql/sql-execution-repo.js';
import { SqlHistoryRepo } from '../../src/adapters/sql/sql-history-repo.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTokenRepo } from '../../src/adapters/sql/sql-token-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { UuidIds } from '../../src/adapters/system/uuid-ids.js';
import { W3cTracer } from '../../src/adapters/telemetry/w3c-tracer.js';
import { Authenticate } from '../../src/application/authenticate.js';
import { CancelExecution } from '../../src/application/executions/cancel-execution.js';
import { PostReceipt } from '../../src/application/executions/post-receipt.js';
import { ExamineInstallation } from '../../src/application/doctor/examine-installation.js';
import { QueryExecutions } from '../../src/application/executions/query-executions.js';
import { SummarizeRuns } from '../../src/application/executions/summarize-runs.js';
import { ExplainSlot } from '../../src/application/history/explain-slot.js';
import { ForecastLoad } from '../../src/application/forecast/forecast-load.js';
import { VerifyHistory } from '../../src/application/history/verify-history.js';
import { QueryWorkers } from '../../src/application/pools/query-workers.js';
import { Readiness } from '../../src/application/readiness.js';
import { FillCalendar } from '../../src/application/calendars/fill-calendar.js';
import { ManageCalendars } from '../../src/application/calendars/manage-calendars.js';
import { QueryCalendars } from '../../src/application/calendars/query-calendars.js';
import { ManageTasks } from '../../src/application/tasks/manage-tasks.js';
import { QueryTasks } from '../../src/application/tasks/query-tasks.js';
import { RunTask } from '../../src/application/tasks/run-task.js';
import { type Stops } from '../../src/ports/stops.js';
import { type Queue, type QueueMessage } from '../../src/ports/queue.js';
import { type WorkerRegistry } from '../../src/ports/worker-registry.js';
import { FakeClock } from './fake-clock.js';
import { RecordingLogger, RecordingMetrics } from './recording.js';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; null if there is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Minutes of tasks that one forecast takes here. */
const MAX_FORECAST_STEPS = 100_000;
/** Slots and events that one verification takes here. */
const MAX_STEPS = 500;

/** The API over a SQLite file of its own and a queue that only keeps what was published. Time stands at 2026-01-05T00:00:00Z. */
export class ApiServer {
  readonly clock = new FakeClock();
  readonly logger = new RecordingLogger();
  readonly published: QueueMessage[] = [];
  readonly token: string = randomBytes(24).toString('hex');
  readonly executions: SqlExecutionRepo;
  readonly audit: SqlAuditLog;
  /** The workers that the API knows; none at first. */
  readonly registry: WorkerRegistry = new InProcessWorkerRegistry(this.clock);
  /** Whether a worker runs what is cancelled; else a cancel ends it at once. */
  isRunning = false;
  /** How many wake-ups were sent. */
  wakeups = 0;
  private http!: HttpServer;

  private constructor(
    readonly store: SqliteStore,
    private readonly directory: string,
  ) {
    this.executions = new SqlExecutionRepo(store.db);
    this.audit = new SqlAuditLog(store.db);
  }

  static async start(): Promise<ApiServer> {
    const directory = await mkdtemp(join(tmpdir(), 'ax-http-'));
    const store = await openSqlite(directory, { clock: new FakeClock(), random: { next: () => 0 } });
    const api = new ApiServer(store, directory);
    api.http = await startHttpServer(api.app(), '127.0.0.1', 0);
    return api;
  }

  get address(): string {
    return this.http.address;
  }

  /** A request with the token; `body` is sent as JSON unless it is text or bytes. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await fetch(`${this.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(raw === undefined ? {} : { body: raw }),
    });
    const text = await response.text();
    const json = (text === '' ? null : JSON.parse(text)) as ApiAnswer['json'];
    return { status: response.status, headers: response.headers, text, json };
  }

  async close(): Promise<void> {
    await this.http.close(1000);
    await this.store.close({ clean: true });
    await rm(this.directory, { recursive: true });
  }

  private app() {
    const { clock, logger, executions, registry } = this;
    const { db } = this.store;
    const tasks = new SqlTaskRepo(db);
    const calendars = new SqlCalendarRepo(db);
    const ids = new UuidIds(clock);
    const metrics = new RecordingMetrics();
    const wakeup = { notify: async () => void this.wakeups++, subscribe: () => () => undefined };
    const queue = {
      epoch: async () => this.store.queueEpoch,
      publish: async (messages: readonly QueueMessage[]) => {
        this.published.push(...messages);
        return messages.map(() => 'added' as const);
      },
    } as unknown as Queue;
    const receipts = new InProcessReceipts(clock);
    const hash = {
      of: (token: string) => createHash('sha256').update(token).digest('hex'),
      newToken: () => randomBytes(24).toString('hex'),
    };
    const stops: Stops = {
      cancel: async (_, { unbegun }) => {
        if (this.isRunning) return 'requested';
        await executions.apply([unbegun]);
        return 'ended';
      },
      subscribe: () => () => undefined,
    };
    const manageCalendars = new ManageCalendars({ calendars, wakeup, clock });
    const useCases = {
      manageTasks: new ManageTasks({ tasks, wakeup, registry, clock, ids }),
      runTask: new RunTask({
        tasks,
        triggers: new SqlTriggerRepo(db),
        queue,
        tracer: new W3cTracer(),
        clock,
        ids,
        metrics,
        logger,
        node: 'coordinator-1',
      }),
      queryTasks: new QueryTasks({ tasks, clock }),
      manageCalendars,
      fillCalendar: new FillCalendar({
        source: new OfflineCalendarSource(clock),
        calendars,
        manageCalendars,
      }),
      queryCalendars: new QueryCalendars({ calendars, clock }),
      queryExecutions: new QueryExecutions({ executions }),
      summarizeRuns: new SummarizeRuns({ tasks, durations: new SqlDurationRepo(db), clock }),
      cancelExecution: new CancelExecution({
        ...{ tasks, executions, stops, receipts, audit: this.audit, clock, metrics, logger },
        node: 'coordinator-1',
      }),
      postReceipt: new PostReceipt({ receipts, executions, hash }),
      queryWorkers: new QueryWorkers({ registry, tasks, clock }),
      explainSlot: new ExplainSlot({
        ...{ tasks, executions, clock, live: null },
        history: new SqlHistoryRepo(db),
      }),
      forecastLoad: new ForecastLoad(
        { tasks, durations: new SqlDurationRepo(db), clock },
        { maxTasks: 100, maxSteps: MAX_FORECAST_STEPS },
      ),
      examineInstallation: new ExamineInstallation([new SchemaExamination(db)]),
      verifyHistory: new VerifyHistory({ history: new SqlHistoryRepo(db), clock }, { maxSteps: MAX_STEPS }),
      authenticate: new Authenticate({
        tokens: new SqlTokenRepo(db),
        hash,
        audit: this.audit,
        clock,
        adminToken: this.token,
      }),
    };
    return createHttpApp({
      useCases,
      readiness: new Readiness(clock, 1000),
      exposition: async () => ({ contentType: 'text/plain', body: '' }),
      metrics,
      clock,
      logger,
    });
  }
}
