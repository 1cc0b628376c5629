import { Buffer } from 'node:buffer';
import type { KubeRequest, KubeStream } from '../../../src/index.ts';
import { errorOf, statusOf } from './api-status.ts';
import type { RecordedAction, RecordedObject } from './refs-case.ts';

interface OpenWatch {
  readonly namespace: string;
  readonly fieldSelector: string;
  /** Its list does not begin yet. */
  isHeld: boolean;
  send(type: string, object: object): void;
  end(): void;
}

const pathOfObjects = /^\/api\/v1\/namespaces\/([^/]+)\/(secrets|configmaps)(?:\/([^/]+))?$/;

/**
 * The apiserver that the recordings were made with, as a transport: one kind of object, versions, and watches of one name.
 * It notes each request as it goes over the wire.
 */
export class RecordedServer {
  readonly #resource: 'secrets' | 'configmaps';
  #version = 100;
  readonly #objects = new Map<string, RecordedObject>();
  /** The version before the last. */
  readonly #before = new Map<string, RecordedObject>();
  readonly #stale = new Map<string, number>();
  readonly #failures = new Map<string, number[]>();
  readonly #held = new Set<string>();
  readonly #watches = new Set<OpenWatch>();
  #actions: RecordedAction[] = [];
  #requests = 0;

  constructor(resource: 'secrets' | 'configmaps') {
    this.#resource = resource;
  }

  /** How many requests were ever made. */
  get requests(): number {
    return this.#requests;
  }

  /** The requests since the last call, by namespace and name. */
  takeActions(): RecordedAction[] {
    const nameOf = ({ namespace, name = '', fieldSelector = '' }: RecordedAction): string =>
      `${namespace}/${name}${fieldSelector.replace('metadata.name=', '')}`;
    const actions = this.#actions.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
    this.#actions = [];
    return actions;
  }

