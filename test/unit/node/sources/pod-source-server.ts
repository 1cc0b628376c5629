import type { ServerResponse } from 'node:http';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { ApiServerPodSource, type ApiServerPodSourceOptions } from '../../../../src/node/sources/api-server-pod-source.ts';
import type { PodSink, PodSourceHandlers } from '../../../../src/node/sources/pod-delivery.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { barePod } from '../../../support/pods.ts';
import { until } from '../../../support/until.ts';
import {
  kubeConfigFor,
  type ScriptedServer,
  type SeenRequest,
  scriptedServer,
  sendJson,
} from '../../client/transport/scripted-server.ts';

export function pod(name: string, resourceVersion = '1', uid = `uid-${name}`): WirePod {
  const metadata = { name, uid, resourceVersion, managedFields: [{ manager: 'kubelet' }] };
  return barePod({ metadata, spec: { nodeName: 'n1' } });
}

export interface Watch {
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
  send(type: string, object: unknown): void;
}

export type ListScript = (query: URLSearchParams, response: ServerResponse) => void;

export interface PodSourceServer extends ScriptedServer {
  readonly lists: URLSearchParams[];
  readonly watches: Watch[];
  /** The streamed lists that were asked for, and refused as by a server that has none. */
  readonly refusedStreams: URLSearchParams[];
  /** True: a streamed list is opened as a watch is, and the test sends it. */
  hasStreams: boolean;
  /** How the next lists are answered, in turn; the last one stays. */
  scripts: ListScript[];
  /** Answers a watch instead of opening it. */
  refuseWatch: ((response: ServerResponse) => void) | undefined;
  latestWatch(): Watch;
}

export function answerList(pods: readonly WirePod[], resourceVersion: string): ListScript {
  return (_query, response) => sendJson(response, { kind: 'PodList', metadata: { resourceVersion }, items: pods });
}

export function refuse(status: number, headers = {}): ListScript {
  return (_query, response) => sendJson(response, { kind: 'Status', code: status }, { status, headers });
}

/** Lists by script; watches stay open in the test's hands. */
export async function podSourceServer(...scripts: ListScript[]): Promise<PodSourceServer> {
  const lists: URLSearchParams[] = [];
  const watches: Watch[] = [];
  const refusedStreams: URLSearchParams[] = [];
  const handle = (request: SeenRequest, response: ServerResponse): void => {
    const query = new URL(request.url, 'http://x').searchParams;
    if (query.get('watch') === null) {
      lists.push(query);
      const script = result.scripts.length > 1 ? result.scripts.shift() : result.scripts[0];
      script?.(query, response);
      return;
    }
    if (query.has('sendInitialEvents') && !result.hasStreams) {
      refusedStreams.push(query);
      sendJson(response, { kind: 'Status', code: 422, reason: 'Invalid' }, { status: 422 });
      return;
    }
    const send = (type: string, object: unknown): void => {
      response.write(`${JSON.stringify({ type, object })}\n`);
    };
    watches.push({ query, response, send });
    if (result.refuseWatch !== undefined) {
      result.refuseWatch(response);
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    }
  };
  const server = await scriptedServer(handle);
  const latestWatch = (): Watch => {
    const watch = watches.at(-1);
    if (watch === undefined) throw new Error('no watch was opened');
    return watch;
  };
  const result: PodSourceServer = Object.assign(server, {
    lists,
    watches,
    refusedStreams,
    hasStreams: false,
    scripts,
    refuseWatch: undefined,
    latestWatch,
  });
  return result;
}

/** Notes every call as `what name`. */
export function recorder() {
  const calls: string[] = [];
  const names = (pods: readonly WirePod[]): string => pods.map((one) => one.metadata?.name).join(' ');
  const note = (what: string) => (one: WirePod) => {
    calls.push(`${what} ${one.metadata?.name}`);
  };
  const sink: PodSink = {
    addPod: note('addPod'),
    updatePod: note('updatePod'),
    removePod: note('removePod'),
  };
  const interruptions: { error: unknown; delayMs: number }[] = [];
  const handlers: PodSourceHandlers = {
    podAdded: note('added'),
    podUpdated: (one, old) =>
      calls.push(`updated ${one.metadata?.name} ${old.metadata?.resourceVersion}->${one.metadata?.resourceVersion}`),
    podDeleted: note('deleted'),
    synced: (pods) => calls.push(`synced ${names(pods)}`),
    interrupted: (interruption) => interruptions.push(interruption),
  };
  return { calls, sink, handlers, interruptions };
}

/** A source over its own server, on a clock that stands still. */
export async function setUp(
  scripts: ListScript[] = [answerList([pod('a')], '10')],
  options: Partial<ApiServerPodSourceOptions> = {},
) {
  const server = await podSourceServer(...scripts);
  const clock = new FakeClock();
  const { calls, sink, handlers, interruptions } = recorder();
  const source = new ApiServerPodSource({
    logger: null,
    kubeConfig: kubeConfigFor(server.url),
    nodeName: 'n1',
    podManager: sink,
    handlers,
    clock,
    random: () => 0.5,
    ...options,
  });
  const dispose = async (): Promise<void> => {
    await source.stop();
    await server[Symbol.asyncDispose]();
  };
  return { server, clock, calls, interruptions, source, [Symbol.asyncDispose]: dispose };
}

/** The same, with its first watch open and the calls so far forgotten. */
export async function startAndWatch(...args: Parameters<typeof setUp>) {
  const test = await setUp(...args);
  await test.source.start();
  await until(() => test.server.watches.length === 1);
  test.calls.length = 0;
  return test;
}
