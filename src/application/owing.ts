import { type ExecutionReport, isTerminal, type Status } from '../domain/execution.js';
import { type PostHook } from '../domain/hooks.js';
import { type Task } from '../domain/task.js';

/** The report with what its task's post-hook is to be told, if it ends the execution in a way that the hook asks for. */
export function owing(
  report: ExecutionReport,
  { name, group, hooks: { post } }: Pick<Task, 'name' | 'group' | 'hooks'>,
): ExecutionReport {
  if (post === null || !isTerminal(report.status) || !asksFor(post.on, report.status)) return report;
  return { ...report, owed: { hook: post, taskName: name, group } };
}

function asksFor(on: PostHook['on'], status: Status): boolean {
  if (on === 'always') return true;
  return on === 'success' ? status === 'success' : status === 'fail' || status === 'timeout';
}
