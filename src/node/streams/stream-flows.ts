import type { Readable } from 'node:stream';

/** So many bytes a stream keeps for whoever is to read it, before its client has to wait. */
export const keptBytes = 64 * 1024;
/** Longer pieces are cut: the streams of a connection take turns. */
const longestPiece = 32 * 1024;

/** Called once what was sent has left, or never will. */
export type Sent = (error?: Error | null) => void;

/**
 * Stops reading a connection while any of its streams has enough. All its streams wait then: a client of Kubernetes knows no other way
 * to be slowed down than the connection itself.
 */
export class ReadGate {
  readonly #connection: { pause(): void; resume(): void };
  readonly #full = new Set<object>();

  constructor(connection: { pause(): void; resume(): void }) {
    this.#connection = connection;
  }

  block(stream: object): void {
    if (this.#full.size === 0) this.#connection.pause();
    this.#full.add(stream);
  }

  unblock(stream: object): void {
    if (this.#full.delete(stream) && this.#full.size === 0) this.#connection.resume();
  }
}

/** What comes for one stream. It holds the gate while its reader has not taken what it has. */
export class Inflow {
  readonly #gate: ReadGate;
  #reader: Readable | undefined;
  #isOver = false;

  constructor(gate: ReadGate) {
    this.#gate = gate;
  }

  /** For the options of the stream that is fed. */
  readonly read = (): void => this.#gate.unblock(this);

  /** Until there is a reader, and once it is destroyed, what comes is dropped. */
  feed(reader: Readable): void {
    this.#reader = reader;
    reader.once('close', () => this.#gate.unblock(this));
  }

  receive(piece: Buffer): void {
    const reader = this.#reader;
    if (this.#isOver || reader === undefined || reader.destroyed || piece.length === 0) return;
    if (!reader.push(piece)) this.#gate.block(this);
  }

  /** Nothing more comes. A second call does nothing. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#gate.unblock(this);
    if (this.#reader?.destroyed === false) this.#reader.push(null);
  }
}

/** Sends a chunk in pieces, each once the one before has left. */
export function sendInPieces(chunk: Buffer, send: (piece: Buffer, sent: Sent) => void, sent: Sent): void {
  let at = 0;
  const next = (error?: Error | null): void => {
    if (error !== undefined && error !== null) {
      sent(error);
    } else if (at >= chunk.length) {
      sent();
    } else {
      const piece = chunk.subarray(at, at + longestPiece);
      at += piece.length;
      send(piece, next);
    }
  };
  next();
}

/** A stream whose reader or writer looks away must not end the process. */
export function withoutErrors<T extends { on(name: 'error', listener: () => void): unknown }>(stream: T): T {
  stream.on('error', () => {});
  return stream;
}