  openWatches(): string[] {
    return Array.from(this.#watches, ({ namespace, fieldSelector }) => `${namespace}/${fieldSelector}`).sort();
  }

  /** Returns the version that the object gets. */
  put(object: RecordedObject): string {
    const key = `${object.namespace}/${object.name}`;
    const stored = { ...object, resourceVersion: String(++this.#version) };
    const old = this.#objects.get(key);
    if (old !== undefined) this.#before.set(key, old);
    this.#objects.set(key, stored);
    this.#notify(old === undefined ? 'ADDED' : 'MODIFIED', stored);
    return stored.resourceVersion;
  }

  delete(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    this.#before.delete(key);
    this.#notify('DELETED', { ...old, resourceVersion: String(++this.#version) });
  }

  fail(verb: string, name: string, code: number, times: number): void {
    const key = `${verb} ${name}`;
    this.#failures.set(key, [...(this.#failures.get(key) ?? []), ...Array<number>(times).fill(code)]);
  }

  stale(namespace: string, name: string, times: number): void {
    const key = `${namespace}/${name}`;
    this.#stale.set(key, (this.#stale.get(key) ?? 0) + times);
  }

  hold(name: string): void {
    this.#held.add(name);
  }

  letGo(name: string): void {
    this.#held.delete(name);
    for (const watch of this.#watches) {
      if (!watch.isHeld || watch.fieldSelector !== `metadata.name=${name}`) continue;
      watch.isHeld = false;
      this.#begin(watch);
    }
  }

  /** The last one first: Go's scheduler wakes the last reader of several channels first, and so the recordings were made. */
  endWatches(isExpired: boolean): void {
    const watches = [...this.#watches];
    for (const watch of [...watches.slice(-1), ...watches.slice(0, -1)]) {
      if (isExpired) watch.send('ERROR', statusOf(410, ''));
      watch.end();
    }
  }

  readonly request = async ({ path, query }: KubeRequest): Promise<{ readonly [key: string]: unknown }> => {
    const [namespace, name] = this.#partsOf(path);
    const asked = name === undefined ? askedOf('list', namespace, query) : { ...askedOf('get', namespace, query), name };
    const listed = name ?? nameIn(asked.fieldSelector);
    const object = this.#objects.get(`${namespace}/${listed}`);
    const error = this.#takeFailure(asked.verb, listed) ?? (name !== undefined && object === undefined ? 404 : undefined);
    const shown = error === undefined && name !== undefined ? this.#staleAnswer(asked, object) : object;
    this.#note(asked, error);
    if (error !== undefined) throw errorOf(error, listed, path);
    if (name !== undefined) return this.#wire(shown as RecordedObject);
    return { metadata: { resourceVersion: String(this.#version) }, items: shown === undefined ? [] : [this.#wire(shown)] };
  };

  readonly stream = async ({ path, query, signal, onChunk }: KubeStream): Promise<void> => {
    const [namespace] = this.#partsOf(path);
    const asked = askedOf('watch', namespace, query);
    const { fieldSelector = '', sendInitialEvents, resourceVersion } = asked;
    const name = nameIn(fieldSelector);
    const error = this.#takeFailure('watch', name);
    this.#note(asked, error);
    if (error !== undefined) throw errorOf(error, name, path);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (settle: () => void): void => {
      if (this.#watches.delete(watch)) settle();
    };
    const watch: OpenWatch = {
      namespace,
      fieldSelector,
      isHeld: sendInitialEvents === true && this.#held.has(name),
      send: (type, object) => {
        try {
          onChunk(Buffer.from(`${JSON.stringify({ type, object })}\n`));
        } catch (failure) {
          leave(() => reject(failure));
        }
      },
      end: () => leave(resolve),
    };
    this.#watches.add(watch);
    const abort = (): void =>
      leave(() => {
        this.#actions.push({ verb: 'stopWatch', namespace, fieldSelector });
        reject(new Error('aborted'));
      });
    signal?.addEventListener('abort', abort);
    const object = this.#objects.get(`${namespace}/${name}`);
    if (sendInitialEvents === true) {
      if (!watch.isHeld) this.#begin(watch);
    } else if (object !== undefined && Number(object.resourceVersion) > Number(resourceVersion ?? 0)) {
      watch.send('MODIFIED', this.#wire(object));
    }
    return promise.finally(() => signal?.removeEventListener('abort', abort));
  };

  /** Streams what there is, then says that this was all. */
  #begin(watch: OpenWatch): void {
    const object = this.#objects.get(`${watch.namespace}/${nameIn(watch.fieldSelector)}`);
    if (object !== undefined) watch.send('ADDED', this.#wire(object));
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    watch.send('BOOKMARK', { metadata: { resourceVersion: String(this.#version), annotations } });
  }

  #notify(type: string, object: RecordedObject): void {
    for (const watch of [...this.#watches]) {
      const isShown = watch.namespace === object.namespace && watch.fieldSelector === `metadata.name=${object.name}`;
      if (isShown && !watch.isHeld) watch.send(type, this.#wire(object));
    }
  }

  #staleAnswer({ namespace, name, resourceVersion }: RecordedAction, object: RecordedObject | undefined) {
    const key = `${namespace}/${name}`;
    const left = this.#stale.get(key) ?? 0;
    const before = this.#before.get(key);
    if (before === undefined || left === 0 || resourceVersion !== '0') return object;
    this.#stale.set(key, left - 1);
    return before;
  }

  #takeFailure(verb: string, name: string): number | undefined {
    return this.#failures.get(`${verb} ${name}`)?.shift();
  }

  #note(action: RecordedAction, error: number | undefined): void {
    this.#requests += 1;
    this.#actions.push(error === undefined ? action : { ...action, error });
  }

  #partsOf(path: string): [namespace: string, name: string | undefined] {
    const [, namespace, resource, name] = pathOfObjects.exec(path) ?? [];
    if (namespace === undefined || resource !== this.#resource) throw new Error(`The replay's server has no ${path}`);
    return [namespace, name];
  }

  #wire({ namespace, name, value = '', immutable, resourceVersion }: RecordedObject): Record<string, unknown> {
    const v = this.#resource === 'secrets' ? Buffer.from(value).toString('base64') : value;
    const metadata = { namespace, name, resourceVersion, uid: 'u-x' };
    return { metadata, ...(immutable === true && { immutable }), data: { v } };
  }
}

/** The request as the recordings have it: every parameter, but for the time after which the server is to end a watch. */
function askedOf(verb: RecordedAction['verb'], namespace: string, query: URLSearchParams | undefined): RecordedAction {
  const action: Record<string, unknown> = { verb, namespace };
  for (const [key, value] of query ?? []) {
    if (key === 'timeoutSeconds') requireWatchTimeout(Number(value));
    else if (key === 'sendInitialEvents' || key === 'allowWatchBookmarks') action[key] = value === 'true';
    else if (key !== 'watch') action[key] = key === 'limit' ? Number(value) : value;
  }
  return action as unknown as RecordedAction;
}

/** Upstream draws from half an hour to an hour. */
function requireWatchTimeout(seconds: number): void {
  if (!(seconds >= 1800 && seconds <= 3600)) throw new Error(`A watch asks for an end after ${seconds} s`);
}

function nameIn(fieldSelector = ''): string {
  return fieldSelector.replace('metadata.name=', '');
}
