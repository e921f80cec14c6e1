import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP connection between a client and a server that tests can disturb. Passes everything on at first. */
export class TcpProxy {
  private state: 'passing' | 'cut' | 'stalled' = 'passing';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: { readonly host: string; readonly port: number },
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
    for (const socket of this.sockets) socket.destroy();
  }

  /** Passes nothing on and says nothing: what is sent waits in the network. New connections are made and hang, too. */
  stall(): void {
    this.state = 'stalled';
    this.stallOpen();
  }

  /** As `stall`, but only for the connections of this moment, as a firewall does that has forgotten them; new ones pass. */
  stallOpen(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** Passes everything on again, also what has waited. */
  restore(): void {
    this.state = 'passing';
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    if (this.state === 'cut') return void client.destroy();
    const upstream = connect(this.target);
    this.connectOneWay(client, upstream);
    this.connectOneWay(upstream, client);
  }

  private connectOneWay(from: Socket, to: Socket): void {
    this.sockets.add(from);
    if (this.state === 'stalled') from.pause();
    from.on('data', (data) => to.write(data));
    from.on('error', () => undefined); // Its close follows.
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }
}
