import type { Prng } from '../chaos/prng.ts';
import { type Ending, repeated } from './answer.ts';

/** Which server is asked. */
export type Asked = 'kubelet' | 'provider' | 'debug';

/** What one broken or hostile client sends. */
export interface Request {
  /** What it is made of, in words, so that a failure can be understood. */
  readonly name: string;
  readonly asked: Asked;
  /** The statuses that the answer may have; undefined: any, or none at all. */
  readonly statuses: readonly number[] | undefined;
  /** True: the sender has no right to anything. */
  readonly mustBeRefused: boolean;
  /** True: not even TLS. */
  readonly isPlain: boolean;
  /** False: what the server answers is not read. */
  readonly isRead: boolean;
  readonly isLarge: boolean;
  readonly bytes: () => Iterable<Buffer>;
  readonly ending: Ending;
}

interface Page {
  readonly method: string;
  readonly path: string;
  readonly statuses: readonly number[];
  readonly headers?: string;
  /** What follows the head. */
  readonly body?: string;
}

const spdy = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n';
const webSocket =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n';
const portSPDY = spdy.replace('v4.channel.k8s.io', 'portforward.k8s.io');
const portWebSocket = webSocket.replace('v5.', 'v4.');
/** How a stream of the runtime behaves is in the first word of the command. */
const streamKinds = ['echo', 'refuse', 'endless-refusal', 'reset', 'silent', 'garbage', 'flood', 'late-end'] as const;

const kubeletPages: readonly Page[] = [
  { method: 'GET', path: '/healthz', statuses: [200] },
  { method: 'HEAD', path: '/healthz', statuses: [200] },
  { method: 'GET', path: '/healthz/ping?verbose=1', statuses: [200, 404] },
  { method: 'GET', path: '/pods', statuses: [200] },
  { method: 'GET', path: '/runningpods/', statuses: [200] },
  { method: 'GET', path: '/configz', statuses: [200] },
  { method: 'GET', path: '/metrics', statuses: [200] },
  { method: 'GET', path: '/metrics/resource', statuses: [200] },
  { method: 'GET', path: '/stats/summary', statuses: [200] },
  { method: 'GET', path: '/containerLogs/default/web/app', statuses: [200] },
  { method: 'GET', path: '/containerLogs/default/web/app?tailLines=5&timestamps=true&limitBytes=900', statuses: [200] },
  { method: 'GET', path: '/containerLogs/default/web/none', statuses: [404] },
  { method: 'GET', path: '/containerLogs/default/web/app?tailLines=-1', statuses: [422] },
  { method: 'POST', path: '/run/default/web/app?cmd=ls', statuses: [200] },
  { method: 'DELETE', path: '/pods', statuses: [405] },
  { method: 'GET', path: '/nothing', statuses: [404] },
  { method: 'GET', path: '/exec/default/web/app?command=echo&output=1', statuses: [400] },
  { method: 'POST', path: '/exec/default/web/app?command=echo&input=1&output=1', headers: spdy, body: 'ping', statuses: [101] },
  { method: 'GET', path: '/exec/default/web/app?command=echo&output=1', headers: webSocket, statuses: [101] },
  { method: 'POST', path: '/attach/default/web/app?input=1&output=1', headers: spdy, body: 'ping', statuses: [101] },
  { method: 'POST', path: '/portForward/default/web', headers: spdy, statuses: [101] },
  { method: 'GET', path: '/portForward/default/web?port=80', headers: webSocket, statuses: [101] },
];
/** What the API of a provider's node has beside what a kubelet's answers alike. */
const providerPages: readonly Page[] = [
  ...kubeletPages.filter(({ path, statuses }) => path !== '/configz' && !statuses.includes(101)),
  { method: 'GET', path: '/configz', statuses: [404] },
  { method: 'GET', path: '/containerLogs/default/web/app?follow=true', statuses: [200] },
  { method: 'POST', path: '/exec/default/web/app?command=echo&input=1&output=1', headers: spdy, body: 'ping', statuses: [101] },
  { method: 'GET', path: '/exec/default/web/app?command=echo&input=1&output=1', headers: webSocket, statuses: [101] },
  { method: 'GET', path: '/attach/default/web/app?output=1', headers: webSocket, body: 'ping', statuses: [101] },
  { method: 'POST', path: '/portForward/default/web', headers: portSPDY, body: 'ping', statuses: [101] },
  { method: 'GET', path: '/portForward/default/web?port=80', headers: portWebSocket, statuses: [101] },
];
const debugPages: readonly Page[] = [
  { method: 'GET', path: '/', statuses: [200] },
  { method: 'GET', path: '/', headers: 'Accept: text/html\r\n', statuses: [200] },
  { method: 'HEAD', path: '/', statuses: [200] },
  { method: 'GET', path: '/?filter=web&sync=synced&phase=Running', statuses: [200] },
  { method: 'GET', path: '/api/snapshot', statuses: [200] },
  { method: 'GET', path: '/pods/uid-1', statuses: [200] },
  { method: 'GET', path: '/api/pods/uid-1', statuses: [200] },
  { method: 'GET', path: '/api/pods/none', statuses: [404] },
  { method: 'GET', path: '/nothing', statuses: [404] },
  { method: 'POST', path: '/', statuses: [405] },
];

