import { type Socket } from 'node:net';
import { type CalleeRequest } from './callee.js';

/** Writes an answer to one request, or does not. */
export type CalleeAnswer = (socket: Socket, request: CalleeRequest) => void | Promise<void>;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
}

const headOf = (status: number, headers: Readonly<Record<string, string>>): string =>
  `HTTP/1.1 ${status} Some Reason\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A whole answer; the connection stays open unless the request said "connection: close". */
export function reply({ status = 200, headers = {}, body = '', delayMs = 0 }: Reply = {}): CalleeAnswer {
  return async (socket, request) => {
    if (delayMs > 0) await wait(delayMs);
    const hasBody = status !== 204 && status !== 304;
    const length = hasBody ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    socket.write(headOf(status, { ...length, ...headers }));
    if (hasBody) socket.write(body);
    if (request.headers['connection'] === 'close') socket.end();
  };
}

/** Promises to keep the connection and closes it `afterMs` after the answer, as servers with a short idle limit do. */
export const replyThenClose = (afterMs: number): CalleeAnswer => {
  return async (socket) => {
    socket.write(headOf(200, { 'content-length': '2', connection: 'keep-alive' }) + 'ok');
    await wait(afterMs);
    socket.end();
  };
};

export const redirect = (status: number, location: string): CalleeAnswer =>
  reply({ status, headers: { location } });

/** Reads the request and never answers. */
export const stallHeaders = (): CalleeAnswer => () => {};

/** Answers the head and `sent`, and then nothing. */
export const stallBody = (sent: string): CalleeAnswer => {
  return (socket) => void socket.write(headOf(200, { 'content-length': '1000000' }) + sent);
};

/** A body that does not end, with a chunk of 16 KiB whenever the last one has been taken. */
export const endlessBody = (): CalleeAnswer => (socket) => {
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  const more = () => socket.write(chunk, (error) => (error ? undefined : setImmediate(more)));
  socket.write(headOf(200, { 'transfer-encoding': 'chunked' }), more);
};

/** A finite body of `mebibytes`, written as fast as it is read. */
export const largeBody = (mebibytes: number): CalleeAnswer => {
  return async (socket) => {
    const chunk = Buffer.alloc(1 << 20, 'x');
    socket.write(headOf(200, { 'content-length': String(mebibytes * chunk.length) }));
    for (let sent = 0; sent < mebibytes; sent += 1) {
      await new Promise((resolve) => socket.write(chunk, resolve));
    }
  };
};

/** Writes exactly this, then leaves the connection open, ends it, or resets it (a little later, so that the bytes get through). */
export const raw = (text: string, then: 'stay' | 'end' | 'reset' = 'end'): CalleeAnswer => {
  return async (socket) => {
    if (text !== '') socket.write(text);
    if (then === 'end') socket.end();
    if (then !== 'reset') return;
    await wait(50);
    socket.resetAndDestroy();
  };
};
