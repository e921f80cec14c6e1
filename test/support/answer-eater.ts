import { connect, createServer, type AddressInfo } from 'node:net';

export interface AnswerEater {
  readonly url: string;
  /** From now on the connection that sends this text breaks when its answer comes, which is not passed on. */
  eatAnswerTo(text: string): void;
  close(): Promise<void>;
}

/** A TCP proxy before the server of `url` that can lose an answer after the server has acted on the request. */
export async function startAnswerEater(url: string): Promise<AnswerEater> {
  const { hostname, port } = new URL(url);
  let fatal: string | null = null;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isEating = false;
    client.on('data', (data) => {
      if (fatal !== null && data.includes(fatal)) isEating = true;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (isEating) client.destroy();
      else client.write(data);
    });
    for (const [side, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      side.on('error', () => undefined);
      side.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    eatAnswerTo: (text) => {
      fatal = text;
    },
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
