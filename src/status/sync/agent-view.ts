import type { PodDeletionSafety } from '../../pod/pod-deletion-safety.ts';
import { isStaticPod } from '../../pod/pod-identity.ts';
import type { PodManager } from '../../pod/pod-manager.ts';
import type { Logger } from '../../seams/logger.ts';
import type { Pod } from '../../wire/types.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { ApiCopies, ApiPod } from './api-copies.ts';

/** Which pod on the apiserver carries a pod's status. */
export interface ApiTarget {
  /** The mirror pod's uid for a static pod, else the pod's own. */
  readonly apiUID: string;
  /** The pod manager's object with that uid, if it has one. */
  readonly managed: Pod | undefined;
}

/**
 * The agent's side as the sync sees it: its pods and its word on deletion safety. Whatever of it throws counts as
 * the careful answer: containers could run, nothing is reclaimed.
 */
export class AgentView {
  readonly #podManager: PodManager;
  readonly #safety: PodDeletionSafety;
  readonly #copies: ApiCopies;
  readonly #logger: Logger;

  constructor(podManager: PodManager, safety: PodDeletionSafety, copies: ApiCopies, logger: Logger) {
    this.#podManager = podManager;
    this.#safety = safety;
    this.#copies = copies;
    this.#logger = logger;
  }

  pod(podUID: string): Pod | undefined {
    return this.#podManager.getPodByUID(podUID);
  }

  translate(apiUID: string): string {
    return this.#podManager.translatePodUID(apiUID);
  }

  /** The uids that may have an acknowledged version though no status is cached under them. */
  knownMirrorUIDs(): ReadonlyMap<string, string> {
    return this.#podManager.getUIDTranslations().mirrorToPod;
  }

  /** Undefined for a static pod whose mirror pod is not known (yet). */
  target(podUID: string): ApiTarget | undefined {
    const mirrorUID = this.#podManager.getUIDTranslations().podToMirror.get(podUID);
    if (mirrorUID === undefined) return { apiUID: podUID, managed: this.pod(podUID) };
    if (mirrorUID === '') return undefined;
    const pod = this.pod(podUID);
    return { apiUID: mirrorUID, managed: pod && this.#podManager.getMirrorPodByPod(pod) };
  }

  /** The freshest API copy of the pod, or undefined when nothing ordered by a resourceVersion is known. */
  freshest(target: ApiTarget): ApiPod | undefined {
    return this.#copies.freshest(target.apiUID, target.managed);
  }

  podCouldHaveRunningContainers(podUID: string, entry: VersionedPodStatus): boolean {
    return this.#ask('podCouldHaveRunningContainers', podUID, true, () =>
      this.#safety.podCouldHaveRunningContainers(this.#podOrName(podUID, entry)),
    );
  }

  podResourcesAreReclaimed(podUID: string, entry: VersionedPodStatus): boolean {
    return this.#ask('podResourcesAreReclaimed', podUID, false, () =>
      this.#safety.podResourcesAreReclaimed(this.#podOrName(podUID, entry), entry.view),
    );
  }

  /** An ordinary pod that the pod manager still has under this uid. */
  isOrdinaryPod(podUID: string): boolean {
    const pod = this.pod(podUID);
    return pod !== undefined && !isStaticPod(pod) && this.translate(podUID) === podUID;
  }

  /** A pod the pod manager has forgotten is still asked about, by its name and uid. */
  #podOrName(podUID: string, entry: VersionedPodStatus): Pod {
    return this.pod(podUID) ?? { metadata: { uid: podUID, name: entry.podName, namespace: entry.podNamespace } };
  }

  #ask(question: string, podUID: string, careful: boolean, ask: () => boolean): boolean {
    try {
      return ask() === true;
    } catch (error) {
      this.#logger.error({ err: error, podUID, question }, 'PodDeletionSafety threw; the careful answer is taken');
      return careful;
    }
  }
}
