import { Buffer } from 'node:buffer';
import { BrokenOffError } from '../../src/client/transport/api-error.ts';
import { ApiError, type CancelTimer, type Clock, type KubeRequest, type KubeStream } from '../../src/index.ts';

/** One version of an object. */
export interface ObjectVersion {
  readonly version: number;
  /** Undefined: the object was deleted. */
  readonly value: string | undefined;
  readonly immutable: boolean;
}

export interface ObjectRequest {
  readonly verb: 'get' | 'list' | 'watch';
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string | undefined;
  /** A watch that begins with what there is. */
  readonly streams: boolean;
}

export interface ObjectServerOptions {
  readonly resource?: 'secrets' | 'configmaps';
  /** With a clock a silent watch ends after its idle timeout. */
  readonly clock?: Clock;
  /** Called before a request is answered. It may wait; what it rejects with is the answer. */
  readonly before?: (request: ObjectRequest, signal: AbortSignal | undefined) => Promise<void> | undefined;
  /** The version that a read from the server's cache shows. Default: the newest. */
  readonly cachedVersion?: () => number;
  /** Sends one event of a watch, now or later, in order. Default: now. */
  readonly deliver?: (watch: ServedWatch, send: () => void) => void;
}

const pathOfObjects = /^\/api\/v1\/namespaces\/([^/]+)\/(secrets|configmaps)(?:\/([^/]+))?$/;

/** An apiserver of secrets or config maps, as a transport. It keeps every version of every object. */
export class ObjectServer {
  readonly requests: ObjectRequest[] = [];
  readonly watches = new Set<ServedWatch>();
  readonly #options: ObjectServerOptions;
  readonly #history = new Map<string, ObjectVersion[]>();
  #version = 100;
  /** A watch from before this version is refused. */
  #forgottenBefore = 0;

  constructor(options: ObjectServerOptions = {}) {
    this.#options = options;
  }

  get version(): number {
    return this.#version;
  }

  /** `namespace/name` of each open watch. */
  get openWatches(): string[] {
    return Array.from(this.watches, ({ key }) => key).sort();
  }

  put(namespace: string, name: string, value: string, immutable = false): number {
    return this.#write(namespace, name, { value, immutable });
  }

  delete(namespace: string, name: string): void {
    if (this.versionAt(namespace, name)?.value !== undefined)
      this.#write(namespace, name, { value: undefined, immutable: false });
  }

  /** What the object was at a version, by default now; undefined before its first. */
  versionAt(namespace: string, name: string, version = this.#version): ObjectVersion | undefined {
    return this.#history.get(`${namespace}/${name}`)?.findLast((one) => one.version <= version);
  }

  /** The server forgets how it came to where it is. */
  forgetHistory(): void {
    this.#forgottenBefore = this.#version;
  }

  sendBookmarks(): void {
    for (const watch of this.watches) watch.bookmark(this.#version);
  }

  readonly request = async ({ path, query, signal }: KubeRequest): Promise<{ readonly [key: string]: unknown }> => {
    const request = requestOf(path, query);
    this.requests.push(request);
    await this.#options.before?.(request, signal);
    const { verb, namespace, name } = request;
    const version = this.#shownVersion(request);
    const shown = this.versionAt(namespace, name, version);
    const object = shown?.value === undefined ? undefined : this.wire(namespace, name, shown);
    if (verb === 'list') return { metadata: { resourceVersion: String(version) }, items: object === undefined ? [] : [object] };
    if (object !== undefined) return object;
    throw new ApiError({
      status: 404,
      reason: 'NotFound',
      message: `GET ${path}: 404 secrets ${JSON.stringify(name)} not found`,
    });
  };

  readonly stream = async (stream: KubeStream): Promise<void> => {
    const { path, query, signal } = stream;
    const request = requestOf(path, query);
    this.requests.push(request);
    await this.#options.before?.(request, signal);
    if (signal?.aborted) throw aborted(path);
    const { deliver = (_, send) => send(), clock } = this.#options;
    const watch = new ServedWatch(request, stream, { deliver, clock, ended: () => this.watches.delete(watch) });
    this.watches.add(watch);
    if (request.streams) this.#beginStream(watch, this.#shownVersion(request));
    else if (Number(request.resourceVersion) < this.#forgottenBefore) watch.expire();
    else watch.reached = Number(request.resourceVersion);
    this.#pump(watch);
    return watch.answer;
  };

  wire(namespace: string, name: string, { value = '', immutable, version }: ObjectVersion): Record<string, unknown> {
    const { resource = 'secrets' } = this.#options;
    const v = resource === 'secrets' ? Buffer.from(value).toString('base64') : value;
    const managedFields = [{ manager: 'kubectl' }];
    const metadata = { namespace, name, uid: `${namespace}-${name}`, resourceVersion: String(version), managedFields };
    return { metadata, ...(immutable && { immutable }), data: { v } };
  }

  #write(namespace: string, name: string, change: Omit<ObjectVersion, 'version'>): number {
    const key = `${namespace}/${name}`;
    this.#version += 1;
    this.#history.set(key, [...(this.#history.get(key) ?? []), { ...change, version: this.#version }]);
    for (const watch of this.watches) if (watch.key === key) this.#pump(watch);
    return this.#version;
  }

  /** Without a version a read shows the newest, otherwise the cache, and nothing older than the version. */
  #shownVersion({ resourceVersion }: ObjectRequest): number {
    if (resourceVersion === undefined) return this.#version;
    return Math.max(Number(resourceVersion), this.#options.cachedVersion?.() ?? this.#version);
  }

  #beginStream(watch: ServedWatch, version: number): void {
    const shown = this.versionAt(watch.namespace, watch.name, version);
    if (shown?.value !== undefined) watch.send('ADDED', this.wire(watch.namespace, watch.name, shown));
    watch.bookmark(version, { 'k8s.io/initial-events-end': 'true' });
    watch.reached = version;
  }

