import type { Pod, PodStatus, WirePodStatus } from '../../api/json/types.ts';
import { hasTransitionTimeRule } from '../conditions/pod-conditions.ts';
import { canonicalPodStatus, inCanonicalOrder, messageShare } from './canonical-status.ts';
import { shareEqualParts } from './share-equal-parts.ts';

export { canonicalPodStatus } from './canonical-status.ts';

/** What a copy shares with the status before it: every equal part, by reference. */
export interface Sharing {
  /** Canonical, and never changed. */
  readonly previous: WirePodStatus | undefined;
  /** Condition types whose transition time an update derives from `previous`, beside the kubelet's. */
  readonly ownedConditionTypes?: ReadonlySet<string> | undefined;
}

/**
 * A copy of `status` in the one canonical form used for equality, merge and patch: wire JSON with whole-second times,
 * sorted container statuses, termination messages cut to their share, nothing undefined and no empty list. Members that
 * Kubernetes 1.36 does not know stay as they are.
 * Idempotent. Throws ERR_INVALID_ARGUMENT for a value that is no status; never changes its input.
 *
 * With `sharing`, the copy may have the start time, the generation and the derived transition times of `previous`: an
 * update takes them from there.
 *
 * Behaviour of pkg/kubelet/status normalizeStatus, v1.36.3, but for messages: they are cut between characters.
 */
export function normalizeStatus(pod: Pod, status: PodStatus, sharing?: Sharing): WirePodStatus {
  const { previous, ownedConditionTypes } = sharing ?? {};
  const maxMessageBytes = messageShare(pod);
  if (previous === undefined) return inCanonicalOrder(pod, canonicalPodStatus(status, maxMessageBytes));
  const hasDerivedTime = (type: string): boolean => hasTransitionTimeRule(type) || ownedConditionTypes?.has(type) === true;
  return inCanonicalOrder(pod, shareEqualParts(status, { previous, hasDerivedTime }, maxMessageBytes));
}
