import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What went over the wire, TLS included, seen from the client. */
export interface WireCount {
  readonly connections: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
}

/** Stands on loopback between one client and one server, and counts connections and bytes. */
export class CountingRelay implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #count = { connections: 0, bytesReceived: 0, bytesSent: 0 };

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      this.#count.connections += 1;
      const server = connect(Number(target.port), target.hostname);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.setNoDelay(true).on('error', () => {});
        socket.once('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.on('data', (chunk) => {
        this.#count.bytesSent += chunk.length;
      });
      server.on('data', (chunk) => {
        this.#count.bytesReceived += chunk.length;
      });
      client.pipe(server);
      server.pipe(client);
    });
  }

  static async to(url: string): Promise<CountingRelay> {
    const relay = new CountingRelay(new URL(url));
    await new Promise<void>((resolve, reject) => {
      relay.#server.once('error', reject).listen(0, '127.0.0.1', 4096, resolve);
    });
    return relay;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get count(): WireCount {
    return { ...this.#count };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
