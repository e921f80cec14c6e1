import { isIP, type Socket, connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';
import { type StopReason } from '../../ports/executor.js';
import { type EgressRules } from './egress-rules.js';
import { type HttpRequest } from './http-request.js';
import { OutputTail } from './output-tail.js';

/** How far an exchange came: nothing done yet, resolving the name, TCP, TLS, waiting for the response, reading its body. */
export type Phase = 'start' | 'dns' | 'connect' | 'tls' | 'headers' | 'body';

export type ExchangeEnd =
  | { readonly kind: 'answered' }
  | { readonly kind: 'broken'; readonly error: Error }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'stopped'; readonly reason: StopReason };

/** Detects a callee that vanished during an attempt of hours. */
const TCP_KEEPALIVE_MS = 60_000;

/**
 * One request on one connection of its own, which is opened for it and gone after it; so the request leaves at most once, and never
 * on a connection that the callee is about to close (docs/decisions/0001-http-connections.md).
 *
 * `start` → `dns` → `connect` → `tls` → `headers` → `body`, and from any of these to the end. The first `end` decides and is never
 * overwritten, whether it comes from the wire (`answered`, `broken`) or from outside (`deadline`, `stopped`). `ended` resolves after
 * the connection is closed.
 */
export class HttpExchange {
  phase: Phase = 'start';
  /** Of the final response; null before it. */
  httpStatus: number | null = null;
  location: string | null = null;
  readonly output = new OutputTail();
  readonly ended: Promise<ExchangeEnd>;

  private how: ExchangeEnd | null = null;
  private client: Client | null = null;
  private socket: Socket | null = null;
  private resolve!: (how: ExchangeEnd) => void;
  private reject!: (bug: Error) => void;

  /** `ca`: trusted authorities as PEM instead of the process's own. */
  constructor(
    private readonly egress: EgressRules,
    private readonly ca?: string,
  ) {
    this.ended = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Opens the connection and sends. To be called once. */
  send(request: HttpRequest): void {
    this.client = new Client(request.origin, {
      connect: (options, callback) => this.open(options, callback),
      // Announces "connection: close"; the deadline of the attempt replaces the timeouts.
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const { path, method, headers, body } = request;
    this.client.dispatch({ path, method, headers, body }, this.handler());
  }

  end(how: ExchangeEnd): void {
    if (this.how !== null) return;
    this.how = how;
    void this.release().then(() => this.resolve(how));
  }

  private handler(): Dispatcher.DispatchHandler {
    return {
      // Its presence tells undici which of its two handler interfaces this is.
      onRequestStart: () => {},
      onResponseStart: (_controller, status, headers) => {
        if (status < 200) return;
        this.phase = 'body';
        this.httpStatus = status;
        this.location = headers['location']?.toString() ?? null;
      },
      onResponseData: (_controller, chunk) => this.output.push(chunk),
      onResponseEnd: () => {
        // A body without a length ends with the connection; undici takes a reset for such an end.
        const error = this.socket?.errored ?? null;
        this.end(error === null ? { kind: 'answered' } : { kind: 'broken', error });
      },
      onResponseError: (_controller, error) => {
        if (error instanceof errors.InvalidArgumentError) this.reject(error);
        this.end({ kind: 'broken', error });
      },
    };
  }

  private open(options: buildConnector.Options, callback: buildConnector.Callback): void {
    if (this.socket !== null) {
      // undici connects again if the callee spoke or closed before the request went out.
      const error = this.socket.errored ?? new Error('the connection ended before the request was sent');
      this.end({ kind: 'broken', error });
      return;
    }
    const { hostname: host, protocol } = options;
    const refusal = isIP(host) === 0 ? null : this.egress.refusal(host, host);
    if (refusal !== null) {
      this.end({ kind: 'broken', error: refusal });
      return;
    }
    // Only addresses that were judged are connected to, so a name that resolves to another one a moment later gains nothing.
    const { lookup } = this.egress;
    const isTls = protocol === 'https:';
    const port = Number(options.port || (isTls ? 443 : 80));
    const socket = isTls
      ? connectTls({
          host,
          port,
          lookup,
          servername: isIP(host) === 0 ? host : '',
          ALPNProtocols: ['http/1.1'],
          ...(this.ca === undefined ? {} : { ca: this.ca }),
        })
      : connectTcp({ host, port, lookup });
    this.socket = socket;
    this.phase = isIP(host) === 0 ? 'dns' : 'connect';
    const onError = (error: Error) => callback(error, null);
    socket
      .setNoDelay(true)
      .setKeepAlive(true, TCP_KEEPALIVE_MS)
      .once('error', onError)
      .once('lookup', (error: Error | null) => {
        if (error === null) this.phase = 'connect';
      })
      .once('connect', () => {
        this.phase = isTls ? 'tls' : 'headers';
      })
      .once(isTls ? 'secureConnect' : 'connect', () => {
        this.phase = 'headers';
        socket.off('error', onError);
        callback(null, socket);
      });
  }

  private async release(): Promise<void> {
    // The parser may be on the stack: it must not lose its connection under itself.
    await Promise.resolve();
    const { client, socket } = this;
    const closed =
      socket === null || socket.closed
        ? Promise.resolve()
        : new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket?.destroy();
    await Promise.all([closed, client?.destroy()]);
  }
}
