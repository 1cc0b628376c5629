import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Wire } from '../../../../src/api/json/types.ts';
import type { ReflectorHandlers } from '../../../../src/client/reflector/handler-calls.ts';
import { Reflector } from '../../../../src/client/reflector/reflector.ts';
import type { ReflectorOptions } from '../../../../src/client/reflector/reflector-options.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { errorFromStatus, type JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

export type ConfigMap = Wire<V1ConfigMap>;

export function configMap(name: string, resourceVersion: string, v = `v${resourceVersion}`, uid = `uid-${name}`): ConfigMap {
  const metadata = { name, namespace: 'default', uid, resourceVersion, managedFields: [{ manager: 'someone' }] };
  return { metadata, data: { v } };
}

/** A watch that the tests hold open. */
export interface OpenWatch {
  readonly query: URLSearchParams;
  send(type: string, object: unknown): void;
  /** Several events in one chunk. */
  sendAll(events: readonly (readonly [string, unknown])[]): void;
  bookmark(resourceVersion: string): void;
  /** The bookmark after the last object of a streamed list. */
  endOfList(resourceVersion: string): void;
  expire(): void;
  end(): void;
  fail(error: unknown): void;
}

export const refusal = (status: number, reason: string, message = reason, headers: { retryAfterMs?: number } = {}): ApiError =>
  errorFromStatus({ kind: 'Status', code: status, reason, message }, { status, label: 'GET /fake', ...headers });
export const refused = (): ApiError =>
  new ApiError({
    reason: 'Network',
    message: 'connect ECONNREFUSED',
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  });
export const tooLarge = (): ApiError => refusal(504, 'Timeout', 'Timeout: Too large resource version: 9, current: 5');

type Failure = ApiError | Error | 'hold' | 'ok';

/** A server below the level of HTTP: it notes each request in one line, and answers what the test put into it. */
export class FakeApi implements ResourceTransport {
  /** `list RV/LIMIT`, `page TOKEN/LIMIT`, `stream RV`, `watch RV`, `end RV`; `newest` and `all` where nothing is named. */
  readonly log: string[] = [];
  readonly queries: URLSearchParams[] = [];
  readonly open: OpenWatch[] = [];
  readonly objects = new Map<string, ConfigMap>();
  resourceVersion = '10';
  /** How the next requests of a kind fail, one entry each; none: they do not. */
  readonly failures: Record<'list' | 'stream' | 'watch', Failure[]> = { list: [], stream: [], watch: [] };
  /** Answers of lists, in turn, in place of what the objects make. */
  readonly answers: JsonMembers[] = [];
  /** True: a stream begins with the objects and the mark of their end. */
  streamsAtOnce = true;

  put(object: ConfigMap): ConfigMap {
    this.objects.set(object.metadata?.name ?? '', object);
    this.resourceVersion = object.metadata?.resourceVersion ?? '';
    return object;
  }

  get latest(): OpenWatch {
    const watch = this.open.at(-1);
    if (watch === undefined) throw new Error('no watch is open');
    return watch;
  }

  async request({ query = new URLSearchParams(), signal }: KubeRequest): Promise<JsonMembers> {
    this.queries.push(query);
    const token = query.get('continue');
    const from = token === null ? `list ${query.get('resourceVersion') ?? 'newest'}` : `page ${token}`;
    this.log.push(`${from}/${query.get('limit') ?? 'all'}`);
    const failure = this.failures.list.shift();
    if (failure === 'hold') return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(aborted())));
    if (failure !== undefined && failure !== 'ok') throw failure;
    return this.answers.shift() ?? { metadata: { resourceVersion: this.resourceVersion }, items: this.#copies() };
  }

  stream({ query = new URLSearchParams(), signal, onChunk }: KubeStream): Promise<void> {
    this.queries.push(query);
    const isList = query.has('sendInitialEvents');
    const from = query.get('resourceVersion') ?? 'newest';
    this.log.push(`${isList ? 'stream' : 'watch'} ${from}`);
    const failure = this.failures[isList ? 'stream' : 'watch'].shift();
    if (failure !== undefined && typeof failure !== 'string') return Promise.reject(failure);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const settled = (finish: () => void) => (): void => {
      const index = this.open.indexOf(watch);
      if (index === -1) return;
      this.open.splice(index, 1);
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const onAbort = settled(() => {
      this.log.push(`end ${from}`);
      reject(aborted());
    });
    const watch = openWatch(query, onChunk, (error) => settled(() => (error === undefined ? resolve() : reject(error)))());
    this.open.push(watch);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    else if (isList && this.streamsAtOnce && failure !== 'hold') {
      watch.sendAll(this.#copies().map((object) => ['ADDED', { kind: 'ConfigMap', apiVersion: 'v1', ...object }]));
      watch.endOfList(this.resourceVersion);
    }
    return promise;
  }

  #copies(): ConfigMap[] {
    return structuredClone([...this.objects.values()]);
  }
}

