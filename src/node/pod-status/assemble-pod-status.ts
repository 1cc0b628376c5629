// Behaviour of pkg/kubelet/kubelet_pods.go generateAPIPodStatus, v1.36.3: all but the container statuses.

import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { type GenerateConditionsOptions, generateConditions } from '../../status/conditions/generate-pod-conditions.ts';
import { getPhase } from './get-phase.ts';
import { addressMembers } from './pod-ips.ts';
import { podResourceMembers } from './pod-resources.ts';

/** Why the pod is evicted: it has failed, whatever its containers do. */
export interface Eviction {
  /** One word, such as `Evicted`. */
  readonly reason: string;
  /** The same for people. Default: none. */
  readonly message?: string | undefined;
}

export interface StatusParts extends GenerateConditionsOptions {
  /** By name. */
  readonly containerStatuses: WireContainerStatus[];
  /** As the spec has them. */
  readonly initContainerStatuses: WireContainerStatus[];
  /** By name. */
  readonly ephemeralContainerStatuses: WireContainerStatus[];
  /**
   * The statuses that the phase follows from, where the probes have changed those above: a sidecar counts as started only once
   * it was reported so. Default: those above.
   */
  readonly beforeProbes?: readonly WireContainerStatus[] | undefined;
  readonly podIsTerminal: boolean;
  /**
   * A terminal phase of the status before stays as it is. By the kubelet's rules only the apiserver's does: one that was stored
   * may still turn into the other one.
   */
  readonly endStays?: boolean;
  /** A regular container was made in the sandbox in use. */
  readonly podHasInitialized: boolean;
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
  readonly eviction?: Eviction | undefined;
}

/** The pod's next status. `old`: the one before, in canonical form. */
export function assemblePodStatus(pod: Pod, old: WirePodStatus, parts: StatusParts): WirePodStatus {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses, podIsTerminal, podHasInitialized } = parts;
  const { sandboxes, runtimeContainers, resizeConditions, ownedConditionTypes } = parts;
  const { beforeProbes = [...containerStatuses, ...initContainerStatuses] } = parts;
  const isOver = parts.endStays === true && isTerminalPhase(old.phase);
  const generated = isOver ? old.phase : getPhase(pod, beforeProbes, podIsTerminal, podHasInitialized);
  const status: WirePodStatus = {
    ...phaseMembers(pod, old, generated, isOver ? undefined : parts.eviction),
    ...addressMembers(parts.podIPs, parts.hostIPs, pod.spec?.hostNetwork === true),
    qosClass: pod.status?.qosClass || computePodQOSClass(pod.spec),
    ...podResourceMembers(pod, old),
  };
  if (containerStatuses.length > 0) status.containerStatuses = containerStatuses;
  if (initContainerStatuses.length > 0) status.initContainerStatuses = initContainerStatuses;
  if (ephemeralContainerStatuses.length > 0) status.ephemeralContainerStatuses = ephemeralContainerStatuses;
  status.conditions = generateConditions(pod, old, status, {
    sandboxes,
    runtimeContainers,
    resizeConditions,
    ownedConditionTypes,
  });
  return status;
}

/**
 * A terminal phase that was stored or is on the apiserver stays. Reason and message stay with the phase they belong to. An
 * eviction makes the pod Failed; the apiserver's terminal phase beats that.
 */
function phaseMembers(
  pod: Pod,
  old: WirePodStatus,
  generated: string | undefined,
  eviction: Eviction | undefined,
): Pick<WirePodStatus, 'phase' | 'reason' | 'message'> {
  const onServer = pod.status?.phase;
  let phase = generated;
  if (!isTerminalPhase(phase)) phase = [old.phase, onServer].find(isTerminalPhase) ?? phase;
  const keepsPhase = phase === old.phase;
  const says = eviction ?? {
    reason: keepsPhase ? old.reason || pod.status?.reason : undefined,
    message: keepsPhase ? old.message || pod.status?.message : undefined,
  };
  if (eviction !== undefined) phase = 'Failed';
  if (onServer !== undefined && isTerminalPhase(onServer)) phase = onServer;
  return { ...(phase && { phase }), ...(says.reason && { reason: says.reason }), ...(says.message && { message: says.message }) };
}
