/** Structured logs: facts first, then a line for people. Keys are snake_case (`task_id`, `execution_id`, `trace_id`). */
export interface Logger {
  debug(facts: Readonly<Record<string, unknown>>, message: string): void;
  info(facts: Readonly<Record<string, unknown>>, message: string): void;
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
  /** An exception goes under the key `err`. */
  error(facts: Readonly<Record<string, unknown>>, message: string): void;
}
