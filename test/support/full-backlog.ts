import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { until } from './until.js';

/** Listens with the shortest backlog and then never takes a connection: its thread sleeps. */
const DEAF_LISTENER = `
const { createServer } = require('node:net');
const { parentPort } = require('node:worker_threads');
const server = createServer();
server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});`;

/** A loopback port on which connecting neither succeeds nor fails, as behind a firewall that drops packets. */
export async function openFullBacklog(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const worker = new Worker(DEAF_LISTENER, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const fillers: Socket[] = [];
  // Connections end up in the backlog until one is left waiting.
  await until('the backlog is full', async () => {
    const filler = connect({ host: '127.0.0.1', port }).on('error', () => {});
    fillers.push(filler);
    return !(await hasConnectedWithin(filler, 300));
  });
  return {
    port,
    close: async () => {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}

const hasConnectedWithin = (socket: Socket, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
