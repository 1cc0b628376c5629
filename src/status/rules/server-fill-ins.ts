import type { WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { podConditionLookup } from '../conditions/pod-conditions.ts';
import { isPodStatusByKubeletEqual } from './pod-status-equality.ts';
import { withUnknownMembers } from './unknown-members.ts';

type Conditions = WirePodStatus['conditions'];

/**
 * `status` with what the apiserver fills in or keeps by itself where the agent left it out: what is to be written, so that
 * a patch takes nothing of it away. Members that Kubernetes 1.36 does not know are kept as they are on the server.
 */
export function withServerFillIns(status: WirePodStatus, server: WirePodStatus): WirePodStatus {
  return withUnknownMembers(withKnownFillIns(status, server), server);
}

/**
 * True when the server's copy differs from `status`. A difference only in what the server fills in, or in
 * members that Kubernetes 1.36 does not know, is none, or the manager would patch for ever.
 */
export function differsFromServer(status: WirePodStatus, server: WirePodStatus, owned: ReadonlySet<string>): boolean {
  return !isPodStatusByKubeletEqual(withKnownFillIns(status, server), server, owned, 'known');
}

/**
 * Facts measured on kube-apiserver v1.36.3: `qosClass` and `observedGeneration` stay, and a `podIP` without `podIPs`
 * becomes a list of one.
 */
function withKnownFillIns(status: WirePodStatus, server: WirePodStatus): WirePodStatus {
  const fill: Partial<WirePodStatus> = {};
  if (status.qosClass === undefined && server.qosClass !== undefined) fill.qosClass = server.qosClass;
  if (status.observedGeneration === undefined && server.observedGeneration !== undefined) {
    fill.observedGeneration = server.observedGeneration;
  }
  if (status.podIPs === undefined && status.podIP !== undefined && isListOfOne(server.podIPs, status.podIP)) {
    fill.podIPs = server.podIPs;
  }
  const conditions = withGenerations(status.conditions, server.conditions);
  if (conditions !== undefined && conditions !== status.conditions) fill.conditions = conditions;
  for (const _ in fill) return { ...status, ...fill };
  return status;
}

/** A condition keeps its `observedGeneration` on the server, too, whatever a patch says of it. */
function withGenerations(conditions: Conditions, server: Conditions): Conditions {
  let filled: WirePodCondition[] | undefined;
  const onServer = podConditionLookup(server);
  conditions?.forEach((condition, index) => {
    if (condition.observedGeneration !== undefined) return;
    const { observedGeneration } = onServer(condition.type) ?? {};
    if (observedGeneration === undefined) return;
    filled ??= [...conditions];
    filled[index] = { ...condition, observedGeneration };
  });
  return filled ?? conditions;
}

function isListOfOne(podIPs: WirePodStatus['podIPs'], ip: string): podIPs is NonNullable<WirePodStatus['podIPs']> {
  return podIPs?.length === 1 && podIPs[0]?.ip === ip;
}
