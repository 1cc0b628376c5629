import { nextTurn } from '../../../simulation/simulated-clock.ts';
import type { SoakWorld } from '../../soak-world.ts';
import { type ApiClient, type ApiConnection, headOf } from './api-connection.ts';
import { type Fate, fates, tokenOf } from './reviewer.ts';
import type { SoakNode, SoakPod } from './soak-node.ts';

/** What visits need. Each function here resolves with the number of requests that it has made. */
export interface VisitParts {
  readonly world: SoakWorld;
  readonly node: SoakNode;
  /** Someone who may do everything, by certificate. */
  readonly admin: ApiClient;
  /** Someone without a certificate. */
  readonly stranger: ApiClient;
}

/** The pods of a round. */
export interface RoundPods {
  /** Its container ends while its log is followed. */
  readonly ending: SoakPod;
  /** It goes while its log is followed. */
  readonly going: SoakPod;
  readonly other: SoakPod;
}

type Asked = readonly [request: string, status: number];

const upgrading = ['connection: Upgrade', 'upgrade: SPDY/3.1', 'content-length: 0'];
const tokensARound = 96;
/** A connection with more requests that wait is ended. */
const atOnce = 8;
/** How often each fate meets a sender that was not there before. */
const weights = { allowed: 4, forbidden: 30, unknown: 12, 'nobody-knows': 1, 'nobody-decides': 1 } as const;
const pages = [
  ...['/pods', '/runningpods/', '/stats/summary', '/metrics', '/metrics/resource', '/healthz?verbose', '/healthz/syncloop'],
  '/configz',
];

/** Readers of the node's state, over one connection. */
export async function readPages(connection: ApiConnection): Promise<number> {
  return ask(connection, ...pages.map((page) => [headOf(page), 200] as const));
}

/** Senders with tokens, most of which were never seen before. */
export async function showTokens({ world, stranger }: VisitParts, round: number): Promise<number> {
  const each = Object.keys(fates) as Fate[];
  const requests = Array.from({ length: tokensARound }, (_, i): Asked => {
    const fate = each[i] ?? world.prng.weighted<keyof typeof weights>(weights);
    // some come again in every round, and some twice at the same time
    const name = i % 6 === 0 ? `stays-${i}` : `${round}-${i % 12 === 9 ? i - 1 : i}`;
    return tokenRequest(fate, name);
  });
  await showInTurn(stranger, requests, 2);
  return requests.length;
}

/** Senders that are refused, until every answer of a review that is kept has made place for another one. */
export async function fillReviews({ stranger }: VisitParts): Promise<void> {
  const requests = Array.from({ length: 4200 }, (_, i) => tokenRequest('forbidden', `early-${i}`));
  await showInTurn(stranger, requests, 8);
}

function tokenRequest(fate: Fate, name: string): Asked {
  return [headOf('/pods', { headers: [`authorization: Bearer ${tokenOf(fate, name)}`] }), fates[fate]];
}

/** Each connection waits for its answers before it sends more. */
async function showInTurn(client: ApiClient, requests: readonly Asked[], connections: number): Promise<void> {
  let sent = 0;
  const show = async (): Promise<void> => {
    const connection = await client.connect();
    while (sent < requests.length) {
      sent += atOnce;
      await ask(connection, ...requests.slice(sent - atOnce, sent));
    }
    connection.leave();
  };
  await Promise.all(Array.from({ length: connections }, show));
}

/** Requests that are refused whoever sends them, and connections that break the rules. */
export async function breakRules({ admin, stranger }: VisitParts, { other: { name } }: RoundPods): Promise<number> {
  const [known, unknown, broken, flooding] = await Promise.all([
    admin.connect(),
    stranger.connect(),
    stranger.connect(),
    stranger.connect(),
  ]);
  const flood = Array.from({ length: 3 * atOnce }, () => headOf('/pods'));
  broken.send('GET /pods HTTP/1.1\r\nno header\r\n\r\n');
  const asked = await Promise.all([
    ask(
      known,
      [headOf('/no/such/page'), 404],
      [headOf('/pods', { method: 'DELETE' }), 405],
      [headOf('/pods/%2e%2e/x'), 400],
      [headOf(`/containerLogs/${name}/other`), 404],
      [headOf(`/containerLogs/${name}/app?tailLines=x`), 400],
      [headOf(`/exec/${name}/app?command=echo&output=1`), 400],
    ),
    ask(unknown, [headOf('/pods'), 401], [headOf('/pods', { headers: ['authorization: Basic eA=='] }), 401]),
    broken.rest().then(() => 1),
    flooding.ask(...flood).then(() => flood.length),
  ]);
  for (const connection of [known, unknown, flooding]) connection.leave();
  return sum(asked);
}

