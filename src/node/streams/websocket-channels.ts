import { Duplex, Readable, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { Inflow, keptBytes, ReadGate, type Sent, sendInPieces, withoutErrors } from './stream-flows.ts';

/** The first byte of a message that closes a channel. */
const closeChannel = 255;
const protocolError = 1002;
/** What the number of a channel is added to in a text message: channel 0 is the character 0. */
const firstCharacter = 48;

export interface ChannelOptions {
  readonly socket: WebSocket;
  /** How many channels there are. What comes for any other one is dropped. */
  readonly count: number;
  /** True: messages are text, the channel as a character, and then base64. */
  readonly isBase64: boolean;
  /** True: the client can close a channel of its own. */
  readonly hasClose: boolean;
  /** The client has left, or broke the protocol. Called once. */
  readonly onGone: (why: string) => void;
}

/** Channels in one WebSocket: the first byte of each message is the number of its channel. */
export class WebSocketChannels {
  readonly #options: ChannelOptions;
  readonly #gate: ReadGate;
  readonly #inflows = new Map<number, Inflow>();
  readonly #listeners = new Map<number, (piece: Buffer) => void>();
  readonly #leavers = new Set<() => void>();

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#gate = new ReadGate(options.socket);
  }

  /** Begins to read. */
  start(): void {
    const { socket, onGone } = this.#options;
    socket.on('message', (data: RawData) => {
      if (Buffer.isBuffer(data)) this.#onMessage(data);
    });
    socket.once('close', () => {
      this.discard();
      for (const leave of this.#leavers) leave();
      onGone('the client is gone');
    });
  }

  /** What the client sends on a channel. */
  readable(channel: number): Readable {
    const inflow = this.#inflow(channel);
    const readable = withoutErrors(new Readable({ highWaterMark: keptBytes, read: inflow.read }));
    inflow.feed(readable);
    return readable;
  }

  /** What the client gets on a channel. It is destroyed once the client is gone. */
  writable(channel: number): Writable {
    const write = (chunk: Buffer, _encoding: string, sent: Sent): void => this.send(channel, chunk, sent);
    const writable = withoutErrors(new Writable({ highWaterMark: keptBytes, write }));
    this.#leavers.add(() => writable.destroy(new Error('the client is gone')));
    return writable;
  }

  /** Both in one. `onClose`: nothing more is sent. */
  duplex(channel: number, onClose: () => void): Duplex {
    const inflow = this.#inflow(channel);
    const close = (): void => {
      inflow.end();
      onClose();
    };
    const duplex = withoutErrors(
      new Duplex({
        highWaterMark: keptBytes,
        read: inflow.read,
        write: (chunk: Buffer, _encoding, sent) => this.send(channel, chunk, sent),
        final: (sent) => {
          close();
          sent();
        },
        destroy: (error, done) => {
          close();
          done(error);
        },
      }),
    );
    inflow.feed(duplex);
    this.#leavers.add(() => duplex.destroy());
    return duplex;
  }

  /** Calls the listener with each message of a channel. */
  listen(channel: number, listener: (piece: Buffer) => void): void {
    this.#listeners.set(channel, listener);
  }

  /** An empty chunk is sent as an empty message. */
  send(channel: number, chunk: Buffer, sent: Sent = () => {}): void {
    if (chunk.length === 0) this.#send(channel, chunk, sent);
    else sendInPieces(chunk, (piece, next) => this.#send(channel, piece, next), sent);
  }

  /** From now on what the client sends is dropped. */
  discard(): void {
    for (const inflow of this.#inflows.values()) inflow.end();
  }

  #inflow(channel: number): Inflow {
    const inflow = new Inflow(this.#gate);
    this.#inflows.set(channel, inflow);
    return inflow;
  }

  #send(channel: number, piece: Buffer, sent: Sent): void {
    const { socket, isBase64 } = this.#options;
    if (socket.readyState !== socket.OPEN) {
      sent(new Error('the client is gone'));
      return;
    }
    const message = isBase64
      ? String.fromCharCode(firstCharacter + channel) + piece.toString('base64')
      : Buffer.concat([Buffer.of(channel), piece]);
    socket.send(message, { binary: !isBase64 }, sent);
  }

  #onMessage(message: Buffer): void {
    const { hasClose, isBase64 } = this.#options;
    const [first] = message;
    if (first === undefined) return;
    if (hasClose && first === closeChannel) {
      this.#onClose(message);
      return;
    }
    const channel = isBase64 ? first - firstCharacter : first;
    const piece = isBase64 ? Buffer.from(message.toString('latin1', 1), 'base64') : message.subarray(1);
    this.#inflows.get(channel)?.receive(piece);
    this.#listeners.get(channel)?.(piece);
  }

  #onClose(message: Buffer): void {
    const { socket, count } = this.#options;
    const [, channel = count] = message;
    if (message.length !== 2 || channel >= count) socket.close(protocolError, 'a close names no channel');
    else this.#inflows.get(channel)?.end();
  }
}
