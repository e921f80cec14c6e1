import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type CalleeAnswer, reply } from './callee-answers.js';

/** A request as it arrived. */
export interface CalleeRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** When its first byte arrived, epoch ms. */
  readonly firstByteAt: number;
  /** Number of its connection, from 1. */
  readonly connection: number;
}

export interface CalleeOptions {
  /** Serves TLS with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Called with each new connection before anything is read. */
  readonly greet?: (socket: Socket) => void;
}

/**
 * A small HTTP peer on a loopback port. It answers 200 to everything unless told otherwise by path, records every request, and can
 * misbehave in ways that node:http refuses (see callee-answers.ts).
 */
export class Callee {
  readonly requests: CalleeRequest[] = [];
  private readonly answers = new Map<string, CalleeAnswer>();
  private readonly sockets = new Set<Socket>();
  private accepted = 0;

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  static async start(options: CalleeOptions = {}): Promise<Callee> {
    const server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
    const callee = new Callee(server, options.tls === undefined ? 'http' : 'https');
    server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      options.greet?.(socket);
      callee.serve(socket);
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return callee;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Without a path, e.g. `http://127.0.0.1:40123`. */
  get origin(): string {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  /** Connections ever accepted. */
  get connections(): number {
    return this.accepted;
  }

  get openConnections(): number {
    return this.sockets.size;
  }

  /** Sets the answer to one path (without query), and gives its URL. */
  on(path: string, answer: CalleeAnswer): string {
    this.answers.set(path, answer);
    return this.origin + path;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private serve(socket: Socket): void {
    const connection = (this.accepted += 1);
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => {});
    let buffered = Buffer.alloc(0);
    let firstByteAt = 0;
    socket.on('data', (chunk) => {
      if (buffered.length === 0) firstByteAt = Date.now();
      buffered = Buffer.concat([buffered, chunk]);
      for (;;) {
        const parsed = parse(buffered);
        if (parsed === null) return;
        buffered = buffered.subarray(parsed.length);
        const request = { ...parsed.request, firstByteAt, connection };
        this.requests.push(request);
        const answer = this.answers.get(request.path.split('?', 1)[0] ?? '') ?? reply();
        void answer(socket, request);
      }
    });
  }
}

/** The first complete request in the bytes, and how many bytes it takes; null if there is none yet. */
function parse(bytes: Buffer): {
  readonly length: number;
  readonly request: Omit<CalleeRequest, 'firstByteAt' | 'connection'>;
} | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [requestLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyStart = headEnd + 4;
  const length = bodyStart + Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return null;
  const [method = '', path = ''] = requestLine.split(' ');
  return { length, request: { method, path, headers, body: bytes.toString('utf8', bodyStart, length) } };
}
