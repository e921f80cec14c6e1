import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
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
  await listen(server, host, port);
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  const shown = family === 'IPv6' ? `[${address}]` : address;
  return {
    address: `http://${shown}:${actualPort}`,
    close: async (graceMs = DEFAULT_GRACE_MS) => close(server, graceMs),
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
      resolve();
    });
  });

const close = async (server: Server, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection that turns idle after its answer would stay open for the keep-alive time.
    server.on('request', (_req, res) => res.setHeader('Connection', 'close'));
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearTimeout(cutOff);
      clearInterval(sweep);
      resolve();
    });
  });
