import { Agent, get, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../../src/adapters/http/start-http-server.js';
import { until } from '../../../support/until.js';

describe('the HTTP server', () => {
  const servers: HttpServer[] = [];
  const start = async (app: RequestListener, port = 0) => {
    const server = await startHttpServer(app, '127.0.0.1', port);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close(0)));
  });

  /** Answers when `release` is called. */
  const held = () => {
    const waiting: (() => void)[] = [];
    const app: RequestListener = (_req, res) => void waiting.push(() => res.end('done'));
    return { app, waiting, release: () => waiting.splice(0).forEach((answer) => answer()) };
  };
  const isClosed = async (socket: Socket) => until('the connection ends', () => socket.destroyed || null);

  it('listens where it says', async () => {
    const server = await start((_req, res) => res.end('here'));
    expect(server.address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(await (await fetch(server.address)).text()).toBe('here');
  });

  it('refuses to start on a port that is taken', async () => {
    const port = Number(new URL((await start((_req, res) => res.end())).address).port);
    await expect(start((_req, res) => res.end(), port)).rejects.toMatchObject({
      code: 'refused_start',
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
    });
  });

  it('lets a request in flight finish, ends idle connections and takes no more', async () => {
    const { app, waiting, release } = held();
    const server = await start(app);
    const { hostname, port } = new URL(server.address);
    const idle = connect(Number(port), hostname);
    const answer = fetch(server.address);
    await until('the request is in flight', () => waiting.length === 1);

    let isOver = false;
    const closing = server.close(600_000).then(() => (isOver = true));
    await isClosed(idle);
    await expect(fetch(server.address)).rejects.toThrow();
    expect(isOver).toBe(false);
    release();
    expect(await (await answer).text()).toBe('done');
    await closing;
  });

  it('does not wait for a connection that a client keeps alive', async () => {
    const { app, waiting, release } = held();
    const server = await start(app);
    const agent = new Agent({ keepAlive: true });
    const answered = new Promise<number>((resolve) => {
      get(server.address, { agent }, (res) => {
        res.resume().once('end', () => resolve(res.statusCode ?? 0));
      });
    });
    await until('the request is in flight', () => waiting.length === 1);
    const closing = server.close(600_000);
    release();
    expect(await answered).toBe(200);
    await closing;
    agent.destroy();
  });

  it('cuts off what does not finish in time', async () => {
    const { app, waiting } = held();
    const server = await start(app);
    const answer = fetch(server.address).then(
      () => 'answered',
      () => 'cut off',
    );
    await until('the request is in flight', () => waiting.length === 1);
    await server.close(50);
    expect(await answer).toBe('cut off');
  });

  it('may be closed twice', async () => {
    const server = await start((_req, res) => res.end());
    await Promise.all([server.close(), server.close()]);
    await server.close();
  });
});
