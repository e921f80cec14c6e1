import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from './until.js';

export const ADMIN_TOKEN = 'token-of-the-test-suite';
const CLI = new URL('../../dist/main/cli.js', import.meta.url).pathname;

export interface LogLine {
  readonly msg: string;
  readonly [key: string]: unknown;
}

/** A real `ax` process. Its whole AX_ environment is what the test gives. */
export class AxProcess {
  readonly lines: LogLine[] = [];
  /** What was printed that is not a JSON log line. */
  readonly text: string[] = [];
  private readonly exited: Promise<number | string>;

  private constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.keep(line));
    }
    this.exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  }

  static spawn(args: readonly string[], env: Readonly<Record<string, string>>): AxProcess {
    const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('AX_'));
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new AxProcess(child);
  }

  /** Spawns `ax serve` on a free port with a known token and waits until it is ready. */
  static async serve(env: Readonly<Record<string, string>>, ...args: string[]): Promise<AxProcess> {
    const ax = AxProcess.spawn(['serve', ...args], {
      AX_ADMIN_TOKEN: ADMIN_TOKEN,
      AX_HTTP_PORT: '0',
      AX_LOG_FORMAT: 'json',
      ...env,
    });
    await until(
      () => `ax is ready:\n${ax.output()}`,
      async () => {
        if (ax.child.exitCode !== null)
          throw new Error(`ax ended with ${ax.child.exitCode}:\n${ax.output()}`);
        const address = ax.address();
        return address !== null && (await fetch(`${address}/readyz`)).ok;
      },
      30_000,
    );
    return ax;
  }

  /** The address in the line that says it listens. */
  address(): string | null {
    const line = this.lines.find(({ msg }) => msg.startsWith('listening'));
    return line === undefined ? null : String(line.address);
  }

  output(): string {
    return [...this.text, ...this.lines.map((line) => JSON.stringify(line))].slice(-60).join('\n');
  }

  /** JSON request to the API; `T` is the shape that the test expects of the body. */
  async api<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; json: T }> {
    const response = await fetch(`${this.address()}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: (text === '' ? null : JSON.parse(text)) as T,
    };
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Exit code, or the name of the signal that ended it. */
  async exit(): Promise<number | string> {
    return this.exited;
  }

  async stop(): Promise<number | string> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    return this.exited;
  }

  private keep(line: string): void {
    try {
      const parsed = JSON.parse(line) as LogLine;
      if (typeof parsed.msg === 'string') this.lines.push(parsed);
      else this.text.push(line);
    } catch {
      this.text.push(line);
    }
  }
}
