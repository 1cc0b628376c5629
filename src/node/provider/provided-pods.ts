import type { Pod, WireContainerStatus } from '../../api/json/types.ts';
import { isStaticPod, isTerminalPhase, podFullName, requirePod } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { RunningPod, RuntimeContainerState, RuntimeContainerStatus, RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import type { RuntimeStatusCache } from '../workers/pod-syncer.ts';
import type { PodProvider } from './pod-provider.ts';
import { ProvidedPod, withStartOf } from './provided-pod.ts';
import { hasBeenRun } from './provided-status.ts';

export interface ProvidedPodsOptions {
  readonly provider: PodProvider;
  readonly nodeName: string | undefined;
  readonly namespace: string | undefined;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** How often a provider is asked for its list, in milliseconds. */
const listIntervalMs = 30_000;

/**
 * The records of all pods that the provider was given or has. To the workers it is the runtime's status cache, which answers
 * from memory: the syncer asks the provider itself. To the sync loop it is the runtime that lists what runs.
 */
export class ProvidedPods implements RuntimeStatusCache {
  readonly #options: ProvidedPodsOptions;
  readonly #records = new LateMap<string, ProvidedPod>();
  readonly #names = new PodNames();
  /** What the provider listed last, by uid. */
  #listed = new Map<string, Pod>();
  #listedNames = new PodNames();
  /** When the last call of `getPods` began, by `clock.elapsed()`. */
  #listedAt = Number.NEGATIVE_INFINITY;
  /** The number of the last call of `getPods`, and of the one whose list is known. */
  #lastCall = 0;
  #listedCall = 0;
  #hasSaidOfOthers = false;
  #changes = 0;
  /** Pods that an earlier run has begun, while the provider has not adopted them. */
  #unadopted = new Set<string>();

  /** `nodeName`, `namespace`: what the provider lists of other nodes and namespaces is none of the node's. */
  constructor(options: ProvidedPodsOptions) {
    this.#options = options;
  }

  /** Grows with each list of the provider, and once it has adopted its pods: what runs may be other pods then. */
  get changes(): number {
    return this.#changes;
  }

  /** True once the provider has given a list of its pods, and for one that never does. */
  get hasList(): boolean {
    return this.#listedCall > 0 || this.#options.provider.getPods === undefined;
  }

  /** The record of the pod; undefined for one that the provider was not given and does not have. */
  find(podUID: string): ProvidedPod | undefined {
    return this.#records.get(podUID);
  }

  /** The records of all pods, in the order in which they came. */
  all(): Iterable<ProvidedPod> {
    return this.#records.values();
  }

  /** False for a pod that has ended, and for one that neither the agent nor the provider has named. */
  mayRun(podUID: string): boolean {
    const record = this.#records.get(podUID);
    return record === undefined ? this.#listed.has(podUID) : !record.isTerminated;
  }

  /** Until `noteAdopted` the provider's word that there is none of these pods does not count. */
  awaitAdoption(podUIDs: Iterable<string>): void {
    this.#unadopted = new Set(podUIDs);
  }

  /** The provider has adopted them: which of them it does not have is found out anew. */
  noteAdopted(): void {
    this.#changes += 1;
    for (const podUID of this.#unadopted) {
      const record = this.#records.get(podUID);
      if (record !== undefined) record.isUnlisted = false;
    }
    this.#unadopted = new Set();
  }

  /** The provider knew the pod without having adopted it, and has deleted it: its word counts from now on. */
  noteDeleted(podUID: string): void {
    this.#unadopted.delete(podUID);
  }

  /** True for a pod that an earlier run has begun, while the provider has not adopted it. */
  isUnadopted(podUID: string): boolean {
    return this.#unadopted.has(podUID);
  }

  /** The record of the pod, with this object as its newest version. */
  take(pod: Pod): ProvidedPod {
    const uid = requirePod(pod);
    const known = this.#records.get(uid);
    this.#names.set(uid, pod);
    if (known !== undefined) {
      known.pod = pod;
      if (known.isTerminated) known.beginAgain();
      return known;
    }
    const record = new ProvidedPod(uid, pod, this.#options.clock.now());
    const listed = this.#listed.get(uid);
    // the version of it that an earlier run of the agent gave
    if (listed?.spec !== undefined) record.given = callGuarded(() => withStartOf(listed, pod), ignoreFailure);
    const toldStatus = callGuarded(() => canonicalPodStatus(pod.status ?? {}), ignoreFailure);
    record.isHeld = listed !== undefined || hasBeenRun(toldStatus);
    record.isUnlisted = record.isHeld && this.#listedCall > 0 && listed === undefined;
    this.#records.set(uid, record);
    return record;
  }

  /** The record of a pod that the agent has no object of. */
  takeRunning({ uid, name, namespace }: RunningPod): ProvidedPod {
    return this.#records.get(uid) ?? this.take(this.#listed.get(uid) ?? { metadata: { uid, name, namespace } });
  }

  /** The uid of another pod of the same full name that the provider still has, or may have. A static pod has none. */
  namesakeOf({ uid, pod }: ProvidedPod): string | undefined {
    if (isStaticPod(pod)) return undefined;
    for (const otherUID of this.#names.uidsOf(pod)) {
      const other = otherUID === uid ? undefined : this.#records.get(otherUID);
      if (other === undefined) continue;
      if ((other.isHeld && !other.isDeleted) || (other.change !== undefined && !other.isTerminated)) return otherUID;
    }
    for (const otherUID of this.#listedNames.uidsOf(pod)) {
      if (otherUID !== uid && !this.#records.has(otherUID)) return otherUID;
    }
    return undefined;
  }

  /** Nothing is left to do for the pod. It is remembered while the provider has something of it, or may yet have. */
  noteTerminated(record: ProvidedPod): void {
    record.isTerminated = true;
    const { uid, isHeld, change } = record;
    if (!isHeld && change === undefined && !this.#listed.has(uid)) this.#forget(uid);
  }

  get(podUID: string): RuntimePodStatus {
    const record = this.#records.get(podUID);
    if (!record?.isAsked) throw new Error(`the provider was not asked for pod ${podUID} yet`);
    return runtimeStatus(record);
  }

  /** Resolves at once: each call of the syncer asks the provider anew. */
  getNewerThan(podUID: string): Promise<RuntimePodStatus> {
    const record = this.#records.get(podUID);
    return Promise.resolve(record === undefined ? { podUID, ips: [], containers: [], sandboxes: [] } : runtimeStatus(record));
  }

  /**
   * What the provider listed last, at most half a minute ago, and what it was given and has, as far as is known. What was deleted
   * counts no more, so that a list may be older than that.
   */
  async getPods(signal: AbortSignal): Promise<RunningPod[]> {
    if (this.#options.clock.elapsed() - this.#listedAt >= listIntervalMs) await this.list(signal);
    const running = new Map<string, RunningPod>();
    for (const [uid, pod] of this.#listed) if (!this.#records.get(uid)?.isDeleted) running.set(uid, runningPod(uid, pod));
    for (const [uid, record] of this.#records) {
      if (record.isHeld && !record.isDeleted) running.set(uid, runningPod(uid, record.pod));
      else if (record.isTerminated && record.change === undefined && !this.#listed.has(uid)) this.#forget(uid);
    }
    return [...running.values()];
  }

  #forget(podUID: string): void {
    this.#records.delete(podUID);
    this.#names.delete(podUID);
  }

  /** Asks the provider for its list, if it has one. Rejects as it does, and for an answer that is no list. */
  async list(signal: AbortSignal): Promise<void> {
    const { provider, clock } = this.#options;
    if (provider.getPods === undefined) return;
    // one that fails is not repeated sooner either
    this.#listedAt = clock.elapsed();
    this.#lastCall += 1;
    const call = this.#lastCall;
    const answer: unknown = await provider.getPods({ signal });
    // one that comes after a newer list says nothing
    if (call < this.#listedCall) return;
    if (!Array.isArray(answer)) throw new TypeError('getPods() of the provider must answer with a list of pods');
    const listed = new Map<string, Pod>();
    const names = new PodNames();
    for (const pod of answer as readonly Pod[]) {
      const uid = callGuarded(() => requirePod(pod), ignoreFailure);
      if (uid === undefined) continue;
      if (!this.#isOwn(pod)) continue;
      listed.set(uid, pod);
      names.set(uid, pod);
    }
    this.#changes += 1;
    this.#listed = listed;
    this.#listedNames = names;
    const isFirst = this.#listedCall === 0;
    this.#listedCall = call;
    if (isFirst) this.#noteFirstList();
  }

  /** The first list has come after pods that an earlier run has told to run: those that it lacks are lost. */
  #noteFirstList(): void {
    for (const record of this.#records.values()) {
      const { uid, isHeld, answer, given, change } = record;
      // what this run has created, or the provider has answered for, is known better
      if (answer !== undefined || given !== undefined || change !== undefined) continue;
      const listed = this.#listed.get(uid);
      if (listed === undefined) record.isUnlisted = isHeld;
      else record.isHeld = true;
    }
  }

  /** False for a pod that is another node's, or of a namespace that is not this node's. A pod that does not say is its own. */
  #isOwn({ metadata, spec }: Pod): boolean {
    const { nodeName, namespace, logger } = this.#options;
    if (namespace !== undefined && metadata?.namespace !== namespace) return false;
    if (nodeName === undefined || !spec?.nodeName || spec.nodeName === nodeName) return true;
    if (!this.#hasSaidOfOthers) {
      this.#hasSaidOfOthers = true;
      const fields = { ...podFields(metadata), node: spec.nodeName };
      logger.warn(fields, 'getPods() of the provider lists pods of other nodes; they are left alone');
    }
    return false;
  }
}

function runningPod(uid: string, { metadata }: Pod): RunningPod {
  return { uid, name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' };
}

function runtimeStatus({ uid, pod, answer }: ProvidedPod): RuntimePodStatus {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  const { phase, containerStatuses = [], initContainerStatuses = [], podIPs = [] } = answer ?? {};
  const isAlive = answer !== undefined && !isTerminalPhase(phase);
  return {
    podUID: uid,
    name,
    namespace,
    ips: podIPs.map(({ ip }) => ip),
    containers: [...containerStatuses, ...initContainerStatuses].map(runtimeContainer),
    sandboxes: answer === undefined ? [] : [{ ready: isAlive }],
  };
}

function runtimeContainer({ name, state, containerID, restartCount }: WireContainerStatus): RuntimeContainerStatus {
  const exitCode = state?.terminated?.exitCode;
  const is: RuntimeContainerState = state?.running ? 'running' : state?.terminated ? 'exited' : 'created';
  return { id: containerID ?? `provider://${name}`, name, state: is, restartCount, ...(exitCode !== undefined && { exitCode }) };
}

/** Pods by full name. Static pods have no namesakes and are left out. */
class PodNames {
  readonly #names = new LateMap<string, string>();
  readonly #uids = new LateMap<string, Set<string>>();

  /** The pod in the place of what was there of its uid. */
  set(podUID: string, pod: Pod): void {
    const name = isStaticPod(pod) ? undefined : podFullName(pod);
    if (this.#names.get(podUID) === name) return;
    this.delete(podUID);
    if (name === undefined) return;
    this.#names.set(podUID, name);
    const uids = this.#uids.get(name);
    if (uids === undefined) this.#uids.set(name, new Set([podUID]));
    else uids.add(podUID);
  }

  delete(podUID: string): void {
    const name = this.#names.get(podUID);
    if (name === undefined) return;
    this.#names.delete(podUID);
    const uids = this.#uids.get(name);
    uids?.delete(podUID);
    if (uids?.size === 0) this.#uids.delete(name);
  }

  uidsOf(pod: Pod): Iterable<string> {
    return this.#uids.get(podFullName(pod)) ?? [];
  }
}
