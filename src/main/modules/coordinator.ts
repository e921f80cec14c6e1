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
import { TOKENS as T } from '../tokens.js';

/** Slots and events that one request may verify: about half a minute of work, in between which everything else goes on. */
const VERIFY = { maxSteps: 500_000 };
/** One request to forecast: some seconds of work at most, in between which everything else goes on. */
const FORECAST = { maxTasks: 20_000, maxSteps: 300_000_000 };
const LOOK_MS = 10_000;
const SWEEP = { sweepMs: 5000, graceMs: 10_000 };

/** The use cases and the coordinator's loops; needs the stores. */
export const coordinatorModule = new ContainerModule(({ bind }) => {
  bind(T.useCases).toResolvedValue(
    (
      tasks,
      triggers,
      executions,
      history,
      durations,
      calendars,
      calendarSource,
      receipts,
      hash,
      audit,
      stops,
      queue,
      wakeup,
      registry,
      nodes,
      lock,
      storeExaminations,
      brokerExaminations,
      clock,
      machine,
      ids,
      tracer,
      metrics,
      logger,
      identity,
      authenticate,
      readiness,
      config,
    ) => {
      const { node } = identity;
      const runDeps = { tasks, triggers, queue, tracer, clock, ids, metrics, logger, node };
      const live = { queue, registry, queueLimit: config.queueLimit };
      const cancelDeps = { tasks, executions, stops, receipts, audit, clock, metrics, logger, node };
      const manageCalendars = new ManageCalendars({ calendars, wakeup, clock });
      return {
        manageTasks: new ManageTasks({ tasks, wakeup, registry, clock, ids }),
        runTask: new RunTask(runDeps),
        queryTasks: new QueryTasks({ tasks, clock }),
        manageCalendars,
        fillCalendar: new FillCalendar({ source: calendarSource, calendars, manageCalendars }),
        queryCalendars: new QueryCalendars({ calendars, clock }),
        queryExecutions: new QueryExecutions({ executions }),
        summarizeRuns: new SummarizeRuns({ tasks, durations, clock }),
        cancelExecution: new CancelExecution(cancelDeps),
        postReceipt: new PostReceipt({ receipts, executions, hash }),
        queryWorkers: new QueryWorkers({ registry, tasks, clock }),
        explainSlot: new ExplainSlot({ history, tasks, executions, clock, live }),
        forecastLoad: new ForecastLoad({ tasks, durations, clock }, FORECAST),
        examineInstallation: new ExamineInstallation([
          ...storeExaminations,
          ...brokerExaminations,
          new ClusterExamination(
            { lock, nodes, queue, clock, machine },
            {
              zoneData: zoneDataVersion(),
              clockLimitMs: config.clockLimitMs,
              queueLimit: config.queueLimit,
            },
          ),
          new PoolExamination({ workers: registry, tasks }),
          new TaskExamination({ tasks, clock }, true),
          new RunExamination({ executions, clock }),
        ]),
        verifyHistory: new VerifyHistory({ history, clock }, VERIFY),
        authenticate,
        readiness,
      };
    },
    [
      T.tasks,
      T.triggers,
      T.executions,
      T.history,
      T.durations,
      T.calendars,
      T.calendarSource,
      T.receipts,
      T.tokenHash,
      T.audit,
      T.stops,
      T.queue,
      T.wakeup,
      T.workerRegistry,
      T.nodeRegistry,
      T.lock,
      T.storeExaminations,
      T.brokerExaminations,
      T.clock,
      T.machine,
      T.ids,
      T.tracer,
      T.metrics,
      T.logger,
      T.identity,
      T.authenticate,
      T.readiness,
      T.config,
    ],
  );
  bind(T.authenticate).toResolvedValue(
    (tokens, hash, audit, clock, config) =>
      new Authenticate({ tokens, hash, audit, clock, adminToken: config.adminToken }),
    [T.tokens, T.tokenHash, T.audit, T.clock, T.config],
  );
  bind(T.leadership).toResolvedValue(
    (lock, clock, metrics, logger, identity, config) =>
      new Leadership({ lock, clock, metrics, logger, owner: identity.instance, leaseMs: config.leaseMs }),
    [T.lock, T.clock, T.metrics, T.logger, T.identity, T.config],
  );
  bind(T.tick).toResolvedValue(
    (
      leadership,
      triggers,
      executions,
      queue,
      hooks,
      lastOutcomes,
      clock,
      ids,
      tracer,
      metrics,
      logger,
      identity,
      config,
    ) => {
      const fillOutcomes = new FillOutcomes({ hooks, lastOutcomes });
      return new Tick(
        { leadership, triggers, executions, queue, fillOutcomes, clock, ids, tracer, metrics, logger },
        { node: identity.node, tickMs: config.tickMs, queueLimit: config.queueLimit },
      );
    },
    [
      T.leadership,
      T.triggers,
      T.executions,
      T.queue,
      T.hooks,
      T.lastOutcomes,
      T.clock,
      T.ids,
      T.tracer,
      T.metrics,
      T.logger,
      T.identity,
      T.config,
    ],
  );
  bind(T.scheduleLoop).toResolvedValue(
    (tick, leadership, wakeup, clock, metrics, logger, readiness) =>
      new ScheduleLoop({ tick, leadership, wakeup, clock, metrics, logger, readiness }),
    [T.tick, T.leadership, T.wakeup, T.clock, T.metrics, T.logger, T.readiness],
  );
  bind(T.collectResults).toResolvedValue(
    (results, executions, clock, metrics, logger, readiness, identity) =>
      new CollectResults({
        results,
        executions,
        clock,
        metrics,
        logger,
        readiness,
        taker: identity.instance,
      }),
    [T.results, T.executions, T.clock, T.metrics, T.logger, T.readiness, T.identity],
  );
  bind(T.recoverExecutions).toResolvedValue(
    (leadership, executions, queue, results, clock, metrics, logger, identity, config) =>
      new RecoverExecutions(
        { leadership, executions, queue, results, clock, metrics, logger },
        { node: identity.node, settleMs: config.claimTtlMs, ...SWEEP },
      ),
    [T.leadership, T.executions, T.queue, T.results, T.clock, T.metrics, T.logger, T.identity, T.config],
  );
  bind(T.watchPools).toResolvedValue(
    (leadership, registry, tasks, clock, metrics, logger) =>
      new WatchPools({ leadership, registry, tasks, clock, metrics, logger }, { lookMs: LOOK_MS }),
    [T.leadership, T.workerRegistry, T.tasks, T.clock, T.metrics, T.logger],
  );
  bind(T.measureLoad).toResolvedValue(
    (leadership, loads, triggers, queue, results, clock, metrics, logger, config) =>
      new MeasureLoad(
        { leadership, loads, triggers, queue, results, clock, metrics, logger },
        { lookMs: LOOK_MS, maxTasks: config.metrics.by === 'task' ? config.metrics.maxTasks : 0 },
      ),
    [T.leadership, T.loads, T.triggers, T.queue, T.results, T.clock, T.metrics, T.logger, T.config],
  );
  bind(T.watchCalendars).toResolvedValue(
    (leadership, calendars, clock, metrics, logger) =>
      new WatchCalendars({ leadership, calendars, clock, metrics, logger }),
    [T.leadership, T.calendars, T.clock, T.metrics, T.logger],
  );
  bind(T.deliverHooks).toResolvedValue(
    (hooks, executors, tracer, clock, metrics, logger, identity) =>
      new DeliverHooks({ hooks, executors, tracer, clock, metrics, logger, node: identity.node }),
    [T.hooks, T.executors, T.tracer, T.clock, T.metrics, T.logger, T.identity],
  );
});
