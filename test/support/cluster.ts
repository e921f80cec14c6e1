import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import mysql from 'mysql2/promise';
import { AxProcess } from './ax-process.js';

/** Several `ax` processes on one MySQL database and one Redis namespace of their own. */
export class Cluster {
  readonly processes: AxProcess[] = [];

  private constructor(
    readonly env: Readonly<Record<string, string>>,
    private readonly admin: mysql.Connection,
    private readonly database: string,
  ) {}

  /** Creates the database and migrates it with `ax migrate`. */
  static async create(env: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const id = `ax_e2e_${randomBytes(6).toString('hex')}`;
    const url = new URL(inject('mysqlUrl'));
    const admin = await mysql.createConnection(url.href);
    await admin.query(`CREATE DATABASE ${id}`);
    url.pathname = `/${id}`;
    const all = { AX_MYSQL_URL: url.href, AX_REDIS_URL: inject('redisUrl'), AX_NAMESPACE: id, ...env };
    const migrate = AxProcess.spawn(['migrate'], all);
    const code = await migrate.exit();
    if (code !== 0) throw new Error(`ax migrate ended with ${code}:\n${migrate.output()}`);
    return new Cluster(all, admin, id);
  }

  /** Starts one more process and waits until it is ready. */
  async serve(
    role: 'all' | 'coordinator' | 'worker',
    env: Readonly<Record<string, string>> = {},
  ): Promise<AxProcess> {
    const ax = await AxProcess.serve({ ...this.env, ...env }, '--role', role);
    this.processes.push(ax);
    return ax;
  }

  /** Rows of a query in the cluster's database. */
  async query<T>(sql: string): Promise<T[]> {
    await this.admin.query(`USE ${this.database}`);
    const [rows] = await this.admin.query(sql);
    return rows as T[];
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((ax) => ax.stop()));
    await this.admin.query(`DROP DATABASE ${this.database}`);
    await this.admin.end();
  }
}
