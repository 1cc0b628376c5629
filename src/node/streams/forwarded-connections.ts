import type { Duplex } from 'node:stream';
import type { ForwardedConnection } from './container-streams.ts';
import type { Sent } from './stream-flows.ts';

/** So much of an error's text a client gets. */
const longestMessage = 4096;

/** A new connection, in whichever protocol. */
export interface NewConnection {
  readonly port: number;
  readonly stream: Duplex;
  /** Sends the client an error's text. */
  readonly sendError: (text: Buffer, sent: Sent) => void;
}

/** The connections of one client: those that nobody has taken yet wait, and those that are open end with the session. */
export class ForwardedConnections implements AsyncIterable<ForwardedConnection> {
  readonly #waiting = new Set<ForwardedConnection>();
  readonly #open = new Set<Duplex>();
  #changed = Promise.withResolvers<void>();
  #isOver = false;

  add({ port, stream, sendError }: NewConnection): void {
    if (this.#isOver) {
      stream.destroy();
      return;
    }
    this.#open.add(stream);
    const fail = (message: string): void => {
      if (stream.destroyed) return;
      sendError(Buffer.from(String(message).slice(0, longestMessage)), () => {});
      stream.destroy();
    };
    const connection = { port, stream, fail };
    this.#waiting.add(connection);
    stream.once('close', () => {
      this.#open.delete(stream);
      this.#waiting.delete(connection);
    });
    this.#wake();
  }

  /** Ends all of them, and the iteration. A second call does nothing. */
  close(): void {
    this.#isOver = true;
    this.#waiting.clear();
    for (const stream of this.#open) stream.destroy();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ForwardedConnection, void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next !== undefined) {
        this.#waiting.delete(next);
        yield next;
      } else if (this.#isOver) {
        return;
      } else {
        await this.#changed.promise;
      }
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
