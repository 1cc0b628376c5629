import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Wire } from '../../../src/api/json/types.ts';
import { Reflector } from '../../../src/client/reflector/reflector.ts';
import type { ReflectorOptions } from '../../../src/client/reflector/reflector-options.ts';
import { resources } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../../src/client/resources/resource-client.ts';
import { type KubeRequest, type KubeStream, KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import type { TestServer } from '../../support/servers.ts';
import { Facts } from '../manager/facts.ts';

export type ConfigMap = Wire<V1ConfigMap>;

/** A transport that can be told to break what goes over it. */
export class BreakableTransport implements ResourceTransport, AsyncDisposable {
  readonly #inner: KubeTransport;
  readonly #streams = new Set<(line: string) => void>();
  /** Each request: `list`, `stream` or `watch`. */
  readonly log: string[] = [];

  constructor(inner: KubeTransport) {
    this.#inner = inner;
  }

  /** How many watches are under way. */
  get openStreams(): number {
    return this.#streams.size;
  }

  request(request: KubeRequest) {
    this.log.push('list');
    return this.#inner.request(request);
  }

  async stream({ signal, onChunk, ...stream }: KubeStream): Promise<void> {
    this.log.push(stream.query?.has('sendInitialEvents') ? 'stream' : 'watch');
    const ending = new AbortController();
    const end = (): void => ending.abort();
    signal?.addEventListener('abort', end);
    const broken = Promise.withResolvers<never>();
    const say = (line: string): void => {
      if (line === '') ending.abort();
      else
        try {
          onChunk(Buffer.from(line));
        } catch (error) {
          broken.reject(error);
          ending.abort();
        }
    };
    this.#streams.add(say);
    try {
      const live = this.#inner.stream({ ...stream, signal: ending.signal, onChunk });
      live.catch(() => {});
      broken.promise.catch(() => {});
      await Promise.race([live, broken.promise]);
    } finally {
      this.#streams.delete(say);
      signal?.removeEventListener('abort', end);
    }
  }

  /** The open watches get an ERROR event with 410. */
  expireWatches(): void {
    const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    for (const say of this.#streams) say(`\n${JSON.stringify({ type: 'ERROR', object })}\n`);
  }

  /** The open watches break off. */
  cutWatches(): void {
    for (const say of this.#streams) say('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner.close();
  }
}

/** A reflector of the config maps of one namespace, a client that writes them, and what was told. */
export class ReflectedConfigMaps implements AsyncDisposable {
  readonly namespace: string;
  readonly client: ResourceClient<ConfigMap>;
  readonly reflector: Reflector<ConfigMap>;
  readonly transport: BreakableTransport;
  readonly calls: string[] = [];
  readonly #facts = new Facts();
  readonly #writer: KubeTransport;

  constructor(server: TestServer, namespace: string, options: Partial<ReflectorOptions<ConfigMap>> = {}) {
    this.namespace = namespace;
    this.#writer = new KubeTransport(server.kubeConfig());
    this.client = new ResourceClient(this.#writer, resources.configMaps);
    this.transport = new BreakableTransport(new KubeTransport(options.kubeConfig ?? server.kubeConfig()));
    const { kubeConfig: _, ...rest } = options;
    const note = (call: string): void => {
      this.calls.push(call);
      this.#facts.changed();
    };
    this.reflector = new Reflector<ConfigMap>({
      logger: null,
      transport: this.transport,
      resource: resources.configMaps,
      namespace,
      // every namespace of a real server has one that is not the test's
      fieldSelector: 'metadata.name!=kube-root-ca.crt',
      handlers: {
        added: ({ metadata }) => note(`added ${metadata?.name}`),
        updated: ({ metadata }) => note(`updated ${metadata?.name}`),
        deleted: ({ metadata }) => note(`deleted ${metadata?.name}`),
        synced: () => note('synced'),
        interrupted: () => note('interrupted'),
      },
      ...rest,
    });
  }

  get names(): string[] {
    return this.reflector.store.list().map(({ metadata }) => metadata?.name ?? '');
  }

  create(name: string, data: { [key: string]: string } = {}, labels: { [key: string]: string } = {}): Promise<ConfigMap> {
    return this.client.create({ metadata: { namespace: this.namespace, name, labels }, data });
  }

  async change(name: string, data: { [key: string]: string }): Promise<ConfigMap> {
    const body = { data };
    return this.client.patch({ namespace: this.namespace, name }, { type: 'application/merge-patch+json', body });
  }

  async remove(name: string): Promise<void> {
    await this.client.delete({ namespace: this.namespace, name });
  }

  held(name: string): ConfigMap | undefined {
    return this.reflector.store.get(this.namespace, name);
  }

  until(what: string, fact: () => boolean): Promise<boolean> {
    return this.#facts.until(what, fact);
  }

  /** What the server has, as the reflector is to hold it, by name. */
  async served(): Promise<Map<string, ConfigMap>> {
    const { items } = await this.client.list({ namespace: this.namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
    return new Map(
      items.map(({ metadata, ...rest }) => {
        const { managedFields: _, ...kept } = metadata ?? {};
        return [kept.name ?? '', { apiVersion: 'v1', kind: 'ConfigMap', metadata: kept, ...rest }];
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reflector.stop();
    await this.transport[Symbol.asyncDispose]();
    await this.#writer.close();
  }
}