const oddParts: readonly (() => string)[] = [
  () => '..',
  () => '%2e%2e',
  () => '%00',
  () => '%',
  () => '%ff%fe',
  () => '%2f%2fetc%2fpasswd',
  () => '',
  () => '\\',
  () => '__proto__',
  () => 'constructor',
  () => 'ä€'.repeat(20),
  () => 'x'.repeat(20_000),
  () => 'a/'.repeat(5000),
];
const oddQueries: readonly (() => string)[] = [
  () => 'tailLines=99999999999999999999',
  () => 'tailLines=1e5',
  () => 'limitBytes=-1',
  () => 'sinceTime=9999-99-99T99:99:99Z',
  () => 'sinceSeconds=999999999999999',
  () => 'stream=__proto__',
  () => 'follow=true&tailLines=0',
  () => 'port=0,99999,x',
  () => `command=${'x'.repeat(100_000)}`,
  () => 'command=a&'.repeat(10_000),
  () => `filter=${'('.repeat(5000)}`,
  () => `filter=${'a+'.repeat(3000)}`,
  () => 'sync=&phase=&filter=%',
  () => '&'.repeat(30_000),
  () => '?'.repeat(500),
];
const oddMethods = ['PUT', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'get', 'X'.repeat(300), ''];
const oddHeaders: readonly (() => string)[] = [
  () => 'X: y\r\n'.repeat(3000),
  () => `X: ${'y'.repeat(100_000)}\r\n`,
  () => `${'X'.repeat(50_000)}: y\r\n`,
  () => 'X\r\n',
  () => ': y\r\n',
  () => 'X: a\r\n b\r\n',
  () => 'X: \u0000\r\n',
  () => 'Content-Length: 5\r\nContent-Length: 6\r\n\r\n',
  () => 'Content-Length: -1\r\n',
  () => 'Content-Length: 99999999999999999999\r\n',
  () => 'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n',
  () => 'Transfer-Encoding: gzip, chunked\r\n',
  () => 'Expect: 100-continue\r\nContent-Length: 10\r\n',
  () => 'Expect: nothing\r\n',
  () => 'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
  () => `Connection: Upgrade\r\nUpgrade: ${'x,'.repeat(5000)}\r\n`,
  () => 'Range: bytes=0-0,-1\r\n',
  () => 'If-None-Match: *\r\n',
  () => `If-None-Match: ${'"x",'.repeat(20_000)}\r\n`,
  () => `Cookie: ${'a=b; '.repeat(5000)}\r\n`,
];
/** What proves no identity. */
const strangers: readonly string[] = [
  '',
  'Authorization: Bearer bad\r\n',
  'Authorization: Bearer\r\n',
  'Authorization: Bearer good good\r\n',
  'Authorization: Basic Z29vZDpnb29k\r\n',
  `Authorization: Bearer ${'g'.repeat(60_000)}\r\n`,
  'Authorization: bearer  \r\n',
  'Authorization: Bearer __proto__\r\n',
  'X-Remote-User: alice\r\n',
];
/** Names under which the page of another site may ask. */
const foreignHosts = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '[::1',
  'a b',
  '',
  '127.0.0.1@evil.example',
];

