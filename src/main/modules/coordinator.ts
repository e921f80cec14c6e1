import { ContainerModule } from 'inversify';
import { Authenticate } from '../../application/authenticate.js';
import { FillCalendar } from '../../application/calendars/fill-calendar.js';
import { ManageCalendars } from '../../application/calendars/manage-calendars.js';
import { QueryCalendars } from '../../application/calendars/query-calendars.js';
import { CollectResults } from '../../application/coordinator/collect-results.js';
import { DeliverHooks } from '../../application/coordinator/deliver-hooks.js';
import { FillOutcomes } from '../../application/coordinator/fill-outcomes.js';
import { Leadership } from '../../application/coordinator/leadership.js';
import { MeasureLoad } from '../../application/coordinator/measure-load.js';
import { RecoverExecutions } from '../../application/coordinator/recover-executions.js';
import { ScheduleLoop } from '../../application/coordinator/schedule-loop.js';
import { Tick } from '../../application/coordinator/tick.js';
import { PostReceipt } from '../../application/executions/post-receipt.js';
import { WatchCalendars } from '../../application/coordinator/watch-calendars.js';
import { WatchPools } from '../../application/coordinator/watch-pools.js';
import { CancelExecution } from '../../application/executions/cancel-execution.js';
import { ClusterExamination } from '../../application/doctor/cluster-examination.js';
import { ExamineInstallation } from '../../application/doctor/examine-installation.js';
import { PoolExamination } from '../../application/doctor/pool-examination.js';
import { RunExamination } from '../../application/doctor/run-examination.js';
import { TaskExamination } from '../../application/doctor/task-examination.js';
import { QueryExecutions } from '../../application/executions/query-executions.js';
import { SummarizeRuns } from '../../application/executions/summarize-runs.js';
import { ExplainSlot } from '../../application/history/explain-slot.js';
import { ForecastLoad } from '../../application/forecast/forecast-load.js';
import { VerifyHistory } from '../../application/history/verify-history.js';
import { QueryWorkers } from '../../application/pools/query-workers.js';
import { ManageTasks } from '../../application/tasks/manage-tasks.js';
import { QueryTasks } from '../../application/tasks/query-tasks.js';
import { RunTask } from '../../application/tasks/run-task.js';
import { zoneDataVersion } from '../../domain/cron/time-zone.js';
import { take } from '../take.js';
import { TOKENS as T } from '../tokens.js';

/** Slots and events that one request may verify: about half a minute of work, in between which everything else goes on. */
const VERIFY = { maxSteps: 500_000 };
/** One request to forecast: some seconds of work at most, in between which everything else goes on. */
const FORECAST = { maxTasks: 20_000, maxSteps: 300_000_000 };
const LOOK_MS = 10_000;
const SWEEP = { sweepMs: 5000, graceMs: 10_000 };

