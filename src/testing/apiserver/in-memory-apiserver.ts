import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { type Clock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { requireKnownOptions } from '../../base/options.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import { FaultRules } from '../fault-rules.ts';
import type { ResourceObjects } from '../objects/store-types.ts';
import { PodStore } from '../pods-api/pod-store.ts';
import { type FaultHandle, type FaultRule, requireFault } from './faults.ts';
import { Namespaces } from './namespaces.ts';
import { RequestHandler, type RequestHandlerOptions } from './request-handler.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { type AccessReviewSpec, authorizeOf, type ReviewedUser, usersOf } from './review-options.ts';
import { type ApiVerb, ServedResources } from './served-resources.ts';
import { type WatchEnd, Watches } from './watches.ts';

/** What `InMemoryApiServer.start` takes. */
export interface InMemoryApiServerOptions {
  /** The store of the pods. Default: a new one, which validates and fills in as a kube-apiserver does. */
  readonly store?: PodStore;
  /** When given, every request needs it as a bearer token, or a token of `users`. A TokenReview of it names `admin`. */
  readonly token?: string;
  /** For latencies, watch timeouts and bookmarks. */
  readonly clock?: Clock;
  /** How often a watch that allows bookmarks gets one. Default 60 s. */
  readonly bookmarkIntervalMs?: number;
  /** Refuse objects in a namespace that does not exist. Default false. */
  readonly requireNamespaces?: boolean;
  /** Custom resources to serve. Their objects may hold anything, and their status is a subresource. */
  readonly resources?: readonly ApiResource[];
  /** The most requests on one resource that `requests` and `requestsOn` list. Default 10 000. */
  readonly requestLogSize?: number;
  /**
   * The TCP port, 0 to 65535. With the port of a server that was stopped, the next one is at the same address, and with its
   * `store` it has the same pods. Default 0: any free port.
   */
  readonly port?: number;
  /**
   * Whom a TokenReview names, by the token. It does not know any other token but that of the option `token`. Default: none. With it
   * a test tries what asks the apiserver for reviews, such as the API of a node.
   */
  readonly users?: Readonly<Record<string, ReviewedUser>>;
  /**
   * Decides what a SubjectAccessReview and a SelfSubjectAccessReview say; false refuses. The review is answered with 500 when it
   * throws, and when it returns anything but a boolean, such as a promise. Requests to this server are allowed in any case. Default:
   * all is allowed.
   */
  readonly authorize?: (spec: AccessReviewSpec) => boolean;
}

const knownOptions: readonly (keyof InMemoryApiServerOptions)[] = [
  'store',
  'token',
  'clock',
  'bookmarkIntervalMs',
  'requireNamespaces',
  'resources',
  'requestLogSize',
  'port',
  'users',
  'authorize',
];

/** Which requests or watches a method means. */
export interface ResourceChoice {
  /** `secrets`, `leases.coordination.k8s.io`; `*` for every resource. Default `pods`. */
  readonly resource?: string;
}

/**
 * A kube-apiserver's API over HTTP on 127.0.0.1, in this process, with faults on demand: get, list (pages and exact states
 * too), watch (initial events and bookmarks too), create, update, patch, delete and deletecollection of any resource, the
 * subresources status and a pod's binding, and dry runs, each with a kube-apiserver's answers, refusals and events. One
 * counter of resourceVersions is shared by all resources, as etcd's revision is. Keeps the process alive until `stop()`.
 *
 * It has the resources of Kubernetes 1.36, the custom ones of the option `resources`, and those that a
 * CustomResourceDefinition brings: their storage version, with a schema that is not applied. Pods, secrets, config maps,
 * nodes, leases, namespaces, services and events have a kube-apiserver's defaults and rules, as far as an agent relies on
 * them; of other resources the contents are stored as they were given. A client has all rights: there is no RBAC, and no
 * NodeRestriction, so that a mirror pod that names its node is accepted from anybody. TokenReviews, SubjectAccessReviews and
 * SelfSubjectAccessReviews are answered by the options `users` and `authorize`.
 *
 * It lacks: the subresources eviction, resize, ephemeralcontainers, log, exec, attach, portforward, proxy, scale, token and
 * finalize; server-side apply and `managedFields`; `fieldValidation`; label selectors with `<` and `>`; protobuf, CBOR, YAML
 * and tables; discovery; other reviews; admission, but for the taint `node.kubernetes.io/not-ready` of a new node;
 * authorization, priority and fairness, and TLS; controllers: nobody takes that taint away, and there is no garbage collector.
 *
 * @example
 * ```ts
 * import { KubePodClient } from 'pod-status-manager';
 * import { buildPod, InMemoryApiServer } from 'pod-status-manager/testing';
 *
 * const server = await InMemoryApiServer.start();
 * server.store.create(buildPod());
 * server.fail({ fault: { kind: 'status', code: 503 }, verb: 'get' });
 * const client = KubePodClient.fromKubeConfig(server.kubeConfig());
 * await client.getPod('default', 'pod-1', { signal: AbortSignal.timeout(5000) }).catch(() => {});
 * console.log(server.requests.map(({ verb, status }) => `${verb} ${status}`)); // [ 'get 503' ]
 * await client.close();
 * await server.stop();
 * ```
 */
export class InMemoryApiServer {
  /** The address of the server: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The pods. */
  readonly store: PodStore;
  readonly #served: ServedResources;
  readonly #server: Server;
  readonly #watches: Watches;
  readonly #faults: FaultRules<FaultRule>;
  readonly #log: RequestLog;
  readonly #token: string | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(server: Server, port: number, parts: RequestHandlerOptions) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    this.store = parts.store;
    this.#served = parts.served;
    this.#watches = parts.watches;
    this.#faults = parts.faults;
    this.#log = parts.log;
    this.#token = parts.token;
  }

  /**
   * Resolves when the server takes requests. Rejects with ERR_INVALID_OPTION for an option that there is not and for a `port`
   * that is none, for `users` that name nobody and for an `authorize` that is no function, and with the system's EADDRINUSE where something else listens at that port.
   */
  static async start(options: InMemoryApiServerOptions = {}): Promise<InMemoryApiServer> {
    requireKnownOptions('options', options, knownOptions);
    const port = portOf(options);
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
      server.listen(port, '127.0.0.1', resolve);
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

  /**
   * The objects of a resource: to seed them, to change them and to look at them without a request. A resource that the
   * server does not have is served from now on, as a custom one. Throws ERR_INVALID_ARGUMENT for a kind or a scope that is
   * not that of the resource.
   */
  objects<T extends ApiObject>(resource: ApiResource<T>): ResourceObjects<T> {
    return this.#served.open(resource);
  }

  /** The requests on pods so far, oldest first. */
  get requests(): readonly LoggedRequest[] {
    return this.requestsOn('pods');
  }

  /** The requests on a resource so far, oldest first; `*` stands for every resource. */
  requestsOn(resource: string): readonly LoggedRequest[] {
    return this.#log.entries(resource);
  }

  /** The number of requests of `verb` (default: any verb) so far, including those no longer listed. */
  countRequests(verb?: ApiVerb, { resource = 'pods' }: ResourceChoice = {}): number {
    return this.#log.count(verb, resource);
  }

  /** Forgets the requests on every resource. */
  clearRequests(): void {
    this.#log.clear();
  }

  /**
   * Adds a fault rule, from the next request on. Rules hit in the order they were added. Throws ERR_INVALID_OPTION for a fault
   * of an unknown kind, and for a `code`, a `reason` or a `message` that a Status object cannot have.
   */
  fail(rule: FaultRule): FaultHandle {
    requireFault(rule.fault);
    return this.#faults.add(rule);
  }

  /** Takes back every fault rule. A fault that has begun, such as a latency, goes on. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** The number of open watches of pods. */
  get openWatches(): number {
    return this.countOpenWatches();
  }

  /** The number of open watches of a resource. Default: of pods. */
  countOpenWatches({ resource = 'pods' }: ResourceChoice = {}): number {
    return this.#watches.count(resource);
  }

  /** Ends every open watch of a resource: by a connection reset, with a 410 event, or as a timeout does. Returns how many. */
  dropWatches({ kind, resource = 'pods' }: ResourceChoice & { readonly kind: WatchEnd }): number {
    return this.#watches.drop(kind, resource);
  }

  /** Ends every connection, including open watches and unanswered requests. A second call returns the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    return this.#stopped;
  }

  /** Calls `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function portOf({ port = 0 }: InMemoryApiServerOptions): number {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalidOption('port', 'an integer from 0 to 65535', port);
  return port;
}

function partsOf(options: InMemoryApiServerOptions): RequestHandlerOptions {
  const { clock = systemClock, token, bookmarkIntervalMs = 60_000, requireNamespaces = false, requestLogSize = 10_000 } = options;
  const store = options.store ?? new PodStore({ clock });
  const served = new ServedResources(store, clock);
  for (const resource of options.resources ?? []) served.open(resource);
  return {
    store,
    served,
    clock,
    watches: new Watches(clock, bookmarkIntervalMs),
    namespaces: new Namespaces(served),
    faults: new FaultRules<FaultRule>(),
    log: new RequestLog(requestLogSize),
    token,
    users: usersOf(options),
    authorize: authorizeOf(options),
    requireNamespaces,
  };
}
