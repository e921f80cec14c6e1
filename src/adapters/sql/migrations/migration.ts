import { type Statements } from '../sql-db.js';

/** One forward step of the schema. It can be run again after it broke off halfway: MySQL commits every statement that makes a table. */
export interface Migration {
  /** Sorts after its predecessors, and never changes. */
  readonly name: string;
  up(sql: Statements): Promise<void>;
}
