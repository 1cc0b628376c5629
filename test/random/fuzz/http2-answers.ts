import type { Prng } from '../chaos/prng.ts';
import type { Answer, Ending, Question } from './answer.ts';
import { bodyOf, watchOf } from './bodies.ts';

const types = { data: 0, headers: 1, reset: 3, settings: 4, push: 5, ping: 6, goaway: 7, window: 8, continuation: 9 } as const;
const endStream = 1;
const endHeaders = 4;

export function frame(type: number, flags: number, stream: number, payload: Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function number(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

/** A setting: its number, and its value. */
function settings(...pairs: readonly (readonly [number, number])[]): Buffer {
  const payload = pairs.map(([id, value]) => Buffer.concat([number(id).subarray(2), number(value)]));
  return frame(types.settings, 0, 0, Buffer.concat(payload));
}

/** A header that stands in full, as HPACK writes one that is not to be kept. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
}

const ok = Buffer.from([0x88]);

function dataFrames(prng: Prng, stream: number, text: Buffer): Buffer[] {
  const largest = prng.pick([1, 50, 16_000]) ?? 50;
  const limited = largest === 1 ? text.subarray(0, 20_000) : text;
  const frames: Buffer[] = [];
  for (let start = 0; start < limited.length; start += largest) {
    frames.push(frame(types.data, 0, stream, limited.subarray(start, start + largest)));
  }
  return frames;
}

/** A frame, or several, that no server ought to send there. */
function wrongFrames(prng: Prng, stream: number): readonly [name: string, frames: readonly Buffer[]] {
  const many = prng.int(1, 3000);
  const code = prng.pick([0, 1, 7, 8, 0xffff]) ?? 0;
  const wrong: readonly (readonly [string, () => readonly Buffer[]])[] = [
    ['a reset', () => [frame(types.reset, 0, stream, number(code))]],
    ['a goodbye', () => [frame(types.goaway, 0, 0, number(prng.pick([0, stream, 0x7fffffff]) ?? 0, code))]],
    ['PINGs', () => Array.from({ length: many }, () => frame(types.ping, 0, 0, Buffer.alloc(8)))],
    ['answers to no PING', () => Array.from({ length: many }, () => frame(types.ping, 1, 0, Buffer.alloc(8)))],
    ['settings again and again', () => Array.from({ length: many }, () => settings([4, 65_535]))],
    ['a room of no size', () => [settings([4, 0xffffffff])]],
    ['no streams allowed', () => [settings([3, 0])]],
    [
      'more room than there is',
      () => [frame(types.window, 0, stream, number(0x7fffffff)), frame(types.window, 0, 0, number(0x7fffffff))],
    ],
    ['room of nothing', () => [frame(types.window, 0, stream, number(0))]],
    ['data for a stream that is none', () => [frame(types.data, 0, stream + 100, Buffer.from('{}'))]],
    ['data for the connection', () => [frame(types.data, 0, 0, Buffer.from('{}'))]],
    ['headers of a broken table', () => [frame(types.headers, endHeaders, stream, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7f]))]],
    ['headers again', () => Array.from({ length: 3 }, () => frame(types.headers, endHeaders, stream, ok))],
    [
      'headers without an end',
      () => [
        frame(types.headers, 0, stream, ok),
        ...Array.from({ length: many }, () => frame(types.continuation, 0, stream, literal('x', 'y'.repeat(100)))),
      ],
    ],
    ['a promise', () => [frame(types.push, endHeaders, stream, Buffer.concat([number(2), ok]))]],
    ['a frame of no known type', () => [frame(0xee, 0xff, stream, Buffer.alloc(100))]],
    ['a frame that is too long', () => [frame(types.data, 0, stream, Buffer.alloc(100), 0xffffff)]],
    ['empty frames', () => Array.from({ length: many }, () => frame(types.data, 0, stream, Buffer.alloc(0)))],
    ['padding beyond the frame', () => [frame(types.data, 8, stream, Buffer.from([200, 1, 2]))]],
    ['bytes', () => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]],
  ];
  const [name, frames] = prng.pick(wrong) ?? ['nothing', () => []];
  return [name, frames()];
}

export interface Http2Answer extends Answer {
  /** What the server begins with, before it has read anything. */
  readonly greeting: Buffer;
}

/** The next answer over HTTP/2, on the stream of the request. */
export function http2Answer(prng: Prng, question: Question & ('get' | 'watch'), stream = 1): Http2Answer {
  const body = question === 'watch' ? watchOf(prng) : bodyOf(prng, question);
  const isGreeted = prng.chance(0.95);
  const data = dataFrames(prng, stream, body.text);
  const isWhole = data.reduce((sum, { length }) => sum + length - 9, 0) === body.text.length;
  const parts = [
    frame(types.headers, endHeaders, stream, Buffer.concat([ok, literal('content-type', 'application/json')])),
    ...data,
    frame(types.data, endStream, stream, Buffer.alloc(0)),
  ];
  let name = body.name;
  let isGood = body.isGood && isGreeted && isWhole;
  for (let times = prng.weighted({ none: 5, one: 4, more: 1 }) === 'none' ? 0 : prng.int(1, 3); times > 0; times -= 1) {
    const [what, frames] = wrongFrames(prng, stream);
    parts.splice(prng.int(0, parts.length), 0, ...frames);
    name = `${name}, ${what}`;
    isGood = false;
  }
  const isCut = prng.chance(0.1);
  // a client that was not greeted asks nothing, and gets no answer
  const ending: Ending = isCut && isGreeted ? (prng.pick(['end', 'reset', 'stay']) ?? 'end') : 'stay';
  const whole = Buffer.concat(parts);
  const sent = isCut ? whole.subarray(0, prng.int(0, whole.length)) : whole;
  return {
    ...{ question, isLarge: false, ending, isGood: isGood && !isCut, bytes: () => [sent] },
    name: `HTTP/2: ${name}${isCut ? `, cut off, then ${ending}` : ''}${isGreeted ? '' : ', without a greeting'}`,
    greeting: isGreeted ? settings([3, 100]) : Buffer.alloc(0),
  };
}