interface Head {
  readonly name: string;
  readonly isGood: boolean;
  readonly text: string;
  readonly rest: string;
}

function headOf(prng: Prng, page: Page, sender: string): Head {
  const wrong = prng.chance(0.5)
    ? []
    : Array.from({ length: prng.int(1, 3) }, () =>
        prng.weighted({ path: 3, query: 3, method: 1, header: 3, body: 2, version: 1, kind: 2 }),
      );
  let { method, path, headers = '', body = '' } = page;
  let version = 'HTTP/1.1';
  for (const part of wrong) {
    if (part === 'path') {
      const parts = path.split('/');
      parts[prng.int(1, Math.max(1, parts.length - 1))] = prng.pick(oddParts)?.() ?? '';
      path = parts.join('/');
    } else if (part === 'query') path += `${path.includes('?') ? '&' : '?'}${prng.pick(oddQueries)?.() ?? ''}`;
    else if (part === 'method') method = prng.pick(oddMethods) ?? '';
    else if (part === 'header') headers += prng.pick(oddHeaders)?.() ?? '';
    else if (part === 'version') version = prng.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'SIP/2.0', '']) ?? '';
    else if (part === 'kind') path = path.replace('command=echo', `command=${prng.pick(streamKinds)}`);
    else {
      const size = prng.pick([0, 1, 10_000, 500_000]) ?? 0;
      headers += prng.chance(0.5) ? `Content-Length: ${size + prng.int(-1, 1)}\r\n` : 'Transfer-Encoding: chunked\r\n';
      body = prng.chance(0.5) ? 'x'.repeat(size) : `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`;
    }
  }
  // a stream is over when its client says so
  const close = headers.includes('Upgrade:') ? '' : 'Connection: close\r\n';
  const text = `${method} ${path} ${version}\r\n${sender}${close}${headers}\r\n`;
  const shown = `${page.method} ${page.path.slice(0, 60)}`;
  return { name: [shown, ...wrong.map((part) => `wrong ${part}`)].join(', '), isGood: wrong.length === 0, text, rest: body };
}

/** What is no HTTP, and for the kubelet's API no TLS. */
function noise(prng: Prng, asked: Asked): Request {
  const [name, bytes] = prng.pick<readonly [string, () => Iterable<Buffer>]>([
    ['nothing', () => []],
    ['one byte', () => [Buffer.from([prng.int(0, 255)])]],
    ['bytes of chance', () => [Buffer.from(Array.from({ length: prng.int(1, 3000) }, () => prng.int(0, 255)))]],
    ['half a handshake', () => [Buffer.from('16030100c8010000c40303', 'hex')]],
    ['a record without an end', () => [Buffer.from('160303ffff', 'hex'), Buffer.alloc(20_000)]],
    ['HTTP/2', () => [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]],
    ['plain HTTP', () => [Buffer.from('GET /pods HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n')]],
  ]) ?? ['nothing', () => []];
  const ending = prng.pick<Ending>(['end', 'stay', 'reset']) ?? 'end';
  const isPlain = asked !== 'debug';
  return { name, asked, statuses: undefined, mustBeRefused: isPlain, isPlain, isRead: true, isLarge: false, bytes, ending };
}

