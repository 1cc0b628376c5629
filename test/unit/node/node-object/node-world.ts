import type { WireLease, WireNode, WireNodeCondition } from '../../../../src/api/json/types.ts';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import { errorFromStatus, type JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import { NodeObject } from '../../../../src/node/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { ServedResources } from '../../../../src/testing/apiserver/served-resources.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import type { ResourceObjects } from '../../../../src/testing/objects/store-types.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';

export const nodeName = 'node-1';
export const minute = 60_000;
export const namespace = 'kube-node-lease';
export const capacity = { cpu: '4', memory: '8Gi', pods: '110' };

/** What a request does instead of what a server does. It may call `act` to have the effect on the server all the same. */
export type Interference = (act: () => unknown) => unknown;

export const refusal = (status: number, reason: string, message = reason): ApiError =>
  errorFromStatus({ kind: 'Status', reason, message }, { status, label: 'TEST /' });
export const unreachable = (): ApiError => new ApiError({ reason: 'Network', message: 'connect ECONNREFUSED' });

/** A server of nodes and Leases below the level of HTTP, and a node object over it, in virtual time. */
export class NodeWorld implements ResourceTransport {
  readonly clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
  readonly nodes: ResourceObjects<WireNode>;
  readonly leases: ResourceObjects<WireLease>;
  /** `VERB RESOURCE[/SUBRESOURCE]` of every request but watches. */
  readonly calls: string[] = [];
  readonly bodies: unknown[] = [];
  readonly logs: string[] = [];
  readonly node: NodeObject;
  readonly #interferences = new Map<string, Interference[]>();
  readonly #watches = new Set<() => void>();
  readonly #options: Partial<NodeObjectOptions>;
  /** While true, every request fails, and every watch. */
  isDown = false;
  /** While false, the server refuses lists and watches. */
  mayWatch = true;
  inFlight = { nodes: 0, leases: 0 };
  mostWrites = 0;

  constructor(options: Partial<NodeObjectOptions> = {}) {
    const served = new ServedResources(new PodStore({ clock: this.clock }), this.clock);
    this.nodes = served.open(resources.nodes);
    this.leases = served.open(resources.leases);
    this.#options = options;
    this.node = this.another();
  }

  /** A further node object over the same server, not started. */
  another(options: Partial<NodeObjectOptions> = {}): NodeObject {
    const log =
      (level: string) =>
      (_fields: object, message: string): void =>
        void this.logs.push(`${level}: ${message}`);
    const logger: Logger = { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') };
    const common = { transport: this, nodeName, capacity, random: () => 0.5, clock: this.clock, logger };
    return new NodeObject({ ...common, ...this.#options, ...options });
  }

  async start(): Promise<void> {
    this.node.start();
    await settle(20);
  }

  takeCalls(): string[] {
    this.bodies.length = 0;
    return this.calls.splice(0);
  }

  /** What the next request of this kind does: `PATCH nodes/status`. */
  next(call: string, ...interferences: Interference[]): void {
    this.#interferences.set(call, [...(this.#interferences.get(call) ?? []), ...interferences]);
  }

  stored(): WireNode | undefined {
    return this.nodes.has({ name: nodeName }) ? this.nodes.get({ name: nodeName }) : undefined;
  }

  lease(): WireLease | undefined {
    return this.leases.has({ namespace, name: nodeName }) ? this.leases.get({ namespace, name: nodeName }) : undefined;
  }

  condition(type: string): WireNodeCondition | undefined {
    return this.stored()?.status?.conditions?.find((condition) => condition.type === type);
  }

  dropWatches(): void {
    for (const end of [...this.#watches]) end();
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    const { method, path, signal } = request;
    const isLease = path.includes('/leases');
    const resource = isLease ? 'leases' : 'nodes';
    const subresource = path.endsWith('/status') ? '/status' : '';
    const isList = path.endsWith(`/${resource}`) && method === 'GET';
    const call = `${isList ? 'LIST' : method} ${resource}${subresource}`;
    if (!isList) this.calls.push(call);
    if (!isList) this.bodies.push(request.body);
    const isWrite = method !== 'GET';
    if (isWrite) this.inFlight[resource] += 1;
    this.mostWrites = Math.max(this.mostWrites, this.inFlight.nodes);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    const interference = this.#interferences.get(call)?.shift();
    signal?.addEventListener('abort', () => {
      if (interference !== deaf) aborted.reject(new ApiError({ reason: 'Aborted', message: 'aborted' }));
    });
    try {
      await settle(1);
      if (this.isDown) throw unreachable();
      if (isList && !this.mayWatch) throw refusal(403, 'Forbidden');
      const act = (): unknown => (isLease ? serve(this.leases, request) : serve(this.nodes, request));
      const answer = Promise.resolve(interference === undefined ? act() : interference(act));
      return (await Promise.race([answer, aborted.promise])) as JsonMembers;
    } finally {
      if (isWrite) this.inFlight[resource] -= 1;
    }
  }

  async stream({ query, signal, onChunk }: KubeStream): Promise<void> {
    if (this.isDown) throw unreachable();
    if (!this.mayWatch) throw refusal(403, 'Forbidden');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const send = (type: string, object: unknown): void => onChunk(Buffer.from(`${JSON.stringify({ type, object })}\n`));
    if (query?.get('sendInitialEvents') === 'true') {
      for (const object of this.nodes.list()) send('ADDED', object);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      send('BOOKMARK', { kind: 'Node', metadata: { resourceVersion: this.nodes.resourceVersion, annotations } });
    } else {
      for (const { type, object } of this.nodes.eventsSince(query?.get('resourceVersion') ?? '')) send(type, object);
    }
    const unwatch = this.nodes.watch(({ type, object }) => send(type, object));
    const end = (): void => reject(unreachable());
    this.#watches.add(end);
    signal?.addEventListener('abort', () => resolve());
    try {
      await promise;
    } finally {
      unwatch();
      this.#watches.delete(end);
    }
  }
}

/** Never answers, and heeds no signal. */
export const deaf: Interference = () => new Promise(() => {});

function serve<T extends object>(objects: ResourceObjects<T>, { method, path, body, contentType }: KubeRequest): unknown {
  const segments = path.split('/');
  const subresource = segments.at(-1) === 'status' ? ('status' as const) : undefined;
  const name = segments.at(subresource === undefined ? -1 : -2) ?? '';
  const key = objects.resource.namespaced ? { namespace, name } : { name };
  switch (method) {
    case 'GET':
      if (name !== objects.resource.resource) return objects.get(key);
      return { kind: 'List', metadata: { resourceVersion: objects.resourceVersion }, items: objects.list() };
    case 'POST':
      return objects.create(body as object);
    case 'PUT':
      return objects.update(body as object);
    case 'PATCH':
      return objects.patch(key, { type: contentType as 'application/merge-patch+json', body, subresource });
    case 'DELETE':
      return objects.delete(key, body as object).object;
    default:
      throw new Error(`no ${method} was expected`);
  }
}
