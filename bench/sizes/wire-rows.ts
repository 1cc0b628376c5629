import { setImmediate as nextTurn } from 'node:timers/promises';
import { shareEqualParts } from '../../src/api/json/equal-parts.ts';
import { AccessReviews, TokenReviews } from '../../src/client/reviews/reviews.ts';
import { readApiAnswer } from '../../src/client/transport/api-answer.ts';
import { HttpExchange, LineSplitter } from '../../src/client/transport/http-exchange.ts';
import type { DebugPodRow } from '../../src/debug.ts';
import { type KubeStream, systemClock, type WirePod } from '../../src/index.ts';
import { LinePieces, LogPrinter } from '../../src/kubelet/logs/log-lines.ts';
import { changeOf } from '../../src/node/config/pod-changes.ts';
import { filterOf, tableText } from '../../src/observe/debug/plain-text.ts';
import { ResourceClient, resources } from '../../src/reflector.ts';
import { hostilePod } from '../../test/support/hostile/hostile-pods.ts';
import type { Sized, SizedInput } from './measure.ts';
import { listOf, textOf } from './texts.ts';

/** What a socket brings at once. */
const chunkBytes = 65_536;

function podText(kind: string, size: number): string {
  const { metadata, ...pod } = hostilePod(kind, 'p', 'n', size) as { metadata: object };
  return JSON.stringify({ ...pod, metadata: { ...metadata, namespace: 'd', uid: 'u1', resourceVersion: '1' } });
}

function chunksOf(bytes: Buffer, size: number): Buffer[] {
  return listOf(Math.ceil(bytes.length / size), (i) => bytes.subarray(i * size, (i + 1) * size));
}

/** Gives the pieces in turns of the event loop, as a socket does. Pieces of one byte come many in a turn, for a bench that ends. */
async function bring(pieces: readonly Buffer[], take: (piece: Buffer) => void): Promise<void> {
  let bytes = 0;
  for (const piece of pieces) {
    take(piece);
    bytes += piece.length;
    if (bytes < chunkBytes / 4) continue;
    bytes = 0;
    await nextTurn();
  }
}

function watched(kind: string, cut: number): SizedInput['make'] {
  return (size) => {
    const line = Buffer.from(`{"type":"ADDED","object":${podText(kind, size)}}\n`);
    const pieces = chunksOf(line, cut);
    const transport = {
      request: () => Promise.reject(new Error('only a watch')),
      stream: ({ onChunk }: KubeStream) => bring(pieces, onChunk),
    } as never;
    const client = new ResourceClient<WirePod>(transport, resources.pods as never);
    let last: unknown;
    const onEvent = (event: unknown): void => {
      last = event;
    };
    const heldIn = (splitter: LineSplitter): LineSplitter => {
      // copies, as a socket gives them; all but the end of the line
      for (const piece of pieces.slice(0, -1)) splitter.push(Buffer.from(piece));
      return splitter;
    };
    const run = async () => {
      await client.watch({ onEvent });
      return last;
    };
    return { bytes: line.length, run, held: () => heldIn(new LineSplitter({ maxLineBytes: 16 * 1024 * 1024 })) };
  };
}

function smallEvents(count: number): Sized {
  const text = listOf(count, (i) => `{"type":"ADDED","object":{"metadata":{"name":"p${i}","resourceVersion":"${i + 1}"}}}\n`);
  const bytes = Buffer.from(text.join(''));
  const transport = {
    request: () => Promise.reject(new Error('only a watch')),
    stream: async ({ onChunk }: KubeStream) => onChunk(bytes),
  } as never;
  const client = new ResourceClient<WirePod>(transport, resources.pods as never);
  return { bytes: bytes.length, run: () => client.watch({ onEvent: () => {} }) };
}

/** A page that holds so many pods of the largest size. */
function page(count: number): Sized {
  const pod = podText('environment', 1_500_000);
  const body = Buffer.from(`{"metadata":{"resourceVersion":"1"},"items":[${listOf(count, () => pod).join()}]}`);
  const pieces = chunksOf(body, chunkBytes);
  const run = async () => {
    const exchange = new HttpExchange({ label: 'GET', clock: systemClock, timeoutMs: 60_000, maxAnswerBytes: 64 * 1024 * 1024 });
    exchange.onResponseStart({ abort: () => {} }, 200, {});
    await bring(pieces, (piece) => exchange.onResponseData({ abort: () => {} }, piece));
    exchange.onResponseEnd();
    return readApiAnswer(await exchange.answer, 'GET', 0);
  };
  return { bytes: body.length, run };
}

