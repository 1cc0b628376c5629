import { setTimeout as wait } from 'node:timers/promises';
import type { V1Secret } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../../src/api/json/types.ts';
import { isStatusManagerError } from '../../../src/base/errors.ts';
import { resources } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { type ObjectManagerOptions, SecretManager } from '../../../src/object-managers.ts';
import { podPullingWith } from '../../support/pods.ts';
import type { TestServer } from '../../support/servers.ts';
import { BreakableTransport } from '../reflector/reflector-fixture.ts';

/** How long a server's cache, or a watch, may lag behind. */
const patienceMs = 20_000;

/** What a read gives: the value, or the code of the error. */
export type ReadValue = string | { readonly code: string };

/** A secret manager, and a client that writes secrets into a namespace of its own. */
export class ManagedSecrets implements AsyncDisposable {
  readonly namespace: string;
  readonly transport: BreakableTransport;
  readonly manager: SecretManager;
  readonly #writer: KubeTransport;
  readonly #client: ResourceClient<Wire<V1Secret>>;

  constructor(server: TestServer, namespace: string, options: ObjectManagerOptions = {}) {
    this.namespace = namespace;
    this.#writer = new KubeTransport(server.kubeConfig());
    this.#client = new ResourceClient(this.#writer, resources.secrets);
    this.transport = new BreakableTransport(new KubeTransport(server.kubeConfig()));
    this.manager = new SecretManager({ logger: null, transport: this.transport, syncTimeoutMs: patienceMs, ...options });
  }

  /** A pod that names these secrets. */
  pod(uid: string, names: readonly string[], phase = 'Running'): Pod {
    return podPullingWith(names, { uid, namespace: this.namespace }, phase);
  }

  create(name: string, value: string, immutable = false): Promise<Wire<V1Secret>> {
    const { namespace } = this;
    return this.#client.create({ metadata: { namespace, name }, stringData: { v: value }, immutable });
  }

  change(name: string, value: string): Promise<Wire<V1Secret>> {
    const body = { stringData: { v: value } };
    return this.#client.patch({ namespace: this.namespace, name }, { type: 'application/merge-patch+json', body });
  }

  async remove(name: string): Promise<void> {
    await this.#client.delete({ namespace: this.namespace, name });
  }

  async read(name: string): Promise<ReadValue> {
    try {
      const { data } = await this.manager.getSecret(this.namespace, name);
      return Buffer.from(data?.v ?? '', 'base64').toString();
    } catch (error) {
      if (isStatusManagerError(error)) return { code: error.code };
      throw error;
    }
  }

  /** Reads until the value has come. Resolves to what was read last, and to every other value before it, in order. */
  async readUntil(name: string, value: string): Promise<ReadValue[]> {
    const seen: ReadValue[] = [];
    const limit = Date.now() + patienceMs;
    for (;;) {
      const read = await this.read(name);
      if (JSON.stringify(read) !== JSON.stringify(seen.at(-1))) seen.push(read);
      if (read === value || Date.now() > limit) return seen;
      await wait(5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.manager.stop();
    await this.transport[Symbol.asyncDispose]();
    await this.#writer.close();
  }
}
