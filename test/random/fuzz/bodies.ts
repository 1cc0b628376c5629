import type { Prng } from '../chaos/prng.ts';
import { secret } from './answer.ts';

export interface Body {
  readonly name: string;
  readonly text: Buffer;
  /** True: the client has to take it. */
  readonly isGood: boolean;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const pod = (name: string, version = '7'): { [key: string]: Json } => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace: 'fuzz',
    uid: `uid-${name}`,
    resourceVersion: version,
    labels: { app: 'web' },
    annotations: { secret },
  },
  spec: { containers: [{ name: 'app', image: 'app:1', env: [{ name: 'A', value: 'ä€𝄞' }] }] },
  status: { phase: 'Running' },
});

const list = (items: Json, metadata: Json = { resourceVersion: '9' }): Json => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata,
  items,
});

const oddValues: readonly Json[] = [
  null,
  true,
  -1,
  1e300,
  0.5,
  '',
  'x'.repeat(2000),
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  'constructor',
];

/** The same value with one of its members replaced, taken away, or made a member of something inherited. */
function spoiled(prng: Prng, value: Json): Json {
  if (typeof value !== 'object' || value === null || prng.chance(0.2)) return prng.pick(oddValues) ?? null;
  if (Array.isArray(value)) {
    const at = prng.int(0, Math.max(0, value.length - 1));
    return value.length === 0
      ? [prng.pick(oddValues) ?? null]
      : value.map((item, index) => (index === at ? spoiled(prng, item) : item));
  }
  const keys = Object.keys(value);
  const at = prng.pick(keys);
  if (at === undefined || prng.chance(0.1)) return { ...value, constructor: 1, ['__proto__']: { items: [] } };
  if (prng.chance(0.2)) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== at));
  return { ...value, [at]: spoiled(prng, value[at] ?? null) };
}

const status = (code: Json, reason: Json, details?: Json): Json => ({
  ...{ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'no' },
  ...(details !== undefined && { details }),
});

/** JSON that is none, or none that anybody could use. */
const junk: readonly [name: string, text: () => Buffer][] = [
  ['nothing', () => Buffer.alloc(0)],
  ['half an object', () => Buffer.from(`{"kind":"Pod","metadata":{"name":"${secret}`)],
  ['a page for people', () => Buffer.from(`<html><body>${secret}</body></html>`)],
  ['null', () => Buffer.from('null')],
  ['a number beyond all', () => Buffer.from('1e999')],
  ['a text', () => Buffer.from(`"${secret}"`)],
  ['bytes that are no text', () => Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc0, 0x7b])],
  ['nested arrays', () => Buffer.from('['.repeat(50_000))],
  ['nested objects', () => Buffer.from(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
  ['one name many times', () => Buffer.from(`{${'"metadata":1,'.repeat(5000)}"metadata":2}`)],
  ['an object after the end', () => Buffer.from(`${JSON.stringify(pod('a'))}${JSON.stringify(pod(secret))}`)],
];

function good(text: string): Body {
  return { name: 'a good body', text: Buffer.from(text), isGood: true };
}

/** The body of an answer to a read of an object or a list. */
export function bodyOf(prng: Prng, question: 'get' | 'list'): Body {
  const value = question === 'get' ? pod('a') : list(Array.from({ length: prng.int(0, 30) }, (_, index) => pod(`p${index}`)));
  if (prng.chance(0.35)) return good(JSON.stringify(value));
  if (prng.chance(0.5)) {
    let wrong = value;
    for (let times = prng.int(1, 4); times > 0; times -= 1) wrong = spoiled(prng, wrong);
    return { name: 'wrong types', text: Buffer.from(JSON.stringify(wrong)), isGood: false };
  }
  if (prng.chance(0.3)) {
    const said = status(prng.pick([404, 410, 'x', -1, 1e9]) ?? 1, prng.pick(['Expired', 'NotFound', 5, 'r'.repeat(5000)]) ?? '', {
      retryAfterSeconds: prng.pick([1, -1, 1e300, 'soon']) ?? 0,
    });
    return { name: 'a status', text: Buffer.from(JSON.stringify(said)), isGood: false };
  }
  const [name, text] = prng.pick(junk) ?? ['nothing', () => Buffer.alloc(0)];
  return { name, text: text(), isGood: false };
}

/** The lines of a watch, and whether each is an event that has to be told. */
export function watchOf(prng: Prng): Body {
  const lines: string[] = [];
  let isGood = true;
  for (let left = prng.int(0, 40), version = 10; left > 0; left -= 1, version += 1) {
    const event = {
      type: prng.pick(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']) ?? 'ADDED',
      object: pod(`p${version}`, String(version)),
    };
    if (prng.chance(0.96)) {
      lines.push(JSON.stringify(event));
      continue;
    }
    isGood = false;
    const kind = prng.weighted({ types: 4, error: 2, junk: 2, empty: 1 });
    if (kind === 'types') lines.push(JSON.stringify(spoiled(prng, event as unknown as Json)));
    if (kind === 'error') lines.push(JSON.stringify({ type: 'ERROR', object: spoiled(prng, status(410, 'Expired')) }));
    if (kind === 'junk') lines.push((prng.pick(junk)?.[1]() ?? '').toString().replaceAll('\n', ' '));
    if (kind === 'empty') lines.push('');
  }
  return {
    name: isGood ? 'good events' : 'events with a wrong one',
    text: Buffer.from(lines.map((line) => `${line}\n`).join('')),
    isGood,
  };
}

/** The answer to the n-th request of a reflector: pages that may never end, and watches. */
export function reflected(prng: Prng, url: string, number: number): Body {
  if (url.includes('watch=')) return watchOf(prng);
  if (prng.chance(0.2)) return bodyOf(prng, 'list');
  const token = prng.pick(['same', `token-${number}`, `token-${number % 3}`, '', 5, 'x'.repeat(10_000), null]) ?? null;
  const items = prng.chance(0.3) ? [] : [pod(prng.chance(0.5) ? 'a' : `p${number}`)];
  const page = list(items, { resourceVersion: '9', continue: token });
  return { name: 'a page', text: Buffer.from(JSON.stringify(page)), isGood: false };
}

/** The same page with the same token, whatever is asked for. */
export function samePage(): Body {
  return {
    name: 'one page for ever',
    text: Buffer.from(JSON.stringify(list([pod('a')], { resourceVersion: '9', continue: 'again' }))),
    isGood: false,
  };
}
