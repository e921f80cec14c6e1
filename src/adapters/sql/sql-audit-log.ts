import { type AuditEntry, type AuditLog } from '../../ports/audit.js';
import { type SqlDb, type Statements } from './sql-db.js';

interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly before_json: string;
  readonly after_json: string;
}

const COLUMNS = ['at', 'actor', 'action', 'subject', 'before_json', 'after_json'] as const;

/** Appends within the caller's transaction. */
export async function appendAudit(sql: Statements, ...entries: readonly AuditEntry[]): Promise<void> {
  const rows = entries.map(({ at, actor, action, subject, before, after }) => [
    sql.dialect.instant(at),
    actor,
    action,
    subject,
    JSON.stringify(before ?? null),
    JSON.stringify(after ?? null),
  ]);
  await sql.insert('audit_log', COLUMNS, rows);
}

export class SqlAuditLog implements AuditLog {
  constructor(private readonly db: SqlDb) {}

  async append(entry: AuditEntry): Promise<void> {
    await this.db.transaction((sql) => appendAudit(sql, entry));
  }

  async list(filter: { readonly subject?: string; readonly limit: number }): Promise<AuditEntry[]> {
    const { subject, limit } = filter;
    const rows = await this.db.read((sql) => {
      const query = sql.knex('audit_log').select(...COLUMNS);
      if (subject !== undefined) query.where({ subject });
      return sql.select<AuditRow>(query.orderBy('id', 'desc').limit(limit));
    });
    return rows.map(({ before_json, after_json, ...entry }) => ({
      ...entry,
      before: JSON.parse(before_json) as unknown,
      after: JSON.parse(after_json) as unknown,
    }));
  }
}
