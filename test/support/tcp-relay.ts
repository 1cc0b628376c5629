import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';

/** More connections than any test makes: beyond them a client is turned away. */
const mostConnections = 500;

interface Line {
  readonly client: Socket;
  readonly server: Socket;
  /** The index of the server. */
  readonly target: number;
}

/**
 * Stands on loopback between clients and one server or several, TLS untouched: a line that a test can cut or hold, and a
 * balancer that gives each connection to the next server that takes it.
 */
export class TcpRelay implements AsyncDisposable {
  readonly #targets: readonly URL[];
  readonly #listener: Server;
  readonly #clients = new Set<Socket>();
  readonly #lines = new Set<Line>();
  #isCut = false;
  #isHeld = false;
  #next = 0;
  /** The one target that gets all new connections; undefined: each in turn. */
  #chosen: number | undefined;
  /** The one target that no connection reaches. */
  #unreachable: number | undefined;

  private constructor(targets: readonly URL[]) {
    this.#targets = targets;
    this.#listener = createServer((socket) => this.#accept(socket));
    this.#listener.maxConnections = mostConnections;
  }

  /** Relays to the server of this kubeconfig. */
  static start(kubeConfig: KubeConfig): Promise<TcpRelay> {
    return TcpRelay.to(kubeConfig.getCurrentCluster()?.server ?? '');
  }

  /** Relays to these servers, each connection to the next of them. */
  static async to(...targets: readonly string[]): Promise<TcpRelay> {
    const relay = new TcpRelay(targets.map((target) => new URL(target)));
    await new Promise<void>((resolve, reject) => {
      relay.#listener.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return relay;
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#clients.size;
  }

  get url(): string {
    const { port } = this.#listener.address() as AddressInfo;
    return `${this.#targets[0]?.protocol}//127.0.0.1:${port}`;
  }

  /** The kubeconfig with the relay's address instead of the server's. */
  through(kubeConfig: KubeConfig): KubeConfig {
    const cluster = kubeConfig.getCurrentCluster();
    if (cluster === null) throw new Error('The KubeConfig has no current cluster');
    const relayed = new KubeConfig();
    relayed.loadFromOptions({
      clusters: [{ ...cluster, server: this.url }],
      users: kubeConfig.users,
      contexts: kubeConfig.contexts,
      currentContext: kubeConfig.currentContext,
    });
    return relayed;
  }

  /** Resets every connection, and each new one, until `mend`. */
  cut(): void {
    this.#isCut = true;
    this.#reset();
  }

  /** As `cut`, for this target alone: its connections go over to the others. */
  cutFrom(target: number): void {
    this.#unreachable = target;
    for (const line of this.#lines) if (line.target === target) line.client.resetAndDestroy();
  }

  mend(): void {
    this.#isCut = false;
    this.#unreachable = undefined;
  }

  /** Breaks every connection off; new ones go to this target, or in turn where none is given. */
  switchTo(target: number | undefined): void {
    this.#chosen = target;
    this.#reset();
  }

  /** What servers say waits until `release`; what clients say still reaches them. */
  hold(): void {
    this.#isHeld = true;
    for (const { client, server } of this.#lines) server.unpipe(client);
  }

  release(): void {
    this.#isHeld = false;
    for (const { client, server } of this.#lines) server.pipe(client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }

  #reset(): void {
    for (const client of this.#clients) client.resetAndDestroy();
  }

  #accept(client: Socket): void {
    this.#clients.add(client);
    client.on('error', () => {});
    client.on('close', () => this.#clients.delete(client));
    if (this.#isCut) client.resetAndDestroy();
    else this.#connect(client, this.#chosen ?? this.#next++, this.#targets.length);
  }

  /** A target that does not answer is passed over. */
  #connect(client: Socket, turn: number, left: number): void {
    const target = turn % this.#targets.length;
    if (target === this.#unreachable) {
      if (left > 1) this.#connect(client, turn + 1, left - 1);
      else client.resetAndDestroy();
      return;
    }
    const { port, hostname } = this.#targets[target] ?? {};
    const server = connect(Number(port), hostname ?? '');
    client.on('close', () => server.destroy());
    server.once('connect', () => this.#join({ client, server, target }));
    server.on('error', () => {
      if (server.connecting || client.destroyed) return;
      if (left > 1 && server.bytesRead === 0 && server.bytesWritten === 0) this.#connect(client, turn + 1, left - 1);
      else client.destroy();
    });
  }

  #join(line: Line): void {
    const { client, server } = line;
    this.#lines.add(line);
    server.on('close', () => {
      this.#lines.delete(line);
      client.destroy();
    });
    client.pipe(server);
    if (!this.#isHeld) server.pipe(client);
  }
}
