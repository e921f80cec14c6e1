import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Class and method ids of AMQP 0-9-1 as the first four bytes of a method frame's payload. */
const CHANNEL_CLOSE = 0x0014_0028;
const BASIC_PUBLISH = 0x003c_0028;
const BASIC_ACK = 0x003c_0050;

const PROTOCOL_HEADER_BYTES = 8;
const FRAME = { method: 1, body: 3 } as const;

interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
  /** As it came. */
  readonly bytes: Buffer;
}

interface HeldAck {
  readonly client: Socket;
  readonly frame: Frame;
}

/**
 * An AMQP connection between publishers and a broker that understands what passes: it holds back the confirms of what goes to the routing
 * key `held`, until `release`. Bodies are JSON with an `execution_id`, and there is one message on its way per channel.
 */
export class AmqpProxy {
  private readonly sockets = new Set<Socket>();
  private acks: HeldAck[] = [];
  /** Execution ids of messages that the broker has taken. */
  private readonly taken: string[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: { readonly host: string; readonly port: number },
    private readonly held: string,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async start(url: string, held: string): Promise<AmqpProxy> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    const proxy = new AmqpProxy(server, { host: hostname, port: Number(port) }, held);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** `url` with the proxy in place of its host and port. */
  through(url: string): string {
    const proxied = new URL(url);
    proxied.hostname = '127.0.0.1';
    proxied.port = String((this.server.address() as AddressInfo).port);
    return proxied.href;
  }

  /** Messages of this execution that the broker has taken. */
  takenOf(executionId: string): number {
    return this.taken.filter((id) => id === executionId).length;
  }

  /** Confirms that are held back for publishers who wait for them. */
  get waiting(): number {
    return this.acks.length;
  }

  release(): void {
    for (const { client, frame } of this.acks.splice(0)) client.write(frame.bytes);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    const broker = connect(this.target);
    /** By channel: what was last published on it. */
    const routingKeys = new Map<number, string>();
    const executions = new Map<number, string>();
    eachFrame(client, PROTOCOL_HEADER_BYTES, (frame) => {
      const { channel, payload } = frame;
      if (frame.type === FRAME.body)
        executions.set(channel, (JSON.parse(payload.toString()) as { execution_id: string }).execution_id);
      if (methodOf(frame) === BASIC_PUBLISH) routingKeys.set(channel, routingKeyOf(payload));
      if (methodOf(frame) === CHANNEL_CLOSE)
        this.forget((ack) => ack.frame.channel === channel && ack.client === client);
    });
    client.on('data', (data) => broker.write(data));
    eachFrame(broker, 0, (frame) => {
      if (methodOf(frame) !== BASIC_ACK) return void client.write(frame.bytes);
      this.taken.push(executions.get(frame.channel) ?? '');
      if (routingKeys.get(frame.channel) === this.held) this.acks.push({ client, frame });
      else client.write(frame.bytes);
    });
    this.joinEnds(client, broker);
    this.joinEnds(broker, client);
    client.on('close', () => this.forget((ack) => ack.client === client));
  }

  private joinEnds(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.on('error', () => undefined); // Its close follows.
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }

  private forget(isGone: (ack: HeldAck) => boolean): void {
    this.acks = this.acks.filter((ack) => !isGone(ack));
  }
}

const methodOf = ({ type, payload }: Frame): number | null =>
  type === FRAME.method ? payload.readUInt32BE(0) : null;

/** After class, method and a reserved number come two short strings: exchange and routing key. */
function routingKeyOf(publish: Buffer): string {
  const at = 7 + publish.readUInt8(6);
  return publish.toString('utf8', at + 1, at + 1 + publish.readUInt8(at));
}

function eachFrame(socket: Socket, skip: number, take: (frame: Frame) => void): void {
  let rest = Buffer.alloc(0);
  let toSkip = skip;
  socket.on('data', (data: Buffer) => {
    const skipped = Math.min(toSkip, data.length);
    toSkip -= skipped;
    rest = Buffer.concat([rest, data.subarray(skipped)]);
    while (rest.length >= 8) {
      const size = rest.readUInt32BE(3);
      if (rest.length < size + 8) break;
      const bytes = rest.subarray(0, size + 8);
      take({ type: rest.readUInt8(0), channel: rest.readUInt16BE(1), payload: bytes.subarray(7, -1), bytes });
      rest = rest.subarray(size + 8);
    }
  });
}
