import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { acceptPortForward } from '../../../../src/node/streams/accept-port-forward.ts';
import { type AskedStreams, acceptStreams } from '../../../../src/node/streams/accept-streams.ts';
import type { PortForwardSession, StreamSession } from '../../../../src/node/streams/container-streams.ts';
import { StreamRefusal, type UpgradeLimits, type UpgradeRequest } from '../../../../src/node/streams/upgrade-request.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';

export interface StreamsServer {
  readonly port: number;
  readonly clock: FakeClock;
  /** Aborts the signal of every request. */
  readonly closing: AbortController;
  readonly sessions: StreamSession[];
  readonly forwards: PortForwardSession[];
  readonly refusals: StreamRefusal[];
  readonly sockets: Socket[];
  session(): Promise<StreamSession>;
  forward(): Promise<PortForwardSession>;
  refusal(): Promise<StreamRefusal>;
}

export const idleTimeoutMs = 60_000;

/**
 * A server of streams on the loopback. A request for exec names its streams in the query, as the kubelet's: `input`, `output`, `error`
 * and `tty`; any other path is a port forward.
 */
export async function serveStreams(options: Partial<UpgradeLimits> = {}): Promise<StreamsServer> {
  const clock = new FakeClock();
  const closing = new AbortController();
  const limits: UpgradeLimits = { clock, idleTimeoutMs, ...options };
  const [sessions, forwards, refusals]: [StreamSession[], PortForwardSession[], StreamRefusal[]] = [[], [], []];
  const sockets: Socket[] = [];
  const server = createServer();
  const accept = async (asked: UpgradeRequest): Promise<void> => {
    const { pathname, searchParams } = new URL(asked.request.url ?? '', 'http://node');
    if (/exec|attach/.test(pathname)) sessions.push(await acceptStreams(asked, askedStreams(searchParams), limits));
    else forwards.push(await acceptPortForward(asked, askedPorts(searchParams), limits));
  };
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.push(socket);
    accept({ request, head, signal: closing.signal }).catch((error: unknown) => {
      if (!(error instanceof StreamRefusal)) throw error;
      refusals.push(error);
      if (error.status !== undefined) socket.end(`HTTP/1.1 ${error.status} No\r\nContent-Length: 0\r\n\r\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    closing.abort();
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const first = async <T>(list: readonly T[]): Promise<T> => {
    await until(() => list.length > 0);
    return list[0] as T;
  };
  return {
    port: (server.address() as AddressInfo).port,
    ...{ clock, closing, sessions, forwards, refusals, sockets },
    session: () => first(sessions),
    forward: () => first(forwards),
    refusal: () => first(refusals),
  };
}

function askedStreams(query: URLSearchParams): AskedStreams {
  const asks = (...names: readonly string[]): boolean => names.some((name) => ['1', 'true'].includes(query.get(name) ?? ''));
  return { stdin: asks('input', 'stdin'), stdout: asks('output', 'stdout'), stderr: asks('error', 'stderr'), tty: asks('tty') };
}

/** As the kubelet's, or as the apiserver's. */
function askedPorts(query: URLSearchParams): readonly number[] {
  return [...query.getAll('port'), ...query.getAll('ports')].map(Number);
}

/** What a stream gives until it ends. */
export async function textOf(stream: AsyncIterable<Buffer> | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