/** A pod that has come again, with one label more. */
function cameAgain(kind: string): SizedInput['make'] {
  return (size) => {
    const text = podText(kind, size);
    const before = JSON.parse(text) as WirePod;
    const copies: WirePod[] = [];
    const run = (): void => {
      const pod = copies.pop() ?? (JSON.parse(text) as WirePod);
      changeOf(before, pod, 'latest');
      shareEqualParts(pod, before);
    };
    for (const _ of Array(40)) copies.push(JSON.parse(text) as WirePod);
    return { bytes: text.length, run };
  };
}

/** A log whose line does not end. */
function endlessLine(cut: number): SizedInput['make'] {
  return (size) => {
    const line = Buffer.from(`2026-01-01T00:00:00.000000000Z stdout F ${textOf(size)}`);
    const pieces = chunksOf(line, cut);
    const run = async (): Promise<number> => {
      const lines = new LinePieces(chunkBytes);
      const printer = new LogPrinter({ timestamps: true });
      let shown = 0;
      await bring(pieces, (piece) => {
        for (const one of lines.take(piece)) for (const text of printer.print(one)) shown += text.length;
      });
      return shown;
    };
    const held = (): LinePieces => {
      const lines = new LinePieces(chunkBytes);
      for (const piece of pieces) for (const _ of lines.take(piece));
      return lines;
    };
    return { bytes: line.length, run, held };
  };
}

/** The debug page with a filter as long as a request's first line may be. */
function filter(bytes: number): Sized {
  const pods = listOf(
    500,
    (i): DebugPodRow => ({
      ...{ podUID: `u${i}`, namespace: textOf(63), name: textOf(250), phase: 'Running', ready: true, restarts: 0 },
      ...{ sync: 'in-sync', version: 1, acknowledgedVersion: 1, attempt: 0, isStatic: false, isDeleting: false, changedAt: 0 },
    }),
  );
  const summary = {
    at: 0,
    state: 'running',
    inFlight: 0,
    channelDepth: 0,
    channelCapacity: 1,
    pods: 500,
    bySync: {},
    byPhase: {},
  };
  const snapshot = { pods, summary } as never;
  const query = new URLSearchParams({ filter: listOf(20, (i) => `${textOf(Math.max(1, bytes / 20 - 4))}${i}`).join(' ') });
  for (const i of Array(20).keys()) query.append('phase', `Running${i}`);
  const run = () => {
    const read = filterOf(new URLSearchParams(query.toString()));
    return read && tableText(snapshot, { ...read, phase: [] });
  };
  return { bytes: query.toString().length, run };
}

/** The server tells of a token of so many groups; then it is asked what they may do. */
function claims(count: number): Sized {
  const groups = listOf(count, (i) => `group-${i}`);
  const body = JSON.stringify({ status: { authenticated: true, user: { username: 'u', groups, extra: { all: groups } } } });
  const transport = {
    async request({ path }: { readonly path: string }) {
      return path.endsWith('tokenreviews') ? JSON.parse(body) : { status: { allowed: true } };
    },
    stream: () => Promise.reject(new Error('nothing is watched')),
  } as never;
  const reviewed = async (tokens: TokenReviews, access: AccessReviews): Promise<unknown> => {
    const identity = await tokens.identityOf(`t${Math.random()}`);
    return (
      identity &&
      access.isAllowed(identity, { resourceAttributes: { verb: 'get', resource: 'nodes', subresource: 'proxy', name: 'n' } })
    );
  };
  const clock = { ...systemClock };
  const asked = { transport, clock };
  const access = { ...asked, keepAllowedMs: 300_000, keepForbiddenMs: 30_000 };
  const parts = () => [new TokenReviews({ ...asked, keepMs: 120_000 }), new AccessReviews(access)] as const;
  return { bytes: body.length, run: () => reviewed(...parts()) };
}

const kib = 1024;

export const wireRows: readonly SizedInput[] = [
  { input: 'watch: a pod of variables, chunks of 64 KiB', most: 1_500_000, make: watched('environment', chunkBytes) },
  { input: 'watch: a pod of variables, chunks of one byte', most: 1_500_000, make: watched('environment', 1) },
  { input: 'watch: a pod of pull secrets', most: 1_500_000, make: watched('pull secrets', chunkBytes) },
  { input: 'watch: small events in one chunk', most: Math.floor(chunkBytes / 70), make: smallEvents },
  { input: 'list: pods of 1.5 MB in one page', most: 40, make: page },
  { input: 'a pod of variables that came again', most: 1_500_000, make: cameAgain('environment') },
  { input: 'a pod of labels that came again', most: 1_500_000, make: cameAgain('labels') },
  { input: 'log: a line without end, 64 KiB at once', most: 64 * kib * kib, make: endlessLine(chunkBytes) },
  { input: 'log: a line without end, a byte at once', most: 64 * kib, make: endlessLine(1) },
  { input: 'debug page: 20 words of a filter', most: 16 * kib, make: filter },
  { input: 'claims of a token: groups', most: 60_000, make: claims },
];
