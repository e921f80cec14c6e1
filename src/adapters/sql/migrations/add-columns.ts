import { type Statements } from '../sql-db.js';

/** Adds the columns that a table lacks, as in `CREATE TABLE`: a name and its definition. Rows that exist get the default. */
export async function addColumns(
  sql: Statements,
  table: string,
  definitions: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [column, definition] of Object.entries(definitions)) {
    if (await sql.knex.schema.hasColumn(table, column)) continue;
    await sql.run(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
  }
}
