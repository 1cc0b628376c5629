import type { Pod, PodStatus } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { RuntimeContainer } from '../../api/pod/runtime-pod.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import { errorText } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';

/** What the agent knows about the safety of ending a pod. Both methods get the agent's pod (for a static pod the static one). */
export interface PodDeletionSafety {
  /** While true, no terminal phase is written. */
  podCouldHaveRunningContainers(pod: Pod): boolean;
  /** True when containers have stopped, the runtime cache is empty, and volumes and cgroup are gone. */
  podResourcesAreReclaimed(pod: Pod, status: PodStatus): boolean;
  /** Why it could not be said of a pod; undefined where the last question was answered. Without this method nothing is told of it. */
  failureOf?(podUID: string): DeletionSafetyFailure | undefined;
  /** The uids of the pods for which `failureOf` has an answer. */
  failedPods?(): Iterable<string>;
}

/** A question about a pod that was not answered. */
export interface DeletionSafetyFailure {
  /** Who has failed: `runtimeCache.getContainers`. */
  readonly method: string;
  /** What it threw, in words. */
  readonly message: string;
}

// Behaviour of the classic kubelet's PodResourcesAreReclaimed, over probes.

/** The agent's cache of what the container runtime lists. Both methods answer from memory, at once. */
export interface RuntimeCacheProbe {
  /** True once the runtime has been listed for the first time: before that, an empty list means nothing. */
  hasSynced(): boolean;
  /** All containers of the pod that the runtime still lists, exited ones that are not removed yet included. */
  getContainers(podUID: string): readonly Pick<RuntimeContainer, 'state'>[];
}

/** What the agent's volume manager says of a pod. */
export interface VolumesProbe {
  /** True while any volume of the pod is still mounted, or its directory is still there. */
  podVolumesExist(podUID: string): boolean;
}

/** What the agent says of the cgroups of its pods. */
export interface CgroupsProbe {
  /** True while the pod's own cgroup is still there. */
  podCgroupExists(pod: Pod): boolean;
}

/** The agent's answers that a {@link DefaultPodDeletionSafety} asks for. */
export interface DefaultPodDeletionSafetyOptions {
  /** The containers as the container runtime lists them. */
  readonly runtimeCache: RuntimeCacheProbe;
  /** Without it volumes are not asked about. */
  readonly volumes?: VolumesProbe;
  /** Without it cgroups are not asked about. */
  readonly cgroups?: CgroupsProbe;
  /** The volumes of an ended pod stay, so they are not waited for. Default false. */
  readonly keepTerminatedPodVolumes?: boolean;
  /** Every pod has a cgroup of its own, which must be gone. Default true. */
  readonly cgroupsPerQOS?: boolean;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

const optionNames = [
  'runtimeCache',
  'volumes',
  'cgroups',
  'keepTerminatedPodVolumes',
  'cgroupsPerQOS',
  'logger',
] as const satisfies readonly (keyof DefaultPodDeletionSafetyOptions)[];

/**
 * Answers from what the node's runtime, volumes and cgroups look like now. In doubt the pod is kept: until the runtime
 * cache has synced, and whenever a probe throws or answers with something else than it should (a promise, say), containers
 * could run and nothing is reclaimed.
 *
 * @example
 * ```ts
 * import { DefaultPodDeletionSafety } from 'pod-status-manager';
 *
 * const running = new Set(['u1']); // your container runtime's own list
 * const safety = new DefaultPodDeletionSafety({
 *   runtimeCache: { hasSynced: () => true, getContainers: (podUID) => (running.has(podUID) ? [{ state: 'running' }] : []) },
 * });
 * console.log(safety.podCouldHaveRunningContainers({ metadata: { uid: 'u1' } })); // true
 * ```
 */
export class DefaultPodDeletionSafety implements PodDeletionSafety {
  readonly #runtimeCache: RuntimeCacheProbe;
  readonly #volumes: VolumesProbe | undefined;
  readonly #cgroups: CgroupsProbe | undefined;
  readonly #logger: Logger;
  readonly #failures = new BoundedMap<string, DeletionSafetyFailure>(mostFailures);