/** What has no end until the server has enough. */
function large(prng: Prng, asked: Asked, sender: string): Request {
  const head = `POST / HTTP/1.1\r\n${sender}`;
  const [name, bytes] = prng.pick<readonly [string, () => Iterable<Buffer>]>([
    ['an endless head', () => repeated(`${head}X: y\r\n`, 20_000_000)],
    ['an endless first line', () => repeated('GET /aaaa', 20_000_000)],
    ['an endless body', () => repeated(`${head}Content-Length: 99999999999\r\n\r\n`, 30_000_000)],
    [
      'chunks of a byte',
      function* () {
        yield Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`);
        yield* repeated('1\r\nx\r\n', 10_000_000);
      },
    ],
    ['requests without end', () => repeated(`GET /healthz HTTP/1.1\r\n${sender}\r\n`, 2_000_000)],
  ]) ?? ['nothing', () => []];
  return {
    name,
    asked,
    statuses: undefined,
    mustBeRefused: false,
    isPlain: false,
    isRead: prng.chance(0.5),
    isLarge: true,
    bytes,
    ending: 'stay',
  };
}

/** The next request of a client that the seed gives. */
export function requestOf(prng: Prng): Request {
  const asked = prng.weighted({ kubelet: 3, provider: 3, debug: 2 });
  if (prng.chance(0.06)) return noise(prng, asked);
  const isStranger = prng.chance(0.2);
  const host = asked === 'debug' && isStranger ? (prng.pick(foreignHosts) ?? '') : '127.0.0.1';
  const identity = asked === 'debug' ? '' : isStranger ? (prng.pick(strangers) ?? '') : 'Authorization: Bearer good\r\n';
  const sender = `Host: ${host}\r\n${identity}`;
  if (prng.chance(0.003)) return large(prng, asked, sender);
  // a stream of changes, which goes on until its client leaves
  if (asked === 'debug' && prng.chance(0.1)) return changesOf(prng, sender, isStranger);
  const page = prng.pick({ kubelet: kubeletPages, provider: providerPages, debug: debugPages }[asked]) as Page;
  const head = headOf(prng, page, sender);
  const times = prng.chance(0.03) ? prng.int(2, 40) : 1;
  const isCut = prng.chance(0.08);
  const isDrop = prng.chance(0.1);
  const isRead = !prng.chance(0.04);
  const isStream = page.statuses.includes(101);
  const ending = prng.pick<Ending>(isStream && head.isGood ? ['end'] : ['end', 'stay', 'reset']) ?? 'end';
  const bytes = function* (): Iterable<Buffer> {
    const joined = Buffer.from((head.text + head.rest).repeat(times), 'latin1');
    const sent = isCut ? joined.subarray(0, prng.int(0, joined.length)) : joined;
    if (isDrop && sent.length < 2000) for (const byte of sent) yield Buffer.from([byte]);
    else yield sent;
  };
  const names = [
    isStranger && 'a stranger',
    head.name,
    times > 1 && `${times} times`,
    isCut && 'cut off',
    `then ${ending}`,
    !isRead && 'not read',
  ];
  // a client that ends its side early may be taken for one that has gone
  const isGood = head.isGood && times === 1 && !isCut && isRead && ending === (isStream ? 'end' : 'stay');
  return {
    ...{
      name: names.filter(Boolean).join(', '),
      asked,
      isPlain: false,
      isRead,
      isLarge: false,
      bytes,
      ending,
      mustBeRefused: isStranger,
    },
    statuses: isGood && !isStranger ? page.statuses : undefined,
  };
}

function changesOf(prng: Prng, sender: string, isStranger: boolean): Request {
  const isRead = prng.chance(0.5);
  const last = prng.pick(['', 'Last-Event-ID: 5\r\n', 'Last-Event-ID: -1\r\n', `Last-Event-ID: ${'9'.repeat(5000)}\r\n`]) ?? '';
  const text = `GET /api/changes HTTP/1.1\r\n${sender}${last}\r\n`;
  return {
    ...{ name: `changes${isRead ? '' : ', not read'}`, asked: 'debug', isPlain: false, isRead, isLarge: false },
    ...{ bytes: () => [Buffer.from(text, 'latin1')], ending: 'stay', mustBeRefused: isStranger },
    statuses: isStranger || !isRead ? undefined : [200],
  };
}
