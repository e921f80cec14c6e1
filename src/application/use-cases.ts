import { type Authenticate } from './authenticate.js';
import { type FillCalendar } from './calendars/fill-calendar.js';
import { type ManageCalendars } from './calendars/manage-calendars.js';
import { type QueryCalendars } from './calendars/query-calendars.js';
import { type ExamineInstallation } from './doctor/examine-installation.js';
import { type PostReceipt } from './executions/post-receipt.js';
import { type CancelExecution } from './executions/cancel-execution.js';
import { type QueryExecutions } from './executions/query-executions.js';
import { type SummarizeRuns } from './executions/summarize-runs.js';
import { type ExplainSlot } from './history/explain-slot.js';
import { type ForecastLoad } from './forecast/forecast-load.js';
import { type VerifyHistory } from './history/verify-history.js';
import { type QueryWorkers } from './pools/query-workers.js';
import { type Readiness } from './readiness.js';
import { type ManageTasks } from './tasks/manage-tasks.js';
import { type QueryTasks } from './tasks/query-tasks.js';
import { type RunTask } from './tasks/run-task.js';

/** Everything a person or a program can ask of ax. */
export interface UseCases {
  /** create · replace · toggle · delete */
  readonly manageTasks: ManageTasks;
  /** run */
  readonly runTask: RunTask;
  /** find · list · nextFires · preview · words */
  readonly queryTasks: QueryTasks;
  /** create · replace · delete */
  readonly manageCalendars: ManageCalendars;
  /** fill · import */
  readonly fillCalendar: FillCalendar;
  /** find · list · named · warnings */
  readonly queryCalendars: QueryCalendars;
  /** find · list */
  readonly queryExecutions: QueryExecutions;
  /** summarize */
  readonly summarizeRuns: SummarizeRuns;
  /** post */
  readonly postReceipt: PostReceipt;
  /** list · live · statusOf */
  readonly queryWorkers: QueryWorkers;
  /** cancel */
  readonly cancelExecution: CancelExecution;
  /** explain */
  readonly explainSlot: ExplainSlot;
  /** forecast */
  readonly forecastLoad: ForecastLoad;
  /** examine */
  readonly examineInstallation: ExamineInstallation;
  /** verify */
  readonly verifyHistory: VerifyHistory;
  /** actorOf · prepare */
  readonly authenticate: Authenticate;
  /** report */
  readonly readiness: Readiness;
}
