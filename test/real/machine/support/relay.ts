import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Gives each connection to a socket on to a port of this machine's 127.0.0.1. A socket is no part of a network, so others reach it. */
export class Relay {
  readonly socket: string;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(socket: string, server: Server) {
    this.socket = socket;
    this.#server = server;
  }

  static async open(socket: string, port: number): Promise<Relay> {
    await rm(socket, { force: true });
    const server = createServer();
    const relay = new Relay(socket, server);
    server.on('connection', (near) => {
      const far = connect(port, '127.0.0.1');
      relay.#keep(near, far);
      relay.#keep(far, near);
    });
    await once(server.listen(socket), 'listening');
    return relay;
  }

  /** Ends it, and the connections through it. */
  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #keep(from: Socket, to: Socket): void {
    this.#open.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.once('close', () => {
      this.#open.delete(from);
      to.destroy();
    });
  }
}
