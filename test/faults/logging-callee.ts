import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Call } from './rule.js';

/** How the callee treats its requests: answers after the work that the path names, much later, or with a reset connection. */
export type Manners = 'good' | 'slow' | 'resetting';

const SLOW_MS = 4000;

/**
 * What tasks call: `/job/<ms>` answers 200 after that time. Keeps a line per request, from the headers alone, at the moment that they
 * arrive.
 */
export class LoggingCallee {
  readonly calls: Call[] = [];
  manners: Manners = 'good';

  private constructor(
    private server: Server,
    private readonly port: number,
  ) {}

  static async start(): Promise<LoggingCallee> {
    const server = createServer();
    await listen(server, 0);
    const callee = new LoggingCallee(server, (server.address() as AddressInfo).port);
    server.on('request', (request, response) => callee.serve(request, response));
    return callee;
  }

  url(workMs: number): string {
    return `http://127.0.0.1:${this.port}/job/${workMs}`;
  }

  /** Refuses connections, and breaks those that are open. */
  async die(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  async revive(): Promise<void> {
    this.server = createServer((request, response) => this.serve(request, response));
    await listen(this.server, this.port);
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const header = (name: string) => String(request.headers[`x-ax-${name}`]);
    const call = {
      taskId: header('task-id'),
      slot: Number(header('schedule-at')),
      executionId: header('execution-id'),
      attempt: Number(header('attempt')),
      at: Date.now(),
      isAnswered: false,
    };
    this.calls.push(call);
    request.resume();
    if (this.manners === 'resetting') return void request.socket.resetAndDestroy();
    const workMs = Number(request.url?.split('/').at(-1)) + (this.manners === 'slow' ? SLOW_MS : 0);
    setTimeout(() => {
      call.isAnswered = response.writable;
      response.end('done');
    }, workMs);
  }
}

const listen = (server: Server, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.keepAliveTimeout = 30_000;
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
