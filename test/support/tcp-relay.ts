import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';

/** Relays bytes between a client and its apiserver, TLS or not, so that a test can cut the connection. */
export class TcpRelay implements AsyncDisposable {
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Relays to the server of this kubeconfig. */
  static async start(kubeConfig: KubeConfig): Promise<TcpRelay> {
    const relay = new TcpRelay(new URL(kubeConfig.getCurrentCluster()?.server ?? ''));
    await new Promise<void>((resolve, reject) => {
      relay.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return relay;
  }

  /** The kubeconfig with the relay's address instead of the server's. */
  through(kubeConfig: KubeConfig): KubeConfig {
    const cluster = kubeConfig.getCurrentCluster();
    if (cluster === null) throw new Error('The KubeConfig has no current cluster');
    const { port } = this.#server.address() as AddressInfo;
    const relayed = new KubeConfig();
    relayed.loadFromOptions({
      clusters: [{ ...cluster, server: `${this.#target.protocol}//127.0.0.1:${port}` }],
      users: kubeConfig.users,
      contexts: kubeConfig.contexts,
      currentContext: kubeConfig.currentContext,
    });
    return relayed;
  }

  /** Resets every connection, and each new one, until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: Socket): void {
    if (this.#isCut) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      // the end of one side ends the other
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
