import { type Readable, Writable } from 'node:stream';
import { ignoreFailure } from '../../base/guard.ts';

/** Takes what a run writes. False: whoever can wait should, until `drain`. */
export type TakeOutput = (bytes: Buffer) => boolean;

/**
 * A stream for what a run of a container writes. Everything is taken at once: the stream itself holds nothing, never fails and never
 * throws, also after its end, or when it was destroyed. It ends with the last of the streams that are piped into it.
 */
export function runOutput(take: TakeOutput): Writable {
  const stream = new Writable({ autoDestroy: false, emitClose: false, write: (_chunk, _encoding, done) => done() });
  const sources = new Set<Readable>();
  stream.on('error', ignoreFailure);
  stream.on('pipe', (source: Readable) => sources.add(source));
  stream.on('unpipe', (source: Readable) => sources.delete(source));
  const end = stream.end.bind(stream);
  const write = (chunk: unknown, encoding?: unknown, done?: unknown): boolean => {
    const written = asFunction(done) ?? asFunction(encoding);
    const mayGoOn = take(bytesOf(chunk, encoding));
    if (written !== undefined) process.nextTick(written, null);
    return mayGoOn;
  };
  const endAll = (chunk?: unknown, encoding?: unknown, done?: unknown): Writable => {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') write(chunk, encoding);
    const ended = asFunction(done) ?? asFunction(encoding) ?? asFunction(chunk);
    const goesOn = [...sources].some(({ readableEnded, destroyed }) => !readableEnded && !destroyed);
    if (!goesOn) return end(ended);
    if (ended !== undefined) stream.once('finish', ended);
    return stream;
  };
  return Object.assign(stream, { write, end: endAll });
}

function asFunction(value: unknown): (() => void) | undefined {
  return typeof value === 'function' ? (value as () => void) : undefined;
}

/** What is neither text nor bytes counts as nothing. */
function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8');
  }
  if (ArrayBuffer.isView(chunk)) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Buffer.alloc(0);
}
