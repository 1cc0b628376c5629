import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { type Clock, systemClock } from '../../seams/clock.ts';
import { PodStore } from '../pods-api/pod-store.ts';
import { type FaultHandle, type FaultRule, Faults } from './faults.ts';
import { Namespaces } from './namespaces.ts';
import { type HandlerParts, RequestHandler } from './request-handler.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import type { ApiVerb } from './route.ts';
import { type WatchEnd, Watches } from './watches.ts';

export interface InMemoryApiServerOptions {
  /** The store of the pods. Default: a new one, which validates and fills in as a kube-apiserver does. */
  readonly store?: PodStore;
  /** When given, every request needs it as a bearer token. */
  readonly token?: string;
  /** For latencies, watch timeouts and bookmarks. */
  readonly clock?: Clock;
  /** How often a watch that allows bookmarks gets one. Default 60 s. */
  readonly bookmarkIntervalMs?: number;
  /** Refuse pods in a namespace that does not exist. Default false. */
  readonly requireNamespaces?: boolean;
  /** The most requests that `requests` lists. Default 10 000. */
  readonly requestLogSize?: number;
}

/**
 * A kube-apiserver's pods API over HTTP on 127.0.0.1, in this process, with faults on demand: get, list (pages and exact
 * states too), watch, create, update, patch, delete and deletecollection of pods, their status and binding, and dry runs,
 * each with a kube-apiserver's answers, refusals and events. Keeps the process alive until `stop()`.
 *
 * It lacks: the subresources eviction, resize, ephemeralcontainers, log, exec, attach, portforward and proxy; server-side
 * apply and `managedFields`; `fieldValidation`; label selectors with `<` and `>`; protobuf, CBOR, YAML and tables;
 * admission, authorization, priority and fairness, and TLS. Of the metadata and the spec it checks only the members that
 * an agent relies on, and it stores the others as they were given. Of other resources it has namespaces alone.
 */
export class InMemoryApiServer {
  readonly url: string;
  readonly store: PodStore;
  readonly #server: Server;
  readonly #watches: Watches;
  readonly #faults: Faults;
  readonly #log: RequestLog;
  readonly #token: string | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(server: Server, port: number, parts: HandlerParts) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    this.store = parts.store;
    this.#watches = parts.watches;
    this.#faults = parts.faults;
    this.#log = parts.log;
    this.#token = parts.token;
  }

  /** Resolves when the server takes requests, on a free port. */
  static async start(options: InMemoryApiServerOptions = {}): Promise<InMemoryApiServer> {
    const parts = partsOf(options);
    const handler = new RequestHandler(parts);
    // Idle connections stay open, as a kube-apiserver keeps them for minutes: no client meets a closed connection by chance.
    const server = createServer(
      { keepAliveTimeout: 0, requestTimeout: 0 },
      (request: IncomingMessage, response: ServerResponse) => {
        void handler.handle(request, response);
      },
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('The server has no port');
    return new InMemoryApiServer(server, address.port, parts);
  }

  /** A new kubeconfig of a client with all rights. */
  kubeConfig(): KubeConfig {
    const config = new KubeConfig();
    config.loadFromOptions({
      // client-node takes plain HTTP only with `skipTLSVerify`.
      clusters: [{ name: 'in-memory', server: this.url, skipTLSVerify: true }],
      users: [{ name: 'admin', ...(this.#token === undefined ? {} : { token: this.#token }) }],
      contexts: [{ name: 'in-memory', cluster: 'in-memory', user: 'admin' }],
      currentContext: 'in-memory',
    });
    return config;
  }

  /** The requests on pods so far, oldest first. */
  get requests(): readonly LoggedRequest[] {
    return this.#log.entries;
  }

  /** The number of requests of `verb` (default: any verb) so far, including those no longer listed. */
  countRequests(verb?: ApiVerb): number {
    return this.#log.count(verb);
  }

  clearRequests(): void {
    this.#log.clear();
  }

  /** Adds a fault rule for requests on pods, from the next one on. Rules hit in the order they were added. */
  fail(rule: FaultRule): FaultHandle {
    return this.#faults.add(rule);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Ends every open watch: by a connection reset, with a 410 event, or as a timeout does. Returns how many there were. */
  dropWatches({ kind }: { readonly kind: WatchEnd }): number {
    return this.#watches.drop(kind);
  }

  /** Ends every connection, including open watches and unanswered requests. A second call returns the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function partsOf(options: InMemoryApiServerOptions): HandlerParts {
  const { clock = systemClock, token, bookmarkIntervalMs = 60_000, requireNamespaces = false, requestLogSize = 10_000 } = options;
  const store = options.store ?? new PodStore({ clock });
  return {
    store,
    clock,
    watches: new Watches(store, clock, bookmarkIntervalMs),
    namespaces: new Namespaces(store, clock),
    faults: new Faults(),
    log: new RequestLog(requestLogSize),
    token,
    requireNamespaces,
  };
}
