import { type ShellExecutorSpec } from '../../../domain/executors/shell-spec.js';
import { type ExecutorRequest } from '../../../ports/executor.js';

export type Environment = Readonly<Record<string, string>>;
type Request = ExecutorRequest<ShellExecutorSpec>;

const DEFAULTS = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
};

/** What a command is told of its run. Instants are epoch ms, parameters JSON. */
export const runVariables = (request: Request): Environment => ({
  AX_TASK_ID: request.taskId,
  AX_EXECUTION_ID: request.executionId,
  AX_ATTEMPT: String(request.attempt),
  AX_SCHEDULE_AT: String(request.slot),
  AX_PARAMS: JSON.stringify(request.params),
});

/** What marks every process of the attempt, as `NAME=value`. */
export const marksOf = ({ executionId, attempt }: Request): readonly string[] => [
  `AX_EXECUTION_ID=${executionId}`,
  `AX_ATTEMPT=${attempt}`,
];

/**
 * The whole environment of a command on this machine: four variables of the worker, those of the run, and what the task names, which
 * may replace the four. Nothing else of the worker's comes in.
 */
export const childEnvironment = (
  request: Request,
  worker: Environment,
  home: string | null,
): Environment => ({
  PATH: worker['PATH'] ?? DEFAULTS.PATH,
  HOME: home ?? worker['HOME'] ?? DEFAULTS.HOME,
  LANG: worker['LANG'] ?? DEFAULTS.LANG,
  TZ: worker['TZ'] ?? DEFAULTS.TZ,
  ...request.spec.env,
  ...runVariables(request),
});
