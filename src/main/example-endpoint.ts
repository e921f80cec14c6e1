import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * The service that the example tasks call, on a free loopback port. `/echo` answers with what it got; `/flaky` answers 503 to the first
 * attempt of every run and 200 to later ones.
 */
export class ExampleEndpoint {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<ExampleEndpoint> {
    const server = createServer((request, response) => {
      void answerTo(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    return new ExampleEndpoint(server, `http://127.0.0.1:${port}`);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

async function answerTo(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const received = await text(request).catch(() => '');
  const isFirst = request.headers['x-ax-attempt'] === '1';
  if (request.url === '/flaky' && isFirst) return { status: 503, body: { error: 'try again' } };
  if (request.url === '/flaky' || request.url === '/echo') return { status: 200, body: { received } };
  return { status: 404, body: { error: 'the example answers /echo and /flaky' } };
}
