import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../api/json/types.ts';
import { podConfigMapNames } from '../../api/pod/pod-references.ts';
import type { StatusManagerError } from '../../base/errors.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ObjectManager, type ObjectManagerOptions } from './object-manager.ts';
import type { Frozen } from './object-reader.ts';

/** A config map as JSON on the wire, read-only: the values of `binaryData` are base64. */
export type FrozenConfigMap = Frozen<Wire<V1ConfigMap>>;

/**
 * The config maps that registered pods name, by one of three strategies. What it keeps is bounded by what they name. Values
 * of config maps are in nothing that it logs, throws, measures or shows of itself.
 *
 * It starts by itself with the first pod, or the first read; `stop()` ends it.
 *
 * @example
 * ```ts with-server
 * import { ConfigMapManager } from 'pod-status-manager/object-managers';
 * import { resources } from 'pod-status-manager/reflector';
 * import { buildPod } from 'pod-status-manager/testing';
 *
 * server.objects(resources.configMaps).create({ metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'green' } });
 * const manager = new ConfigMapManager({ kubeConfig });
 * const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
 * manager.registerPod(buildPod({ spec: { volumes } }));
 * console.log((await manager.getConfigMap('default', 'settings')).data?.colour); // green
 * await manager.stop();
 * ```
 */
export class ConfigMapManager {
  readonly #configMaps: ObjectManager<Wire<V1ConfigMap>>;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ObjectManagerOptions) {
    this.#configMaps = new ObjectManager(
      { resource: resources.configMaps, namesOf: podConfigMapNames, owner: 'config map manager' },
      options,
    );
  }

  /**
   * The config map, frozen. With the strategies `watch` and `cache` every caller gets the same object until it changes, and while
   * a registered pod names it never a version older than one given out before, unless etcd was set back.
   *
   * Rejects with ERR_NOT_REGISTERED where no registered pod names it (not with strategy `get`), ERR_NOT_FOUND where the
   * apiserver has none, ERR_SYNC_TIMEOUT where its watch has not brought it in time, the `ApiError` of the request that
   * failed, ERR_OVER_BUDGET where its pods may not have so much, ERR_INVALID_ARGUMENT for a name that fits in no path, ERR_STOPPED
   * after `stop()`.
   */
  getConfigMap(namespace: string, name: string): Promise<FrozenConfigMap> {
    return this.#configMaps.get({ namespace, name });
  }

  /**
   * Counts the pod's references, in place of those it had before under its uid, name and namespace. A pod that has ended
   * (phase Succeeded or Failed) has none. Waits for nothing. Throws ERR_INVALID_ARGUMENT for a pod without a uid, name or
   * namespace, and ERR_STOPPED after `stop()`. A pod that names more than the budget allows has none: see {@link refusalOf}.
   */
  registerPod(pod: Pod): void {
    this.#configMaps.register(pod);
  }

  /**
   * Lets go of the references the pod was registered with. What no other pod refers to is forgotten, and its watch closed.
   * Throws ERR_INVALID_ARGUMENT for a pod without a uid, name or namespace.
   */
  unregisterPod(pod: Pod): void {
    this.#configMaps.unregister(pod);
  }

  /**
   * Why nothing is read for a registered pod: it names more than the budget allows. Undefined where it does not. The error's
   * code is ERR_OVER_BUDGET, and its message names the pod, the budget, and what would help.
   */
  refusalOf(pod: Pod): StatusManagerError | undefined {
    return this.#configMaps.refusalOf(pod);
  }

  /** When it resolves, there is no request, no watch, no timer and no socket of its own left. A read under way fails with ERR_STOPPED. */
  stop(): Promise<void> {
    return this.#configMaps.stop();
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Gives config maps. */
export interface ConfigMapReader {
  /** Rejects with ERR_NOT_FOUND where there is none. */
  getConfigMap(namespace: string, name: string): Promise<FrozenConfigMap>;
}