/** Logs that are read to their end, followed to the end of the container or of the pod, and left off in the middle. */
export async function readLogs(parts: VisitParts, { ending, going }: RoundPods, large: SoakPod): Promise<number> {
  const { admin, node } = parts;
  const open = ({ name }: SoakPod, query: string, text: string) => openLog(admin, name, query, text);
  const follow = async (pod: SoakPod, end: () => unknown): Promise<void> => {
    const connection = await open(pod, 'follow=true', 'line 2');
    await node.write(pod, 'later');
    await connection.until((got) => got.includes('later'));
    await end();
    await connection.rest();
  };
  // one that reads nothing for a while, and then leaves
  const stall = async (connection: ApiConnection): Promise<void> => {
    connection.socket.pause();
    const meanwhile = await admin.connect();
    await readPages(meanwhile);
    for (const each of [meanwhile, connection]) each.leave();
  };
  const read = [
    open(ending, 'tailLines=1', 'line 2').then((connection) => connection.rest()),
    open(ending, 'limitBytes=4&timestamps=true', '2030').then((connection) => connection.rest()),
    open(going, 'follow=true', 'line 2').then((connection) => connection.leave()),
    open(large, '', 'line 1').then((connection) => connection.leave()),
    open(large, 'follow=true', 'line 1').then(stall),
  ];
  await Promise.all(read);
  await Promise.all([follow(ending, () => node.end(ending)), follow(going, () => node.remove(going))]);
  return read.length + 2 + pages.length;
}

/** Commands, terminals and forwarded ports: ended by either end, refused, broken, and left. */
export async function openStreams({ admin }: VisitParts, { other: { name } }: RoundPods): Promise<number> {
  const open = (target: string, status = 101) => openStream(admin, target, status);
  const exec = (kind: string, status?: number) => open(`/exec/${name}/app?command=${kind}&input=1&output=1`, status);
  const rest = (connection: ApiConnection): Promise<string> => connection.rest();
  const end = (connection: ApiConnection): Promise<string> => {
    connection.socket.end();
    return connection.rest();
  };
  const visits: readonly Promise<unknown>[] = [
    exec('echo').then(hearEcho).then(end),
    exec('echo')
      .then(hearEcho)
      .then((connection) => connection.leave()),
    exec('bye').then(rest),
    exec('refuse', 403).then(rest),
    exec('silent', 500).then(rest),
    exec('reset').then((connection) => {
      connection.send('ping');
      return connection.rest();
    }),
    open(`/exec/${name}/other?command=echo&output=1`, 500).then(rest),
    open('/exec/default/nobody/app?command=echo&output=1', 404).then(rest),
    open(`/attach/${name}/app?input=1&output=1`).then(hearEcho).then(end),
    open(`/portForward/${name}`)
      .then(hearEcho)
      .then((connection) => connection.leave()),
    open(`/run/${name}/app?cmd=ls`, 200).then(rest),
  ];
  await Promise.all(visits);
  return visits.length;
}

/** A command and a terminal of which nobody says anything any more, and a log that gets no more lines. */
export async function openSilentStreams({ admin }: VisitParts, { name }: SoakPod): Promise<ApiConnection[]> {
  const targets = [`/exec/${name}/app?command=echo&input=1&output=1`, `/attach/${name}/app?output=1`];
  const log = await openLog(admin, name, 'follow=true&tailLines=1', 'line');
  return [log, ...(await Promise.all(targets.map((target) => openStream(admin, target, 101))))];
}

/** Connections that are left before there is an answer. */
export async function leaveEarly(parts: VisitParts, { other: { name } }: RoundPods, round: number): Promise<number> {
  const { admin, stranger } = parts;
  const plain = await Promise.all([0, 1, 2].map(() => stranger.connectPlainly()));
  const [silent, broken, half] = plain;
  // after an orderly end the server would wait ten real seconds for the handshake
  silent?.resetAndDestroy();
  half?.write(Buffer.from('1603010200010001fc0303', 'hex'), () => half.resetAndDestroy());
  broken?.end('no handshake');
  const requests: readonly (readonly [ApiClient, string])[] = [
    [admin, headOf(`/exec/${name}/app?command=silent&output=1`, { method: 'POST', headers: upgrading })],
    [admin, headOf('/stats/summary')],
    [stranger, tokenRequest('no-answer', `left-${round}`)[0]],
    [admin, `${headOf('/run/default/x/app', { method: 'POST', headers: ['content-length: 100'] })}and`],
  ];
  await Promise.all(
    requests.map(async ([client, request], turns) => {
      const connection = await client.connect();
      connection.send(request);
      for (let turn = 0; turn < 2 * turns; turn++) await nextTurn();
      connection.leave();
    }),
  );
  return plain.length + requests.length;
}

/** The log shows `text`. */
async function openLog(client: ApiClient, pod: string, query: string, text: string): Promise<ApiConnection> {
  const connection = await client.connect();
  connection.send(headOf(`/containerLogs/${pod}/app?${query}`, { headers: ['connection: close'] }));
  await connection.until((got) => got.includes(text));
  return connection;
}

async function openStream(client: ApiClient, target: string, status: number): Promise<ApiConnection> {
  const connection = await client.connect();
  connection.send(headOf(target, { method: 'POST', headers: upgrading }));
  await connection.until((text) => text.includes(`HTTP/1.1 ${status} `));
  return connection;
}

async function hearEcho(connection: ApiConnection): Promise<ApiConnection> {
  connection.send('ping');
  await connection.until((text) => text.includes('ping'));
  return connection;
}

/** Throws where a request is answered otherwise. */
async function ask(connection: ApiConnection, ...asked: readonly Asked[]): Promise<number> {
  const statuses = await connection.ask(...asked.map(([request]) => request));
  const wrong = asked.findIndex(([, status], at) => statuses[at] !== status);
  if (wrong >= 0) throw new Error(`${statuses[wrong]} is the answer, in place of ${asked[wrong]?.[1]}, to ${asked[wrong]?.[0]}`);
  return asked.length;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
