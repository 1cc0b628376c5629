import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { headerDictionary } from '../../../../src/node/streams/spdy-dictionary.ts';
import { until } from '../../../support/until.ts';

/** What a server has answered to a request to switch protocols. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly socket: Socket;
  /** What came after the head. */
  readonly rest: Buffer;
}

/** Sends a request as it is written, and reads the head of the answer. */
export async function askUpgrade(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = 'POST',
): Promise<Answer> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => {});
  await once(socket, 'connect');
  const lines = Object.entries({ Host: 'node', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let text: Buffer = Buffer.alloc(0);
  while (!text.includes('\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text = Buffer.concat([text, chunk]);
  }
  socket.pause();
  const end = text.indexOf('\r\n\r\n') + 4;
  const head = text.toString('latin1', 0, end);
  return { status: Number(head.split(' ')[1]), head, socket, rest: text.subarray(end) };
}

interface Received {
  isReplied: boolean;
  isEnded: boolean;
  resetStatus: number | undefined;
  data: Buffer[];
}

/** A client of SPDY/3.1 as small as a test needs it, with the compression of zlib itself. */
export class SpdyClient {
  readonly socket: Duplex;
  readonly pongs: number[] = [];
  readonly goAways: number[] = [];
  isClosed = false;
  readonly #deflate: Deflate = createDeflate({ dictionary: headerDictionary() });
  readonly #inflate: Inflate = createInflate({ dictionary: headerDictionary() });
  readonly #inflated: Buffer[] = [];
  readonly #streams = new Map<number, Received>();
  #lastID = -1;
  #kept: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex, rest: Buffer = Buffer.alloc(0)) {
    this.socket = socket;
    this.#inflate.on('data', (chunk: Buffer) => this.#inflated.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
    });
    socket.on('end', () => {
      this.isClosed = true;
      socket.destroy();
    });
    this.#read(rest);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.resume();
  }

  static async connect(port: number, path: string, protocol: string): Promise<SpdyClient> {
    const headers = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': protocol };
    const { status, head, socket, rest } = await askUpgrade(port, path, headers);
    if (status !== 101) throw new Error(head);
    return new SpdyClient(socket, rest);
  }

  /** The compressed block of headers. Blocks must be sent in the order in which they were made. */
  async block(headers: Readonly<Record<string, string>>): Promise<Buffer> {
    const parts = [uint32(Object.keys(headers).length)];
    for (const text of Object.entries(headers).flat()) parts.push(uint32(Buffer.byteLength(text)), Buffer.from(text));
    return this.compress(Buffer.concat(parts));
  }

  async compress(bytes: Buffer): Promise<Buffer> {
    const chunks: Buffer[] = [];
    const take = (chunk: Buffer): number => chunks.push(chunk);
    this.#deflate.on('data', take);
    this.#deflate.write(bytes);
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    await setImmediate();
    this.#deflate.off('data', take);
    return Buffer.concat(chunks);
  }

  /** Opens a stream and gives its id; does not wait for the answer. */
  async open(headers: Readonly<Record<string, string>>, isFin = false): Promise<number> {
    this.#lastID += 2;
    const id = this.#lastID;
    this.#streams.set(id, { isReplied: false, isEnded: false, resetStatus: undefined, data: [] });
    this.sendSynStream(id, await this.block(headers), isFin);
    return id;
  }

  sendSynStream(id: number, block: Buffer, isFin = false): void {
    this.control(1, Buffer.concat([uint32(id), uint32(0), Buffer.of(0, 0), block]), isFin ? 1 : 0);
  }

  control(type: number, payload: Buffer, flags = 0, version = 3): void {
    const head = Buffer.alloc(8);
    head.writeUInt16BE(0x8000 + version, 0);
    head.writeUInt16BE(type, 2);
    head.writeUInt32BE(payload.length, 4);
    head.writeUInt8(flags, 4);
    this.socket.write(Buffer.concat([head, payload]));
  }

  /** False: the client would have to wait. */
  send(id: number, data: Buffer | string, isFin = false): boolean {
    const bytes = Buffer.from(data);
    const head = Buffer.concat([uint32(id), uint32(bytes.length)]);
    if (isFin) head.writeUInt8(1, 4);
    return this.socket.write(Buffer.concat([head, bytes]));
  }

  reset(id: number): void {
    this.control(3, Buffer.concat([uint32(id), uint32(5)]));
  }

  text(id: number): string {
    return Buffer.concat(this.stream(id).data).toString();
  }

  stream(id: number): Received {
    const stream = this.#streams.get(id);
    if (stream === undefined) throw new Error(`there is no stream ${id}`);
    return stream;
  }

  async ended(id: number): Promise<string> {
    await until(() => this.stream(id).isEnded);
    return this.text(id);
  }

  /** What the answers to streams say: each is an empty list of headers. */
  async repliesInflated(): Promise<string> {
    await setImmediate();
    return Buffer.concat(this.#inflated).toString('hex');
  }

  #read(chunk: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, chunk]);
    for (;;) {
      if (this.#kept.length < 8) return;
      const end = 8 + this.#kept.readUIntBE(5, 3);
      if (this.#kept.length < end) return;
      const frame = this.#kept.subarray(0, end);
      this.#kept = this.#kept.subarray(end);
      this.#take(frame);
    }
  }

  #take(frame: Buffer): void {
    const payload = frame.subarray(8);
    const first = frame.readUInt32BE(0);
    if (first < 0x8000_0000) {
      const stream = this.stream(first);
      stream.data.push(payload);
      if (frame.readUInt8(4) === 1) stream.isEnded = true;
      return;
    }
    const type = first & 0xffff;
    const id = payload.readUInt32BE(0);
    if (type === 2) {
      this.#inflate.write(payload.subarray(4));
      this.stream(id).isReplied = true;
    } else if (type === 3) {
      const stream = this.#streams.get(id);
      if (stream !== undefined) stream.resetStatus = payload.readUInt32BE(4);
    } else if (type === 6) this.pongs.push(id);
    else if (type === 7) this.goAways.push(payload.readUInt32BE(4));
    else throw new Error(`a server of Kubernetes sends no frame of type ${type}`);
  }
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
