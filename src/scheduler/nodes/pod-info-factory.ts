// Behaviour of pkg/scheduler/framework PodInfo, v1.36.3.

import type { WirePod } from '../../api/json/types.ts';
import { type HostPort, hostPortsOf } from '../../api/pod/host-ports.ts';
import { parseAffinityTerm, parseWeightedTerm } from './affinity-terms.ts';
import { type PodAmounts, podAmounts } from './pod-amounts.ts';
import type { PodInfo } from './pod-info.ts';

/** How a pod's spec is counted; the classic scheduler counted otherwise. */
export interface PodReading {
  amounts(pod: WirePod): PodAmounts;
  hostPorts(pod: WirePod): readonly HostPort[];
}

/** How v1.36.3 counts. */
const podReading: PodReading = { amounts: podAmounts, hostPorts: hostPortsOf };

type AffinityMembers = Pick<
  PodInfo,
  'requiredAffinityTerms' | 'requiredAntiAffinityTerms' | 'preferredAffinityTerms' | 'preferredAntiAffinityTerms'
>;
const noTerms: readonly never[] = [];

/**
 * Reads all that the scheduler needs of a pod. Affinity to other pods that breaks a rule counts as none, and
 * `affinityProblem` says what is wrong. Throws ERR_INVALID_ARGUMENT for what is no quantity.
 */
export function createPodInfo(pod: WirePod, reading: PodReading = podReading): PodInfo {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const problems: string[] = [];
  const read = <Given, Term>(
    path: string,
    given: readonly Given[] | undefined,
    parse: (path: string, namespace: string, given: Given) => Term,
  ): readonly Term[] => {
    try {
      return given?.map((term, index) => parse(`${path}[${index}]`, namespace, term)) ?? noTerms;
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      return noTerms;
    }
  };
  const terms: AffinityMembers = {
    requiredAffinityTerms: read(
      'podAffinity.requiredDuringSchedulingIgnoredDuringExecution',
      podAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
      parseAffinityTerm,
    ),
    requiredAntiAffinityTerms: read(
      'podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution',
      podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
      parseAffinityTerm,
    ),
    preferredAffinityTerms: read(
      'podAffinity.preferredDuringSchedulingIgnoredDuringExecution',
      podAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
      parseWeightedTerm,
    ),
    preferredAntiAffinityTerms: read(
      'podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution',
      podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
      parseWeightedTerm,
    ),
  };
  return {
    pod,
    uid,
    name,
    namespace,
    key: `${namespace}/${name}`,
    groupKey: `${namespace} ${pod.metadata?.deletionTimestamp == null} ${JSON.stringify(pod.metadata?.labels ?? {})}`,
    priority: pod.spec?.priority ?? 0,
    ...reading.amounts(pod),
    hostPorts: reading.hostPorts(pod),
    hasAffinity: podAffinity != null || podAntiAffinity != null,
    ...terms,
    affinityProblem: problems.length === 0 ? undefined : problems.join('; '),
  };
}
