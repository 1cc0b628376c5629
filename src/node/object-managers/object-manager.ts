import type { Pod } from '../../api/json/types.ts';
import { isStatusManagerError, type StatusManagerError } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import { ResourceClient } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import { CachedObjects } from './cached-objects.ts';
import { DirectObjects } from './direct-objects.ts';
import type { Frozen } from './frozen.ts';
import { stopped } from './object-errors.ts';
import { checkedOptions, type ObjectManagerOptions } from './object-manager-options.ts';
import { type NamespacedName, requireObjectName } from './object-name.ts';
import type { ObjectReader } from './object-reader.ts';
import { RegisteredPods } from './registered-pods.ts';
import type { MaybeImmutable } from './watched-object.ts';
import { WatchedObjects } from './watched-objects.ts';

/** What there is one manager for. */
export interface ManagedResource<T extends MaybeImmutable> {
  readonly resource: ApiResource<T>;
  /** The names of the objects that a pod refers to. */
  readonly namesOf: (pod: Pod) => ReadonlySet<string>;
  /** Of the manager, in errors. */
  readonly owner: string;
}

/** What a manager of secrets and one of config maps have in common: pods, a strategy, and an end. */
export class ObjectManager<T extends MaybeImmutable> {
  readonly #owner: string;
  readonly #logger: Logger;
  readonly #reader: ObjectReader<T>;
  readonly #pods: RegisteredPods;
  /** Closed by `stop()`; undefined where the transport is the caller's. */
  readonly #ownTransport: KubeTransport | undefined;
  readonly #reads = new Set<Promise<T>>();
  #stopped: Promise<void> | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor({ resource, namesOf, owner }: ManagedResource<T>, options: ObjectManagerOptions) {
    const checked = checkedOptions(options);
    const { kubeConfig, clock, logger, strategy } = checked;
    this.#ownTransport = kubeConfig && new KubeTransport(kubeConfig, { clock, logger });
    const transport = checked.transport ?? (this.#ownTransport as KubeTransport);
    const client = new ResourceClient(transport, resource);
    if (strategy === 'watch') this.#reader = new WatchedObjects<T>({ ...checked, transport, resource });
    else if (strategy === 'cache') this.#reader = new CachedObjects(client, checked);
    else this.#reader = new DirectObjects(client, checked.budget);
    this.#owner = owner;
    this.#logger = logger;
    this.#pods = new RegisteredPods(namesOf, this.#reader, checked.budget);
  }

  async get(object: NamespacedName): Promise<Frozen<T>> {
    if (this.#stopped !== undefined) throw stopped(this.#owner);
    requireObjectName(object);
    const read = this.#reader.get(object);
    this.#reads.add(read);
    try {
      return (await read) as Frozen<T>;
    } catch (error) {
      // the request was given up
      if (this.#stopped !== undefined) throw stopped(this.#owner);
      throw (isStatusManagerError(error, 'ERR_NOT_REGISTERED') && this.#pods.refusalIn(object.namespace)) || error;
    } finally {
      this.#reads.delete(read);
    }
  }

  register(pod: Pod): void {
    if (this.#stopped !== undefined) throw stopped(this.#owner);
    const isRefused = this.#pods.refusalOf(pod) !== undefined;
    const err = this.#pods.register(pod);
    if (err === undefined || isRefused) return;
    const { namespace: podNamespace, name: podName, uid: podUID } = pod.metadata ?? {};
    this.#logger.warn({ err, podNamespace, podName, podUID }, 'a pod names too many objects: none of them is read for it');
  }

  refusalOf(pod: Pod): StatusManagerError | undefined {
    return this.#pods.refusalOf(pod);
  }

  unregister(pod: Pod): void {
    this.#pods.unregister(pod);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#pods.clear();
    await Promise.allSettled([this.#reader.stop(), ...this.#reads]);
    await this.#ownTransport?.close();
  }
}
