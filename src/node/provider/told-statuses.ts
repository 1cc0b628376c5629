import { shareEqualParts } from '../../api/json/equal-parts.ts';
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { cachedStatusOf } from '../../status/cached-status.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import { sameContent } from '../config/pod-changes.ts';
import type { ProvidedPod } from './provided-pod.ts';
import type { StatusFacts } from './provided-status.ts';
import type { ProviderMetrics } from './provider-metrics.ts';
import type { ProviderPodSyncerOptions } from './provider-pod-syncer-options.ts';

export interface ToldStatusesOptions {
  readonly statusManager: ProviderPodSyncerOptions['statusManager'];
  readonly hostIPs: () => readonly string[];
  readonly clock: SteadyClock;
  readonly metrics: ProviderMetrics;
}

/** What the status manager is told of pods, and what was told before. */
export class ToldStatuses {
  readonly #options: ToldStatusesOptions;
  #isStopped = false;

  constructor(options: ToldStatusesOptions) {
    this.#options = options;
  }

  /** What the next status of the pod is made from. */
  facts({ pod, uid }: ProvidedPod): StatusFacts {
    const { hostIPs, clock } = this.#options;
    return { pod, previous: previousStatus(pod, this.#told(uid)), hostIPs: hostIPs(), now: clock.now() };
  }

  tell(record: ProvidedPod, status: WirePodStatus): void {
    if (this.#isStopped) return;
    const { pod, uid } = record;
    const { statusManager, metrics } = this.#options;
    const before = this.#told(uid)?.phase ?? pod.status?.phase;
    if (status.phase === 'Running' && (before === undefined || before === 'Pending')) metrics.runs(pod);
    statusManager.setPodStatus(pod, status);
    record.isTold = true;
  }

  /** Tells how a pod is that ends, where that is new: of a pod that is being deleted, each status that is told makes a new version. */
  tellChange(record: ProvidedPod, status: WirePodStatus): void {
    const isKnown = this.#told(record.uid) !== undefined;
    if (isKnown && sameContent(record.toldEnding, status)) return;
    record.toldEnding = status;
    this.tell(record, status);
  }

  tellTerminated(pod: Pod): void {
    this.#options.statusManager.terminatePod(pod);
  }

  /** The provider's answer is kept until the next one: what it has in common with the status that was told is kept once. */
  shareAnswer({ uid, answer }: ProvidedPod): void {
    const told = cachedStatusOf(this.#options.statusManager, uid);
    if (answer !== undefined && told !== undefined) shareEqualParts(answer, told);
  }

  /** No status is told any more. */
  stop(): void {
    this.#isStopped = true;
  }

  #told(podUID: string): Pod['status'] {
    const { statusManager } = this.#options;
    return cachedStatusOf(statusManager, podUID) ?? statusManager.getPodStatus(podUID);
  }
}

/** What was told last: by this run of the agent, or by an earlier one. */
function previousStatus(pod: Pod, told: Pod['status']): WirePodStatus | undefined {
  const status = told ?? pod.status;
  if (status === undefined) return undefined;
  return callGuarded(() => canonicalPodStatus(status), ignoreFailure);
}