function aborted(): ApiError {
  return new ApiError({ reason: 'Aborted', message: 'aborted' });
}

function openWatch(query: URLSearchParams, onChunk: (chunk: Buffer) => void, settle: (error?: unknown) => void): OpenWatch {
  const sendAll = (events: readonly (readonly [string, unknown])[]): void => {
    const lines = events.map(([type, object]) => `${JSON.stringify({ type, object })}\n`);
    try {
      onChunk(Buffer.from(lines.join('')));
    } catch (error) {
      settle(error);
    }
  };
  const send = (type: string, object: unknown): void => sendAll([[type, object]]);
  const bookmark = (resourceVersion: string, annotations = {}): void =>
    send('BOOKMARK', { metadata: { resourceVersion, annotations } });
  return {
    query,
    send,
    sendAll,
    bookmark: (resourceVersion) => bookmark(resourceVersion),
    endOfList: (resourceVersion) => bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' }),
    expire: () => send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }),
    end: () => settle(),
    fail: (error) => settle(error),
  };
}

/** Handlers that note their calls as `what name`, with versions. */
function recordedCalls() {
  const calls: string[] = [];
  const shown = ({ metadata }: ConfigMap): string => `${metadata?.name} ${metadata?.resourceVersion}`;
  const interruptions: { error: unknown; delayMs: number }[] = [];
  const handlers: ReflectorHandlers<ConfigMap> = {
    added: (object) => void calls.push(`added ${shown(object)}`),
    updated: (object, previous) => void calls.push(`updated ${shown(previous)} -> ${object.metadata?.resourceVersion}`),
    deleted: (object) => void calls.push(`deleted ${shown(object)}`),
    synced: () => void calls.push('synced'),
    interrupted: (error, delayMs) => void interruptions.push({ error, delayMs }),
  };
  return { calls, handlers, interruptions };
}

/** A reflector over a fake server with the config map `a`, on a clock that stands still. */
export function setUp(options: Partial<ReflectorOptions<ConfigMap>> = {}) {
  const api = new FakeApi();
  api.put(configMap('a', '10'));
  const clock = new FakeClock();
  const { calls, handlers, interruptions } = recordedCalls();
  const reflector = new Reflector<ConfigMap>({
    logger: null,
    transport: api,
    resource: resources.configMaps,
    handlers,
    clock,
    random: () => 0.5,
    ...options,
  });
  const names = (): string[] => reflector.store.list().map(({ metadata }) => `${metadata?.name} ${metadata?.resourceVersion}`);
  const dispose = (): Promise<void> => reflector.stop();
  return { api, clock, calls, interruptions, reflector, names, settle, [Symbol.asyncDispose]: dispose };
}

export type Test = ReturnType<typeof setUp>;

/** The same, with its first list delivered, and requests and calls so far forgotten. */
export async function startedSetUp(...args: Parameters<typeof setUp>): Promise<Test> {
  const test = setUp(...args);
  await test.reflector.start();
  await settle();
  test.api.log.length = 0;
  test.calls.length = 0;
  return test;
}
