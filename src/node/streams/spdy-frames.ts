/** What a client sent that is no SPDY/3.1, or more of it than it may. The connection ends. */
export class SpdyFault extends Error {
  override readonly name = 'SpdyFault';
}

export const controlType = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7, headers: 8 } as const;
export const finFlag = 1;
/** Why a stream is reset. */
export const resetStatus = { refused: 3, cancel: 5 } as const;
export const goAwayStatus = { ok: 0, protocolError: 1 } as const;

const headBytes = 8;
/** So long a control frame may be: nothing that a client of Kubernetes sends comes near it. */
const longestControlFrame = 16 * 1024;

export interface ControlFrame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

export interface FrameHandler {
  onControl(frame: ControlFrame): void;
  /** A piece of a data frame as it comes. `isEnd`: it is the last piece of the last frame of the stream. */
  onData(streamID: number, piece: Buffer, isEnd: boolean): void;
}

type Awaited =
  | { readonly kind: 'head' }
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly length: number }
  | { readonly kind: 'data'; readonly streamID: number; readonly isFin: boolean; left: number };

/**
 * Cuts a stream of bytes into frames. Of a control frame at most 16 KiB are kept until it is whole; data frames are passed on as they
 * come, and nothing of them is kept.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  #awaited: Awaited = { kind: 'head' };
  /** The pieces of a head or of a control frame. */
  readonly #kept = Buffer.alloc(longestControlFrame);
  #keptBytes = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** Throws a `SpdyFault`; the reader must not be used any more then. */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at += this.#take(chunk.subarray(at));
  }

  /** How many bytes were used. */
  #take(bytes: Buffer): number {
    const awaited = this.#awaited;
    if (awaited.kind === 'data') return this.#takeData(awaited, bytes);
    const wanted = awaited.kind === 'head' ? headBytes : awaited.length;
    const piece = bytes.subarray(0, wanted - this.#keptBytes);
    this.#keptBytes += piece.copy(this.#kept, this.#keptBytes);
    if (this.#keptBytes < wanted) return piece.length;
    this.#keptBytes = 0;
    if (awaited.kind === 'head') {
      this.#beginFrame(this.#kept);
    } else {
      this.#awaited = { kind: 'head' };
      this.#handler.onControl({ ...awaited, payload: Buffer.from(this.#kept.subarray(0, wanted)) });
    }
    return piece.length;
  }

  #takeData(awaited: Extract<Awaited, { kind: 'data' }>, bytes: Buffer): number {
    const piece = bytes.subarray(0, awaited.left);
    awaited.left -= piece.length;
    if (awaited.left === 0) this.#awaited = { kind: 'head' };
    this.#handler.onData(awaited.streamID, piece, awaited.left === 0 && awaited.isFin);
    return piece.length;
  }

  #beginFrame(head: Buffer): void {
    const first = head.readUInt32BE(0);
    const flags = head.readUInt8(4);
    const length = head.readUIntBE(5, 3);
    if (first < 0x8000_0000) {
      this.#beginData(first, (flags & finFlag) !== 0, length);
      return;
    }
    const version = head.readUInt16BE(0) & 0x7fff;
    if (version !== 3) throw new SpdyFault(`a frame has version ${version} of SPDY`);
    if (length > longestControlFrame) throw new SpdyFault(`a control frame has more than ${longestControlFrame} bytes`);
    const type = first & 0xffff;
    if (length === 0) {
      this.#awaited = { kind: 'head' };
      this.#handler.onControl({ type, flags, payload: Buffer.alloc(0) });
    } else {
      this.#awaited = { kind: 'control', type, flags, length };
    }
  }

  #beginData(streamID: number, isFin: boolean, length: number): void {
    if (streamID === 0) throw new SpdyFault('a data frame belongs to no stream');
    if (length > 0) {
      this.#awaited = { kind: 'data', streamID, isFin, left: length };
      return;
    }
    this.#awaited = { kind: 'head' };
    this.#handler.onData(streamID, Buffer.alloc(0), isFin);
  }
}

/** At most 16 MiB of data. */
export function dataFrame(streamID: number, data: Buffer, isFin: boolean): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(streamID, 0);
  head.writeUInt32BE(data.length, 4);
  if (isFin) head.writeUInt8(finFlag, 4);
  return data.length === 0 ? head : Buffer.concat([head, data]);
}

export function synReplyFrame(streamID: number, headers: Buffer): Buffer {
  return Buffer.concat([controlFrame(controlType.synReply, streamID, headers.length), headers]);
}

export function rstStreamFrame(streamID: number, status: number): Buffer {
  return withNumber(controlFrame(controlType.rstStream, streamID, 4), status);
}

export function goAwayFrame(lastStreamID: number, status: number): Buffer {
  return withNumber(controlFrame(controlType.goAway, lastStreamID, 4), status);
}

export function pingFrame(id: number): Buffer {
  return controlFrame(controlType.ping, id, 0);
}

/** The head of a frame that begins with one number, and this number. `further`: how many bytes follow. */
function controlFrame(type: number, number: number, further: number): Buffer {
  const frame = Buffer.alloc(headBytes + 4);
  frame.writeUInt16BE(0x8003, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt32BE(4 + further, 4);
  frame.writeUInt32BE(number, 8);
  return frame;
}

function withNumber(frame: Buffer, number: number): Buffer {
  const further = Buffer.alloc(4);
  further.writeUInt32BE(number);
  return Buffer.concat([frame, further]);
}