  /** Throws ERR_INVALID_OPTION for an option that is unknown, and for a part that lacks a method. */
  constructor(options: DefaultPodDeletionSafetyOptions) {
    requireKnownOptions('options', options, optionNames);
    const { runtimeCache, volumes, cgroups, keepTerminatedPodVolumes = false, cgroupsPerQOS = true, logger } = options;
    requireMethods('runtimeCache', runtimeCache, ['hasSynced', 'getContainers']);
    if (volumes !== undefined) requireMethods('volumes', volumes, ['podVolumesExist']);
    if (cgroups !== undefined) requireMethods('cgroups', cgroups, ['podCgroupExists']);
    optionOfType('keepTerminatedPodVolumes', keepTerminatedPodVolumes, 'boolean');
    optionOfType('cgroupsPerQOS', cgroupsPerQOS, 'boolean');
    this.#runtimeCache = runtimeCache;
    this.#volumes = keepTerminatedPodVolumes ? undefined : volumes;
    this.#cgroups = cgroupsPerQOS ? cgroups : undefined;
    this.#logger = loggerOption(logger);
  }

  /** False only when the runtime is known, and lists no container of the pod that has not exited. */
  podCouldHaveRunningContainers(pod: Pod): boolean {
    this.#begin(pod);
    const containers = this.#listContainers(pod);
    return containers === undefined || containers.some(({ state }) => state !== 'exited');
  }

  /**
   * True when no regular container of `status` runs, the runtime lists nothing of the pod any more, and its volumes and
   * cgroup are gone. The log says, at debug level, which of these fails.
   */
  podResourcesAreReclaimed(pod: Pod, status: PodStatus): boolean {
    this.#begin(pod);
    if (status.containerStatuses?.some(({ state }) => !state?.terminated && !state?.waiting)) {
      return this.#notReclaimed(pod, 'some containers still run');
    }
    const containers = this.#listContainers(pod);
    if (containers === undefined) return this.#notReclaimed(pod, 'the runtime cache has no answer');
    if (containers.length > 0) return this.#notReclaimed(pod, 'the runtime still lists containers');
    const volumes = this.#volumes;
    if (volumes && this.#ask(pod, 'volumes.podVolumesExist', () => volumes.podVolumesExist(uidOf(pod))) !== false) {
      return this.#notReclaimed(pod, 'volumes are still there');
    }
    const cgroups = this.#cgroups;
    if (cgroups && this.#ask(pod, 'cgroups.podCgroupExists', () => cgroups.podCgroupExists(pod)) !== false) {
      return this.#notReclaimed(pod, 'the pod cgroup is still there');
    }
    return true;
  }

  /** Why the last question about the pod was not answered. At most 1000 pods are remembered. */
  failureOf(podUID: string): DeletionSafetyFailure | undefined {
    return this.#failures.get(podUID);
  }

  /** The uids of the pods about which the last question was not answered. */
  failedPods(): Iterable<string> {
    return [...this.#failures.keys()];
  }

  /** A question is answered anew. */
  #begin({ metadata }: Pod): void {
    this.#failures.delete(metadata?.uid ?? '');
  }

  /** Undefined while the runtime cannot be known. A mistaken answer must not look like "no containers". */
  #listContainers(pod: Pod): readonly Pick<RuntimeContainer, 'state'>[] | undefined {
    if (this.#ask(pod, 'runtimeCache.hasSynced', () => this.#runtimeCache.hasSynced()) !== true) return undefined;
    const containers: unknown = this.#ask(pod, 'runtimeCache.getContainers', () => this.#runtimeCache.getContainers(uidOf(pod)));
    if (Array.isArray(containers)) return containers;
    if (containers !== undefined)
      this.#failed(pod, 'runtimeCache.getContainers', new TypeError('getContainers() must return an array'));
    return undefined;
  }

  /** Undefined when the method throws. A promise is no answer; what it rejects with is logged. */
  #ask<T>(pod: Pod, method: string, ask: () => T): T | undefined {
    return callGuarded(ask, (error) => this.#failed(pod, method, error));
  }

  #failed(pod: Pod, method: string, error: unknown): void {
    const podUID = pod.metadata?.uid ?? '';
    if (podUID !== '') this.#failures.set(podUID, { method, message: errorText(error) });
    const fields = { ...podFields(pod.metadata), method, err: error, help };
    this.#logger.warn(fields, 'it could not be asked what is left of a pod; the pod is kept, and its terminal phase waits');
  }

  #notReclaimed(pod: Pod, reason: string): false {
    this.#logger.debug({ ...podFields(pod.metadata), reason }, 'pod resources are not reclaimed yet');
    return false;
  }
}

/** So many pods' failures are remembered; the oldest is forgotten first. */
const mostFailures = 1000;

const help = 'Mend the method that is named: until it answers, the pod counts as one that could still run.';

function uidOf(pod: Pod): string {
  const uid = pod.metadata?.uid;
  if (!uid) throw new TypeError('the pod has no uid');
  return uid;
}
