/**
 * Who changed what. `before` and `after` are the thing as the domain's JSON, a whole Task or BrokenTask for the changes of a task (not the
 * API's snake_case form); null where there is none. For `task.run`, `after` names the execution and its params.
 */
export interface AuditEntry {
  readonly at: number;
  readonly actor: string;
  /**
   * `task.create`, `task.update`, `task.toggle`, `task.delete`, `task.run`, `calendar.create`, `calendar.update`, `calendar.delete`,
   * `execution.cancel`, `token.create`.
   */
  readonly action: string;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The append-only audit log. Repositories that change data write their entry in the same transaction. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
  /** Newest first, at most `limit`, optionally of one subject. */
  list(filter: { readonly subject?: string; readonly limit: number }): Promise<AuditEntry[]>;
}
