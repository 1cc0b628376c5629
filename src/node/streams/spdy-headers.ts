import { inflateRawSync, constants as zlib } from 'node:zlib';
import { headerDictionary, zlibBeginning } from './spdy-dictionary.ts';
import { SpdyFault } from './spdy-frames.ts';

/** So many bytes one block of headers may be, once it is inflated. What a client of Kubernetes sends has about a hundred. */
const longestHeaders = 32 * 1024;
const mostHeaders = 64;
/** As far back as zlib looks. */
const windowBytes = 32 * 1024;

/** The headers of a stream. Names are in lower case; values of one name are separated by a zero byte. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/**
 * Reads the headers of one connection. They are one stream of zlib, of which each block ends with a flush at a whole byte. So each
 * block is inflated for itself, with what came before it as the dictionary, and no further than the limit.
 */
export class HeaderReader {
  #before: Buffer | undefined;

  /** Throws a `SpdyFault` for what is no block of headers, or too long a one. */
  read(block: Buffer): SpdyHeaders {
    const inflated = this.#inflate(block);
    return parseHeaders(inflated);
  }

  #inflate(block: Buffer): Buffer {
    const isFirst = this.#before === undefined;
    if (isFirst && !hasMark(block)) throw new SpdyFault('the headers are not compressed with the dictionary of SPDY/3');
    const before = this.#before ?? headerDictionary();
    try {
      const inflated = inflateRawSync(isFirst ? block.subarray(zlibBeginning.length) : block, {
        dictionary: before,
        finishFlush: zlib.Z_SYNC_FLUSH,
        maxOutputLength: longestHeaders,
      });
      this.#before = Buffer.concat([before, inflated]).subarray(-windowBytes);
      return inflated;
    } catch {
      throw new SpdyFault(`the headers cannot be inflated to at most ${longestHeaders} bytes`);
    }
  }
}

/** Any level of compression, but always with the dictionary. */
function hasMark(block: Buffer): boolean {
  const [method = 0, flags = 0] = block;
  const isZlib = (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0 && (flags & 0x20) !== 0;
  return isZlib && block.subarray(2, zlibBeginning.length).equals(zlibBeginning.subarray(2));
}

function parseHeaders(block: Buffer): SpdyHeaders {
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw new SpdyFault('a block of headers ends too early');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (length > block.length - at) throw new SpdyFault('a block of headers ends too early');
    at += length;
    return block.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > mostHeaders) throw new SpdyFault(`a stream has more than ${mostHeaders} headers`);
  const headers = new Map<string, string>();
  for (let n = 0; n < count; n += 1) {
    const name = text().toLowerCase();
    headers.set(name, text());
  }
  return headers;
}

/** No headers, and the empty block that flushes: both are stored as they are, so that nothing is to be compressed. */
const noHeaders = Buffer.from('000400fbff00000000000000ffff', 'hex');

/** Writes the headers of the answers to streams, of which there are none. */
export class EmptyHeaders {
  #isFirst = true;

  /** The block of the next answer. */
  next(): Buffer {
    const block = this.#isFirst ? Buffer.concat([zlibBeginning, noHeaders]) : noHeaders;
    this.#isFirst = false;
    return block;
  }
}
