import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { AxError, messageOf } from '../../domain/errors.js';

/** A listening server. */
export interface HttpServer {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  /**
   * Takes no more connections, ends the idle ones, lets requests in flight finish for `graceMs`, then cuts them off. Resolves when
   * nothing is open; never rejects; may be called again.
   */
  close(graceMs?: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const DEFAULT_GRACE_MS = 5_000;

/** Listens on `host`:`port` (port 0: a free one). @throws AxError `refused_start` if that is not possible. */
export async function startHttpServer(app: RequestListener, host: string, port: number): Promise<HttpServer> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    app,
  );
  const connections = new Connections(server);
  await listen(server, host, port);
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  const shown = family === 'IPv6' ? `[${address}]` : address;
  return {
    address: `http://${shown}:${actualPort}`,
    close: async (graceMs = DEFAULT_GRACE_MS) => connections.close(graceMs),
  };
}

const listen = async (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      const message = `cannot listen on ${host}:${port}: ${messageOf(error)}`;
      reject(new AxError('refused_start', message, { cause: error }));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      // From now on an error is a connection that could not be accepted, which the client repeats.
      server.on('error', () => undefined);
      resolve();
    });
  });

/**
 * The connections of a server with their requests in flight. Node's own closing counts a connection that has sent nothing yet as busy,
 * and leaves one open for the keep-alive time after its last answer.
 */
class Connections {
  private readonly inFlight = new Map<Socket, number>();
  private isClosing = false;

  constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.inFlight.set(socket, 0);
      socket.once('close', () => this.inFlight.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.add(socket, 1);
      response.once('close', () => this.add(socket, -1));
    });
  }

  async close(graceMs: number): Promise<void> {
    this.isClosing = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const [socket, requests] of this.inFlight) if (requests === 0) socket.destroy();
    const cutOff = setTimeout(() => this.server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(cutOff);
  }

  private add(socket: Socket, requests: number): void {
    const known = this.inFlight.get(socket);
    if (known === undefined) return;
    this.inFlight.set(socket, known + requests);
    if (this.isClosing && known + requests === 0) socket.destroySoon();
  }
}