  #pump(watch: ServedWatch): void {
    const { namespace, name, key } = watch;
    for (const [index, one] of (this.#history.get(key) ?? []).entries()) {
      if (one.version <= watch.reached) continue;
      const before = this.#history.get(key)?.[index - 1];
      const type = one.value === undefined ? 'DELETED' : before?.value === undefined ? 'ADDED' : 'MODIFIED';
      watch.send(type, this.wire(namespace, name, { ...one, value: one.value ?? before?.value }));
      watch.reached = one.version;
    }
  }
}

interface WatchHost {
  readonly deliver: (watch: ServedWatch, send: () => void) => void;
  readonly clock: Clock | undefined;
  readonly ended: () => void;
}

/** One open watch, from the server's side. */
export class ServedWatch {
  readonly namespace: string;
  readonly name: string;
  /** Every change up to this version was sent. */
  reached = 0;
  /** True: the connection stands, and nothing comes through. */
  isStill = false;
  readonly #stream: KubeStream;
  readonly #host: WatchHost;
  readonly #answer = Promise.withResolvers<void>();
  #isOver = false;
  #cancelIdle: CancelTimer = () => {};

  constructor({ namespace, name }: ObjectRequest, stream: KubeStream, host: WatchHost) {
    this.namespace = namespace;
    this.name = name;
    this.#stream = stream;
    this.#host = host;
    stream.signal?.addEventListener('abort', this.#abort);
    this.#restartIdle();
  }

  get key(): string {
    return `${this.namespace}/${this.name}`;
  }

  get answer(): Promise<void> {
    return this.#answer.promise;
  }

  send(type: string, object: object): void {
    this.#host.deliver(this, () => {
      if (this.#isOver || this.isStill) return;
      this.#restartIdle();
      try {
        this.#stream.onChunk(Buffer.from(`${JSON.stringify({ type, object })}\n`));
      } catch (error) {
        this.fail(error);
      }
    });
  }

  bookmark(version: number, annotations = {}): void {
    this.send('BOOKMARK', { metadata: { resourceVersion: String(version), annotations } });
  }

  /** The server ends it in good order. */
  end(): void {
    this.#finish(() => this.#answer.resolve());
  }

  /** The server has forgotten the version. */
  expire(): void {
    this.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' });
    this.#host.deliver(this, () => this.end());
  }

  /** The connection breaks. */
  reset(): void {
    this.fail(new BrokenOffError({ message: 'GET: the connection was reset' }));
  }

  fail(error: unknown): void {
    this.#finish(() => this.#answer.reject(error));
  }

  readonly #abort = (): void => this.fail(aborted(this.#stream.path));

  #finish(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelIdle();
    this.#stream.signal?.removeEventListener('abort', this.#abort);
    this.#host.ended();
    settle();
  }

  #restartIdle(): void {
    this.#cancelIdle();
    const timeout = new ApiError({ reason: 'Timeout', message: 'GET: nothing was heard for too long' });
    this.#cancelIdle = this.#host.clock?.setTimer(() => this.fail(timeout), this.#stream.idleTimeoutMs) ?? this.#cancelIdle;
  }
}

function requestOf(path: string, query: URLSearchParams | undefined): ObjectRequest {
  const [, namespace = '', , one] = pathOfObjects.exec(path) ?? [];
  const selected = query?.get('fieldSelector')?.replace('metadata.name=', '') ?? '';
  return {
    verb: one !== undefined ? 'get' : query?.get('watch') === 'true' ? 'watch' : 'list',
    namespace,
    name: one ?? selected,
    resourceVersion: query?.get('resourceVersion') ?? undefined,
    streams: query?.get('sendInitialEvents') === 'true',
  };
}

function aborted(path: string): ApiError {
  return new ApiError({ reason: 'Aborted', message: `GET ${path}: aborted` });
}