/** The use cases and the coordinator's loops; needs the stores. */
export const coordinatorModule = new ContainerModule(({ bind }) => {
  bind(T.useCases).toDynamicValue((context) => {
    const bound = take(
      context,
      'tasks',
      'triggers',
      'executions',
      'history',
      'durations',
      'calendars',
      'calendarSource',
      'receipts',
      'tokenHash',
      'audit',
      'stops',
      'queue',
      'wakeup',
      'workerRegistry',
      'nodeRegistry',
      'lock',
      'storeExaminations',
      'brokerExaminations',
      'clock',
      'machine',
      'ids',
      'tracer',
      'metrics',
      'logger',
      'identity',
      'authenticate',
      'readiness',
      'config',
    );
    const { tasks, executions, clock, config, workerRegistry: registry, tokenHash: hash } = bound;
    const deps = { ...bound, registry, hash, node: bound.identity.node };
    const { queueLimit, clockLimitMs } = config;
    const manageCalendars = new ManageCalendars(deps);
    return {
      manageTasks: new ManageTasks(deps),
      runTask: new RunTask(deps),
      queryTasks: new QueryTasks(deps),
      manageCalendars,
      fillCalendar: new FillCalendar({ ...deps, source: bound.calendarSource, manageCalendars }),
      queryCalendars: new QueryCalendars(deps),
      queryExecutions: new QueryExecutions(deps),
      summarizeRuns: new SummarizeRuns(deps),
      cancelExecution: new CancelExecution(deps),
      postReceipt: new PostReceipt(deps),
      queryWorkers: new QueryWorkers(deps),
      explainSlot: new ExplainSlot({ ...deps, live: { queue: bound.queue, registry, queueLimit } }),
      forecastLoad: new ForecastLoad(deps, FORECAST),
      examineInstallation: new ExamineInstallation([
        ...bound.storeExaminations,
        ...bound.brokerExaminations,
        new ClusterExamination(
          { ...deps, nodes: bound.nodeRegistry },
          { zoneData: zoneDataVersion(), clockLimitMs, queueLimit },
        ),
        new PoolExamination({ workers: registry, tasks }),
        new TaskExamination({ tasks, clock }, true),
        new RunExamination({ executions, clock }),
      ]),
      verifyHistory: new VerifyHistory(deps, VERIFY),
      authenticate: bound.authenticate,
      readiness: bound.readiness,
    };
  });
  bind(T.authenticate).toDynamicValue((context) => {
    const { tokenHash, config, ...deps } = take(context, 'tokens', 'tokenHash', 'audit', 'clock', 'config');
    return new Authenticate({ ...deps, hash: tokenHash, adminToken: config.adminToken });
  });
  bind(T.leadership).toDynamicValue((context) => {
    const { identity, config, ...deps } = take(
      context,
      'lock',
      'clock',
      'metrics',
      'logger',
      'identity',
      'config',
    );
    return new Leadership({ ...deps, owner: identity.instance, leaseMs: config.leaseMs });
  });
  bind(T.tick).toDynamicValue((context) => {
    const { hooks, lastOutcomes, identity, config, ...deps } = take(
      context,
      'leadership',
      'triggers',
      'executions',
      'queue',
      'hooks',
      'lastOutcomes',
      'clock',
      'ids',
      'tracer',
      'metrics',
      'logger',
      'identity',
      'config',
    );
    const { tickMs, queueLimit } = config;
    const fillOutcomes = new FillOutcomes({ hooks, lastOutcomes });
    return new Tick({ ...deps, fillOutcomes }, { node: identity.node, tickMs, queueLimit });
  });
  bind(T.scheduleLoop).toDynamicValue(
    (context) =>
      new ScheduleLoop(
        take(context, 'tick', 'leadership', 'wakeup', 'clock', 'metrics', 'logger', 'readiness'),
      ),
  );
  bind(T.collectResults).toDynamicValue((context) => {
    const { identity, ...deps } = take(
      context,
      'results',
      'executions',
      'clock',
      'metrics',
      'logger',
      'readiness',
      'identity',
    );
    return new CollectResults({ ...deps, taker: identity.instance });
  });
  bind(T.recoverExecutions).toDynamicValue((context) => {
    const { identity, config, ...deps } = take(
      context,
      'leadership',
      'executions',
      'queue',
      'results',
      'clock',
      'metrics',
      'logger',
      'identity',
      'config',
    );
    return new RecoverExecutions(deps, { node: identity.node, settleMs: config.claimTtlMs, ...SWEEP });
  });
  bind(T.watchPools).toDynamicValue((context) => {
    const { workerRegistry, ...deps } = take(
      context,
      'leadership',
      'workerRegistry',
      'tasks',
      'clock',
      'metrics',
      'logger',
    );
    return new WatchPools({ ...deps, registry: workerRegistry }, { lookMs: LOOK_MS });
  });
  bind(T.measureLoad).toDynamicValue((context) => {
    const { config, ...deps } = take(
      context,
      'leadership',
      'loads',
      'triggers',
      'queue',
      'results',
      'clock',
      'metrics',
      'logger',
      'config',
    );
    const { by, maxTasks } = config.metrics;
    return new MeasureLoad(deps, { lookMs: LOOK_MS, maxTasks: by === 'task' ? maxTasks : 0 });
  });
  bind(T.watchCalendars).toDynamicValue(
    (context) => new WatchCalendars(take(context, 'leadership', 'calendars', 'clock', 'metrics', 'logger')),
  );
  bind(T.deliverHooks).toDynamicValue((context) => {
    const { identity, ...deps } = take(
      context,
      'hooks',
      'executors',
      'tracer',
      'clock',
      'metrics',
      'logger',
      'identity',
    );
    return new DeliverHooks({ ...deps, node: identity.node });
  });
});
