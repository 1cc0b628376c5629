import type { V1PodStatus } from '@kubernetes/client-node';
import type { WirePodStatus } from '../../api/json/types.ts';
import { podStatusView } from '../canonical/pod-status-view.ts';

export interface PodStatusEntry {
  /** Canonical wire JSON. Never changed once stored, never handed out. */
  readonly status: WirePodStatus;
  readonly podName: string;
  readonly podNamespace: string;
  /** When the oldest change that is not on the apiserver yet was made, in milliseconds since the epoch. */
  readonly at: number;
  /** The same moment by `Clock.elapsed`: the age of the change is counted from it. */
  readonly agesFrom: number;
  /** When this version was set, in milliseconds since the epoch. */
  readonly setAt: number;
  /** Nothing of the pod runs any more: it may be deleted once the apiserver shows a terminal phase. */
  readonly podIsFinished: boolean;
  /** Finished by `terminateWhenReclaimed` rather than by the agent: phase, reason and message stay. */
  readonly finishedByManager: boolean;
  /** The first version the agent set while it saw the pod's deletionTimestamp. */
  readonly deletionSeenAt: number | undefined;
}

/** One version of a pod's status. */
export class VersionedPodStatus implements PodStatusEntry {
  readonly status: WirePodStatus;
  readonly version: number;
  readonly podName: string;
  readonly podNamespace: string;
  readonly at: number;
  readonly agesFrom: number;
  readonly setAt: number;
  readonly podIsFinished: boolean;
  readonly finishedByManager: boolean;
  readonly deletionSeenAt: number | undefined;
  readonly #ownedConditionTypes: ReadonlySet<string> | undefined;
  #view: V1PodStatus | undefined;

  constructor(version: number, entry: PodStatusEntry, ownedConditionTypes?: ReadonlySet<string>) {
    this.#ownedConditionTypes = ownedConditionTypes;
    this.version = version;
    this.status = entry.status;
    this.podName = entry.podName;
    this.podNamespace = entry.podNamespace;
    this.at = entry.at;
    this.agesFrom = entry.agesFrom;
    this.setAt = entry.setAt;
    this.podIsFinished = entry.podIsFinished;
    this.finishedByManager = entry.finishedByManager;
    this.deletionSeenAt = entry.deletionSeenAt;
  }

  /** The typed, frozen status for readers; made once a version, when first asked for. */
  get view(): V1PodStatus {
    this.#view ??= podStatusView(this.status, this.#ownedConditionTypes);
    return this.#view;
  }
}

/** The newest status of every pod, to read. */
export interface PodStatusReader {
  get(podUID: string): VersionedPodStatus | undefined;
  readonly size: number;
  podUIDs(): string[];
}

/**
 * Pod uid (a static pod's own, never its mirror's) to its newest status. While a pod has an entry its version only grows; an
 * equal status makes none, except for a pod that is being deleted or terminated.
 */
export class PodStatuses implements PodStatusReader {
  readonly #entries = new Map<string, VersionedPodStatus>();
  readonly #ownedConditionTypes: ReadonlySet<string> | undefined;

  /** `ownedConditionTypes`: the agent's own; none is the same as undefined. */
  constructor(ownedConditionTypes?: ReadonlySet<string>) {
    this.#ownedConditionTypes = ownedConditionTypes?.size ? ownedConditionTypes : undefined;
  }

  get(podUID: string): VersionedPodStatus | undefined {
    return this.#entries.get(podUID);
  }

  get size(): number {
    return this.#entries.size;
  }

  podUIDs(): string[] {
    return [...this.#entries.keys()];
  }

  /** Stores the next version and returns it. */
  store(podUID: string, entry: PodStatusEntry): VersionedPodStatus {
    const version = (this.#entries.get(podUID)?.version ?? 0) + 1;
    const stored = new VersionedPodStatus(version, entry, this.#ownedConditionTypes);
    this.#entries.set(podUID, stored);
    return stored;
  }

  delete(podUID: string): boolean {
    return this.#entries.delete(podUID);
  }
}
