import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorText } from '../../base/errors.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { BackoffError } from '../../node/workers/backoff-error.ts';
import type { PullSecret } from '../images/keyring.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';
import { VolumeError, type VolumeFailure } from '../volumes/volume-manager.ts';
import type { SyncCgroups, SyncVolumeManager } from './agent-pod-syncer-options.ts';
import { awaitClasses } from './class-updates.ts';
import { cgroupText } from './trouble-words.ts';

export interface PodPreparationOptions {
  readonly volumes: SyncVolumeManager;
  readonly cgroups: SyncCgroups;
  readonly pullSecretsOf: (pod: Pod, signal: AbortSignal) => Promise<readonly PullSecret[]>;
  readonly networkReady: () => { readonly ready: boolean; readonly message?: string | undefined };
  readonly eventRecorder: EventRecorder;
  readonly clock: Clock;
}

/** What the containers of a pod need before any of them is made. */
export interface PreparedPod {
  readonly volumes: PodVolumes;
  readonly pullSecrets: readonly PullSecret[];
}

/** The wait after the first mount that failed, doubled by each further one, and the longest. */
const mountRetry = { firstMs: 500, longestMs: 122_000 };
/** So many volumes have an event of their own at one time. */
const mostMountEvents = 10;

/** Makes what a pod needs beside its containers: its cgroup, volumes, and the secrets for pulling its images. */
export class PodPreparation {
  readonly #options: PodPreparationOptions;
  /** How often the mounts of a pod have failed in turn, by its uid. */
  readonly #mountFailures = new Map<string, number>();
  /** The uids of the pods whose cgroups are known to be there. */
  readonly #grouped = new Set<string>();

  constructor(options: PodPreparationOptions) {
    this.#options = options;
  }

  /**
   * Rejects, after an event that says why, when something cannot be made: with a `BackoffError` for volumes, and with a message that
   * contains "network is not ready" while the runtime has no network.
   */
  async prepare(pod: Pod, signal: AbortSignal): Promise<PreparedPod> {
    const { networkReady, eventRecorder, pullSecretsOf } = this.#options;
    const network = networkReady();
    if (!network.ready && pod.spec?.hostNetwork !== true) {
      const message = `network is not ready: ${network.message ?? ''}`;
      eventRecorder.event(pod, 'Warning', 'NetworkNotReady', message);
      throw new Error(message);
    }
    const [cgroup, volumes, pullSecrets] = await Promise.allSettled([
      this.#withEvent(pod, 'FailedCreatePodContainer', cgroupText, signal, () => this.#group(pod, signal)),
      this.#mount(pod, signal),
      pullSecretsOf(pod, signal),
    ]);
    signal.throwIfAborted();
    if (cgroup.status === 'rejected') throw cgroup.reason;
    if (volumes.status === 'rejected') throw volumes.reason;
    if (pullSecrets.status === 'rejected') throw pullSecrets.reason;
    return { volumes: volumes.value, pullSecrets: pullSecrets.value };
  }

  forget(podUID: string): void {
    this.#mountFailures.delete(podUID);
    this.#grouped.delete(podUID);
  }

  /** The group of the pod's class has its share before the pod takes of it. */
  async #group(pod: Pod, signal: AbortSignal): Promise<void> {
    const { cgroups, clock } = this.#options;
    const podUID = podUIDOf(pod);
    if (!this.#grouped.has(podUID)) await awaitClasses(cgroups, clock, signal);
    signal.throwIfAborted();
    await cgroups.ensurePod(pod);
    this.#grouped.add(podUID);
  }

  async #mount(pod: Pod, signal: AbortSignal): Promise<PodVolumes> {
    const { volumes, clock, eventRecorder } = this.#options;
    const podUID = podUIDOf(pod);
    try {
      const mounted = await volumes.mountVolumes(pod, signal);
      this.#mountFailures.delete(podUID);
      return mounted;
    } catch (error) {
      signal.throwIfAborted();
      const message = errorText(error);
      for (const { reason, message: text } of mountFailures(error)) eventRecorder.event(pod, 'Warning', reason, text);
      const failures = (this.#mountFailures.get(podUID) ?? 0) + 1;
      this.#mountFailures.set(podUID, failures);
      throw new BackoffError(message, clock.now() + nthDelayMs(failures, mountRetry), { cause: error });
    }
  }

  async #withEvent<T>(pod: Pod, reason: string, says: string, signal: AbortSignal, make: () => Promise<T>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      signal.throwIfAborted();
      const message = `${says}: ${errorText(error)}`;
      this.#options.eventRecorder.event(pod, 'Warning', reason, message);
      throw new Error(message, { cause: error });
    }
  }
}

/** One event for each volume that is not ready, where the error says which; of very many the first ones. */
function mountFailures(error: unknown): readonly Pick<VolumeFailure, 'reason' | 'message'>[] {
  if (!(error instanceof VolumeError)) return [{ reason: 'FailedMount', message: errorText(error) }];
  const told = error.failures.slice(0, mostMountEvents);
  const rest = error.failures.length - told.length;
  return rest > 0 ? [...told, { reason: 'FailedMount', message: `${rest} more volumes are not ready` }] : told;
}
