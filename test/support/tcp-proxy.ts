import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What a stall holds back: what the client sends, what the server sends, or both. */
export type StalledSide = 'requests' | 'answers' | 'both';

/** A TCP connection between a client and a server that tests can disturb. Passes everything on at first. */
export class TcpProxy {
  private state: 'passing' | 'cut' | 'stalled' = 'passing';
  private stalledSide: StalledSide = 'both';
  /** Each socket, and what comes in through it. */
  private readonly sockets = new Map<Socket, Exclude<StalledSide, 'both'>>();

  private constructor(
    private readonly server: Server,
    private target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => this.join(client));
  }

  /** Listens on a free loopback port for connections to the host and port of `url`. */
  static async start(url: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    const proxy = new TcpProxy(server, { host: hostname, port: Number(port) });
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

  get connections(): number {
    return this.sockets.size / 2;
  }

  /** Ends every connection, and new ones as soon as they are made. */
  cut(): void {
    this.state = 'cut';
    for (const socket of this.sockets.keys()) socket.destroy();
  }

  /** Passes nothing on and says nothing: what is sent waits in the network. New connections are made and hang, too. */
  stall(side: StalledSide = 'both'): void {
    this.state = 'stalled';
    this.stalledSide = side;
    for (const socket of this.sockets.keys()) this.hold(socket);
  }

  /** As `stall`, but only for the connections of this moment, as a firewall does that has forgotten them; new ones pass. */
  stallOpen(): void {
    for (const socket of this.sockets.keys()) socket.pause();
  }

  /** Passes everything on again, also what has waited. */
  restore(): void {
    this.state = 'passing';
    for (const socket of this.sockets.keys()) socket.resume();
  }

  /** New connections go to the host and port of `url` from now on. */
  retarget(url: string): void {
    const { hostname, port } = new URL(url);
    this.target = { host: hostname, port: Number(port) };
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    if (this.state === 'cut') return void client.destroy();
    const upstream = connect(this.target);
    this.connectOneWay(client, upstream, 'requests');
    this.connectOneWay(upstream, client, 'answers');
  }

  private hold(socket: Socket): void {
    if (this.stalledSide === 'both' || this.sockets.get(socket) === this.stalledSide) socket.pause();
  }

  private connectOneWay(from: Socket, to: Socket, carries: Exclude<StalledSide, 'both'>): void {
    this.sockets.set(from, carries);
    if (this.state === 'stalled') this.hold(from);
    from.on('data', (data) => to.write(data));
    from.on('error', () => undefined); // Its close follows.
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }
}
