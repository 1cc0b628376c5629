import { Duplex, Readable, Writable } from 'node:stream';
import { dataFrame, resetStatus, rstStreamFrame } from './spdy-frames.ts';
import type { SpdyHeaders } from './spdy-headers.ts';
import { Inflow, keptBytes, type ReadGate, type Sent, sendInPieces, withoutErrors } from './stream-flows.ts';

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly gate: ReadGate;
  readonly write: (frame: Buffer, sent?: Sent) => void;
  /** The stream is closed on both sides. */
  readonly forget: () => void;
}

/** One stream of a SPDY connection. */
export class SpdyStream {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #owner: StreamOwner;
  readonly #inflow: Inflow;
  #onReset: (() => void) | undefined;
  #listener: ((piece: Buffer) => void) | undefined;
  #isSent = false;
  #isReceived = false;
  #isReset = false;

  constructor(id: number, headers: SpdyHeaders, owner: StreamOwner) {
    this.id = id;
    this.headers = headers;
    this.#owner = owner;
    this.#inflow = new Inflow(owner.gate);
  }

  /** What the client sends. It ends when the client has no more, or is gone. */
  readable(): Readable {
    const readable = withoutErrors(new Readable({ highWaterMark: keptBytes, read: this.#inflow.read }));
    this.#inflow.feed(readable);
    return readable;
  }

  /** What the client gets. It is destroyed once the client takes nothing any more. */
  writable(): Writable {
    const write = (chunk: Buffer, _encoding: string, sent: Sent): void => this.send(chunk, sent);
    const final = (sent: Sent): void => this.finish(sent);
    const writable = withoutErrors(new Writable({ highWaterMark: keptBytes, write, final }));
    this.#onReset = () => writable.destroy(new Error('the client is gone'));
    return writable;
  }

  /** Both in one. `onClose`: nothing more is sent. */
  duplex(onClose: () => void): Duplex {
    const duplex = withoutErrors(
      new Duplex({
        highWaterMark: keptBytes,
        read: this.#inflow.read,
        write: (chunk: Buffer, _encoding, sent) => this.send(chunk, sent),
        final: (sent) => {
          this.finish(sent);
          onClose();
        },
        destroy: (error, done) => {
          this.reset();
          onClose();
          done(error);
        },
      }),
    );
    this.#inflow.feed(duplex);
    // one that has sent everything already may still be read to its end
    this.#onReset = () => {
      if (!duplex.writableFinished) duplex.destroy();
    };
    return duplex;
  }

  /** Calls the listener with what the client sends, as it comes. */
  listen(listener: (piece: Buffer) => void): void {
    this.#listener = listener;
  }

  /** From now on what the client sends is dropped. */
  discard(): void {
    this.#inflow.end();
  }

  send(chunk: Buffer, sent: Sent): void {
    const write = (piece: Buffer, next: Sent): void => {
      if (this.#isSent || this.#isReset) next(new Error('the stream is closed'));
      else this.#owner.write(dataFrame(this.id, piece, false), next);
    };
    sendInPieces(chunk, write, sent);
  }

  /** Says that nothing more is sent. A second call does nothing. */
  finish(sent: Sent = () => {}): void {
    if (this.#isSent || this.#isReset) {
      sent();
      return;
    }
    this.#isSent = true;
    this.#owner.write(dataFrame(this.id, Buffer.alloc(0), true), sent);
    this.#forgetIfOver();
  }

  /** Closes it both ways at once. Does nothing where it is closed. */
  reset(): void {
    if (this.#isReset || (this.#isSent && this.#isReceived)) return;
    this.#isReset = true;
    this.#owner.write(rstStreamFrame(this.id, resetStatus.cancel));
    this.#inflow.end();
    this.#owner.forget();
  }

  receive(piece: Buffer): void {
    if (this.#isReceived) return;
    this.#inflow.receive(piece);
    this.#listener?.(piece);
  }

  /** The client sends nothing more. */
  noteEnd(): void {
    this.#isReceived = true;
    this.#inflow.end();
    this.#forgetIfOver();
  }

  /** The client has closed it both ways, or is gone. */
  noteReset(): void {
    this.#isReset = true;
    this.#inflow.end();
    this.#onReset?.();
  }

  #forgetIfOver(): void {
    if (this.#isSent && this.#isReceived) this.#owner.forget();
  }
}
