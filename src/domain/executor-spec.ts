import { type FieldProblem } from './errors.js';
import { type HttpExecutorSpec, httpSpecProblems, restoreHttpSpec } from './executors/http-spec.js';
import { type MqExecutorSpec, mqSpecProblems, restoreMqSpec } from './executors/mq-spec.js';
import { restoreShellSpec, type ShellExecutorSpec, shellSpecProblems } from './executors/shell-spec.js';

/** What a task does when it fires. */
export type ExecutorSpec = HttpExecutorSpec | MqExecutorSpec | ShellExecutorSpec;
export type ExecutorType = ExecutorSpec['type'];

/** Every broken rule of an executor, by API field (`executor.url`, …); empty when it holds. */
export function executorProblems(spec: ExecutorSpec): FieldProblem[] {
  switch (spec.type) {
    case 'http':
      return httpSpecProblems(spec);
    case 'mq':
      return mqSpecProblems(spec);
    case 'shell':
      return shellSpecProblems(spec);
  }
}

/** Whether an attempt ends with a receipt instead of with what `execute` came to. */
export const awaitsReceipt = (spec: ExecutorSpec): boolean => spec.type !== 'shell' && spec.ack === 'receipt';

/** A newer node may know more. */
export const isExecutorType = (type: string): type is ExecutorType =>
  type === 'http' || type === 'mq' || type === 'shell';

/** An executor from stored JSON; null if it is none. */
export function restoreExecutor(stored: Readonly<Record<string, unknown>>): ExecutorSpec | null {
  if (stored.type === 'http') return restoreHttpSpec(stored);
  if (stored.type === 'mq') return restoreMqSpec(stored);
  return stored.type === 'shell' ? restoreShellSpec(stored) : null;
}
