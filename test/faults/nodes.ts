import { AxProcess } from '../support/ax-process.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { exposedBy, valueIn } from '../support/exposed.js';

export type NodeRole = 'coordinator' | 'worker';

/** One `ax` process of the cluster and its own connections to the stores; it may die and start again under the same name. */
export class ClusterNode {
  /** Null while it is dead. */
  ax: AxProcess | null = null;
  /** Log lines of its earlier lives. */
  readonly past: AxProcess[] = [];

  private constructor(
    readonly name: string,
    readonly role: NodeRole,
    readonly redis: TcpProxy,
    readonly mysql: TcpProxy,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async create(
    name: string,
    role: NodeRole,
    urls: { readonly redis: string; readonly mysql: string },
    env: Readonly<Record<string, string>>,
  ): Promise<ClusterNode> {
    const [redis, mysql] = [await TcpProxy.start(urls.redis), await TcpProxy.start(urls.mysql)];
    return new ClusterNode(name, role, redis, mysql, {
      ...env,
      AX_NODE_ID: name,
      AX_REDIS_URL: redis.through(urls.redis),
      ...(role === 'coordinator' ? { AX_MYSQL_URL: mysql.through(urls.mysql) } : {}),
    });
  }

  async start(extra: Readonly<Record<string, string>> = {}): Promise<void> {
    this.ax = await AxProcess.serve({ ...this.env, ...extra }, '--role', this.role);
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** SIGTERM, and waits for the end. */
  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  get pid(): number | null {
    return this.ax?.child.pid ?? null;
  }

  /** A gauge of its metrics; null when it does not answer. */
  async gauge(name: 'ax_leader' | 'ax_running_executions'): Promise<number | null> {
    if (this.ax === null) return null;
    const signal = AbortSignal.timeout(1000);
    return valueIn(await exposedBy(this.ax, { signal }).catch(() => ''), name);
  }

  /** What it logged about an execution, in any life. */
  linesAbout(executionId: string): string[] {
    const lives = [...this.past, ...(this.ax === null ? [] : [this.ax])];
    return lives
      .flatMap(({ lines }) => lines)
      .filter((line) => line['execution_id'] === executionId)
      .map((line) => `${this.name}: ${JSON.stringify(line)}`);
  }

  async close(): Promise<void> {
    if (this.ax !== null) await this.end('SIGKILL');
    await Promise.all([this.redis.close(), this.mysql.close()]);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { ax } = this;
    if (ax === null) return;
    this.ax = null;
    this.past.push(ax);
    ax.signal(signal);
    await ax.exit();
  }
}
