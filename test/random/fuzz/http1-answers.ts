import { gzipSync } from 'node:zlib';
import type { Prng } from '../chaos/prng.ts';
import { type Answer, type Ending, type Question, repeated } from './answer.ts';
import { type Body, bodyOf, watchOf } from './bodies.ts';

/** An answer, or a part of one, that has no end until the client has enough. */
const endless = 80 * 1024 * 1024;
const zeros = gzipSync(Buffer.alloc(20 * 1024 * 1024));

interface Framed {
  readonly name: string;
  readonly head: string;
  readonly bytes: () => Iterable<Buffer>;
  readonly isGood: boolean;
  /** True: the end of the connection is the end of the body. */
  readonly untilClose?: boolean;
}

function chunkOf(bytes: Buffer, extension = ''): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}${extension}\r\n`), bytes, Buffer.from('\r\n')]);
}

function* piecesOf(prng: Prng, text: Buffer, largest: number): Iterable<Buffer> {
  for (let start = 0; start < text.length; ) {
    const size = prng.int(1, largest);
    yield text.subarray(start, start + size);
    start += size;
  }
}

function* chunked(pieces: Iterable<Buffer>, extension: string, end: string): Iterable<Buffer> {
  for (const piece of pieces) yield chunkOf(piece, extension);
  yield Buffer.from(end);
}

/** Each byte in a chunk of its own. */
function* byteChunks(text: Buffer): Iterable<Buffer> {
  const bytes = Buffer.from('1\r\n.\r\n'.repeat(text.length));
  for (let index = 0; index < text.length; index += 1) bytes[index * 6 + 3] = text[index] ?? 0;
  yield bytes;
  yield Buffer.from('0\r\n\r\n');
}

/** The body with a length, in chunks, or up to the end of the connection; right or wrong. */
function framed(prng: Prng, { text }: Body): Framed {
  const byChunks = 'Transfer-Encoding: chunked\r\n';
  const pieces = (largest: number) => () => chunked(piecesOf(prng, text, largest), '', '0\r\n\r\n');
  const length = (said: number | string) => `Content-Length: ${said}\r\n`;
  const whole = () => [text];
  const kind = prng.weighted({ length: 5, chunks: 5, bytes: 5, close: 2, wrong: 4 });
  if (kind === 'length') return { name: 'its length', head: length(text.length), bytes: whole, isGood: true };
  if (kind === 'chunks') return { name: 'chunks', head: byChunks, bytes: pieces(4000), isGood: true };
  if (kind === 'bytes') return { name: 'chunks of a byte', head: byChunks, bytes: () => byteChunks(text), isGood: true };
  if (kind === 'close') return { name: 'no length', head: '', bytes: whole, isGood: true, untilClose: true };
  const wrong: readonly Omit<Framed, 'isGood'>[] = [
    { name: 'a length too small', head: length(Math.max(0, text.length - 5)), bytes: whole },
    { name: 'a length too large', head: length(text.length + 5), bytes: whole },
    { name: 'a length below zero', head: length(-5), bytes: whole },
    { name: 'a length that is none', head: length('many'), bytes: whole },
    { name: 'a length beyond all', head: length('9'.repeat(40)), bytes: whole },
    { name: 'two lengths', head: length(1) + length(text.length), bytes: whole },
    { name: 'a length and chunks', head: length(3) + byChunks, bytes: pieces(100) },
    { name: 'chunks without an end', head: byChunks, bytes: () => chunked([text], '', '') },
    { name: 'a chunk of no size', head: byChunks, bytes: () => [Buffer.from('zz\r\nabc\r\n0\r\n\r\n')] },
    { name: 'a chunk of a wrong size', head: byChunks, bytes: () => [Buffer.from('2\r\nabcdef\r\n0\r\n\r\n')] },
    {
      name: 'long words on each chunk',
      head: byChunks,
      bytes: () => chunked(piecesOf(prng, text, 3), `;${'e'.repeat(3000)}`, '0\r\n\r\n'),
    },
    {
      name: 'endless words on a chunk',
      head: byChunks,
      bytes: function* () {
        yield Buffer.from('1;');
        yield* repeated('e', 1_000_000);
      },
    },
    { name: 'endless trailers', head: byChunks, bytes: () => chunked([text], '', `0\r\n${'Trailer: x\r\n'.repeat(20_000)}\r\n`) },
  ];
  return { ...(prng.pick(wrong) ?? { name: 'nothing', head: '', bytes: whole }), isGood: false };
}

interface Head {
  readonly name: string;
  readonly text: string;
  readonly isGood: boolean;
}

function headOf(prng: Prng): Head {
  const good = { name: '200', text: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n', isGood: true };
  if (prng.chance(0.75)) return good;
  const code = prng.pick([201, 204, 206, 301, 304, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504, 600, 999, 0]) ?? 500;
  const retry =
    prng.pick(['', 'Retry-After: 2\r\n', 'Retry-After: -1\r\n', 'Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n']) ?? '';
  const wrong: readonly Head[] = [
    { name: `${code}`, text: `HTTP/1.1 ${code} ${'x'.repeat(prng.int(0, 50))}\r\n${retry}`, isGood: false },
    { name: 'words in its head', text: `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(prng.int(1, 5000))}`, isGood: false },
    { name: 'a long word in its head', text: `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(prng.int(1, 100_000))}\r\n`, isGood: false },
    { name: 'no HTTP', text: `SSH-2.0-OpenSSH_9.0\r\n`, isGood: false },
    { name: 'bytes for a head', text: '\u0000\u0001\u0002\r\n', isGood: false },
    { name: 'HTTP/1.0', text: 'HTTP/1.0 200 OK\r\n', isGood: false },
    { name: 'a header without a colon', text: 'HTTP/1.1 200 OK\r\nContent-Type\r\n', isGood: false },
    { name: 'a header that goes on', text: 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n', isGood: false },
    {
      name: 'first informational ones',
      text: `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(prng.int(1, 500))}${good.text}`,
      isGood: true,
    },
    { name: 'packed', text: `${good.text}Content-Encoding: gzip\r\n`, isGood: false },
    {
      name: 'another protocol',
      text: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n',
      isGood: false,
    },
  ];
  return prng.pick(wrong) ?? good;
}

/** What has no end: a body, a line of a watch, a head, spaces in a body. */
function largeAnswer(prng: Prng, question: Question): Answer {
  const ok = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  const spaces = (size: number, total: number) =>
    function* (): Iterable<Buffer> {
      yield ok;
      for (const piece of repeated(chunkOf(Buffer.alloc(size, 0x20)).toString('latin1'), total)) yield piece;
    };
  const [name, bytes] = prng.pick<readonly [string, () => Iterable<Buffer>]>([
    ['an endless body', spaces(60_000, endless)],
    ['a long body in chunks of a byte', spaces(1, 20_000_000)],
    ['an endless head', () => repeated('HTTP/1.1 200 OK\r\nX: ', 2_000_000)],
    [
      'a bomb',
      function* () {
        yield Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zeros.length}\r\n\r\n`);
        yield zeros;
      },
    ],
  ]) ?? ['nothing', () => []];
  return { name, question, isGood: false, isLarge: true, bytes, ending: 'end' };
}

