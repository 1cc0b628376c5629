import type { Pod } from '../../api/json/types.ts';
import { isStaticPod } from '../../api/pod/pod-identity.ts';
import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { callGuarded, catchRejection, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { DeletionSafetyFailure, PodDeletionSafety } from '../pods/pod-deletion-safety.ts';
import type { PodManager, UIDTranslations } from '../pods/pod-manager.ts';
import type { VersionedPodStatus } from '../status-cache.ts';
import type { ApiCopies, ApiPod } from './api-copies.ts';
import type { Moment } from './pod-source-view.ts';

/** Which pod on the apiserver carries a pod's status. */
export interface ApiTarget {
  readonly podUID: string;
  /** The mirror pod's uid for a static pod, else the pod's own. */
  readonly apiUID: string;
  /** The pod manager's object with that uid, if it has one. */
  readonly managed: Pod | undefined;
}

type SafetyQuestion = 'podCouldHaveRunningContainers' | 'podResourcesAreReclaimed';

/** What is logged once a pod: an odd answer to a question, a status that cannot be read, or a pod manager that fails. */
type Subject = SafetyQuestion | 'status' | 'pod';

/** The one answer to each question that permits something. Any other answer is the careful one. */
const permission: Readonly<Record<SafetyQuestion, boolean>> = {
  podCouldHaveRunningContainers: false,
  podResourcesAreReclaimed: true,
};

/**
 * The agent's pods and its deletion safety, as the sync asks for them.
 *
 * A question about safety never throws. Any answer but the one boolean that permits is the careful answer, a promise
 * included; the log names such an answer once a pod. A question to the pod manager throws when the pod manager throws, or
 * when its answer breaks its contract: the caller leaves the pod as it is, and the next batch looks again.
 */
export class AgentView {
  readonly #podManager: PodManager;
  readonly #safety: PodDeletionSafety;
  readonly #copies: ApiCopies;
  readonly #logger: Logger;
  /** Pods with a status that the pod manager has shown. */
  readonly #shown = new LateSet<string>();
  /** By pod: what is in the log already. */
  readonly #reported = new LateMap<string, Set<Subject>>();

  constructor(podManager: PodManager, safety: PodDeletionSafety, copies: ApiCopies, logger: Logger) {
    this.#podManager = podManager;
    this.#safety = safety;
    this.#copies = copies;
    this.#logger = logger;
  }

  pod(podUID: string): Pod | undefined {
    const pod = this.#podManager.getPodByUID(podUID);
    return pod === undefined ? undefined : this.#checkedPod('getPodByUID', pod);
  }

  /** A mirror pod's uid becomes its static pod's. */
  translate(apiUID: string): string {
    const podUID = this.#podManager.translatePodUID(apiUID);
    return typeof podUID === 'string' ? podUID : this.#refuse('translatePodUID', 'a string', podUID);
  }

  /** The uids that may have an acknowledged version though no status is cached under them. */
  knownMirrorUIDs(): ReadonlyMap<string, string> {
    return this.#translations().mirrorToPod;
  }

  /** Undefined for a static pod whose mirror pod is not known (yet). */
  target(podUID: string): ApiTarget | undefined {
    const mirrorUID = this.#translations().podToMirror.get(podUID);
    if (mirrorUID === undefined) return { podUID, apiUID: podUID, managed: this.pod(podUID) };
    if (mirrorUID === '') return undefined;
    const pod = this.pod(podUID);
    const mirrorPod = pod && this.#podManager.getMirrorPodByPod(pod);
    return { podUID, apiUID: mirrorUID, managed: mirrorPod && this.#checkedPod('getMirrorPodByPod', mirrorPod) };
  }

  /**
   * The freshest API copy of the pod, or undefined when nothing ordered by a resourceVersion is known. An object of the pod
   * manager whose status cannot be read counts as none, and is logged once a pod.
   */
  freshest({ podUID, apiUID, managed }: ApiTarget): ApiPod | undefined {
    try {
      return this.#copies.freshest(apiUID, managed);
    } catch (err) {
      if (this.#isFirst('status', podUID)) {
        const fields = { ...podFields(managed?.metadata), podUID, err };
        this.#logger.error(
          fields,
          'the pod manager has a pod whose status cannot be read; it is read from the apiserver instead',
        );
      }
      return undefined;
    }
  }

  /** The freshest API copy, or the pod manager's object where nothing says how fresh it is. */
  copyToCompare(target: ApiTarget): ApiPod | undefined {
    const { managed } = target;
    const copy = this.freshest(target);
    if (copy !== undefined || managed === undefined || managed.metadata?.resourceVersion) return copy;
    return callGuarded(() => this.#copies.read(managed), ignoreFailure);
  }

  /** True when the pod source has begun and delivered a full list since that moment. */
  wasListedSince(moment: Moment): boolean {
    return this.#copies.wasListedSince(moment);
  }

  podCouldHaveRunningContainers(podUID: string, entry: VersionedPodStatus): boolean {
    return !this.#permits('podCouldHaveRunningContainers', podUID, entry, (pod) =>
      this.#safety.podCouldHaveRunningContainers(pod),
    );
  }

  podResourcesAreReclaimed(podUID: string, entry: VersionedPodStatus): boolean {
    return this.#permits('podResourcesAreReclaimed', podUID, entry, (pod) =>
      this.#safety.podResourcesAreReclaimed(pod, entry.view),
    );
  }

  /** Why the deletion safety could not say what is left of the pod; undefined where it could, and where it tells nothing of that. */
  safetyFailure(podUID: string): DeletionSafetyFailure | undefined {
    return callGuarded(() => {
      const found = this.#safety.failureOf?.(podUID);
      return typeof found?.method === 'string' && typeof found.message === 'string' ? found : undefined;
    }, ignoreFailure);
  }

  /** The pods that have a `safetyFailure`. */
  unsafePods(): readonly string[] {
    return (
      callGuarded(() => [...(this.#safety.failedPods?.() ?? [])].filter((uid) => typeof uid === 'string'), ignoreFailure) ?? []
    );
  }

  /** An ordinary pod that the pod manager still has under this uid. */
  isOrdinaryPod(podUID: string): boolean {
    const pod = this.pod(podUID);
    return pod !== undefined && !isStaticPod(pod) && this.translate(podUID) === podUID;
  }

  /** Remembers whether the pod manager shows this pod, which has a status. Never throws. */
  notePod(podUID: string): void {
    if (this.#shown.has(podUID)) return;
    if (callGuarded(() => this.pod(podUID), ignoreFailure) !== undefined) this.#shown.add(podUID);
  }

  /** True when the pod manager has shown the pod, and shows it no more. */
  hasVanished(podUID: string): boolean {
    return this.#shown.has(podUID) && this.pod(podUID) === undefined;
  }

  /** The pod's status was dropped. */
  forget(podUID: string): void {
    this.#shown.delete(podUID);
    this.#reported.delete(podUID);
  }

  /**
   * A pod that the pod manager has forgotten is still asked about, by its name and uid. Undefined where the pod manager fails:
   * it is logged once a pod.
   */
  #podOrName(podUID: string, entry: VersionedPodStatus): Pod | undefined {
    try {
      return this.pod(podUID) ?? { metadata: { uid: podUID, name: entry.podName, namespace: entry.podNamespace } };
    } catch (err) {
      if (this.#isFirst('pod', podUID)) {
        const fields = { ...namesOf(podUID, entry), err };
        this.#logger.error(
          fields,
          'the pod manager failed; nothing of the pod counts as ended, and this pod is not reported again',
        );
      }
      return undefined;
    }
  }

  #permits(question: SafetyQuestion, podUID: string, entry: VersionedPodStatus, ask: (pod: Pod) => unknown): boolean {
    const pod = this.#podOrName(podUID, entry);
    if (pod === undefined) return false;
    try {
      const answer = ask(pod);
      if (typeof answer === 'boolean') return answer === permission[question];
      // a promise is reported as such, at once: what it rejects with later would be about a pod that may be gone
      catchRejection(answer, ignoreFailure);
      this.#report(question, podUID, entry, { type: typeof answer });
    } catch (err) {
      this.#report(question, podUID, entry, { err });
    }
    return false;
  }

  #report(question: SafetyQuestion, podUID: string, entry: VersionedPodStatus, why: { type?: string; err?: unknown }): void {
    if (!this.#isFirst(question, podUID)) return;
    this.#logger.error(
      { ...namesOf(podUID, entry), question, ...why },
      'the pod deletion safety gave no boolean; the careful answer is taken, and this pod is not reported again',
    );
  }

  /** True the first time that something of this pod is to be reported. */
  #isFirst(subject: Subject, podUID: string): boolean {
    const reported = this.#reported.get(podUID) ?? new Set();
    this.#reported.set(podUID, reported);
    if (reported.has(subject)) return false;
    reported.add(subject);
    return true;
  }

  #translations(): UIDTranslations {
    const translations: unknown = this.#podManager.getUIDTranslations();
    const { podToMirror, mirrorToPod } = (translations ?? {}) as Partial<UIDTranslations>;
    if (isMap(podToMirror) && isMap(mirrorToPod)) return { podToMirror, mirrorToPod };
    return this.#refuse('getUIDTranslations', 'two maps', translations);
  }

  #checkedPod(method: keyof PodManager, answer: unknown): Pod {
    const pod = answer as Pod | null;
    if (typeof pod?.metadata?.uid === 'string') return pod;
    return this.#refuse(method, 'a pod or undefined', answer);
  }

  /** A promise where none belongs may reject: that must not end the process. */
  #refuse(method: keyof PodManager, rule: string, answer: unknown): never {
    catchRejection(answer, (err) => this.#logger.error({ err, method }, 'the pod manager rejected'));
    throw new TypeError(`${method}() of the pod manager must return ${rule}, and returned ${typeof answer}`);
  }
}

function namesOf(podUID: string, { podNamespace, podName }: VersionedPodStatus): PodFields {
  return podFields({ uid: podUID, namespace: podNamespace, name: podName });
}

function isMap(value: unknown): value is ReadonlyMap<string, string> {
  return typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function';
}