/** The next answer to a read or a watch over HTTP/1.1. */
export function http1Answer(prng: Prng, question: 'get' | 'list' | 'watch', given?: Body): Answer {
  if (given === undefined && prng.chance(0.006)) return largeAnswer(prng, question);
  const body = given ?? (question === 'watch' ? watchOf(prng) : bodyOf(prng, question));
  const head = headOf(prng);
  const frame = framed(prng, body);
  const isCut = prng.chance(0.08);
  const hasMore = prng.chance(0.05);
  const isDrop = prng.chance(0.2);
  const slow = prng.chance(0.04);
  const ending: Ending = slow ? 'stay' : frame.untilClose ? 'end' : (prng.pick(['end', 'stay', 'reset']) ?? 'end');
  const bytes = function* (): Iterable<Buffer> {
    const all = [Buffer.from(`${head.text}${frame.head}\r\n`, 'latin1'), ...frame.bytes()];
    const joined = Buffer.concat(hasMore ? [...all, Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')] : all);
    const sent = isCut ? joined.subarray(0, prng.int(0, joined.length)) : joined;
    if (isDrop && sent.length < 3000) for (const byte of sent) yield Buffer.from([byte]);
    else yield sent;
  };
  const names = [head.name, frame.name, body.name, isCut && 'cut off', hasMore && 'with more after it', `then ${ending}`];
  // a connection that ends after a whole answer may take the next request with it
  const isWhole = !isCut && !hasMore && ending === (frame.untilClose ? 'end' : 'stay');
  const isGood = head.isGood && frame.isGood && body.isGood && isWhole && !slow;
  return { name: names.filter(Boolean).join(', '), question, isGood, isLarge: false, bytes, ending };
}

/** The body as any server would send it. */
export function plainAnswer({ name, text }: Body, question: Question): Answer {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
  return { name, question, isGood: true, isLarge: false, bytes: () => [Buffer.from(head), text], ending: 'stay' };
}
