// Behaviour of pkg/kubelet/kubelet_pods.go generateAPIPodStatus and convertStatusToAPIStatus, v1.36.3.
import { lookupByName } from '../../api/json/json.ts';
import { hasFourDigitYear } from '../../api/json/time.ts';
import type { Pod, PodStatus, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { hasRestartAllContainersRule } from '../../api/pod/pod-containers.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import type { RuntimeContainerState, RuntimeContainerStatus, RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { invalidArgument, type StatusManagerError } from '../../base/errors.ts';
import { isInt32, requireKnownOptions, requireObject } from '../../base/options.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import { type GenerateConditionsOptions, generateConditions } from '../../status/conditions/generate-pod-conditions.ts';
import { allContainersShouldRestart } from '../../status/conditions/generate-runtime-conditions.ts';
import {
  byName,
  type ContainerProbeStates,
  containerStatuses,
  initContainerStatuses,
  type WaitingReasons,
  withInitProbeStates,
  withoutProbes,
  withProbeStates,
} from './container-statuses.ts';
import { getPhase } from './get-phase.ts';
import { addressMembers, podIPsInOrder } from './pod-ips.ts';
import { podResourceMembers } from './pod-resources.ts';

/** What a status is made of. `pod` and `runtimeStatus` are needed. */
export interface GeneratePodStatusOptions {
  /** With the API copy of its status. */
  readonly pod: Pod;
  /** What the container runtime knows of the pod. */
  readonly runtimeStatus: RuntimePodStatus;
  /** The status manager's status of the pod. Default: the API copy, `pod.status`. */
  readonly previous?: PodStatus | undefined;
  /** No container of the pod will be started again, whatever its restart policy says. Default false. */
  readonly podIsTerminal?: boolean | undefined;
  /** The node's addresses, of which the first decides which family comes first. Default: `hostIPs`. */
  readonly nodeIPs?: readonly string[] | undefined;
  /** The node's addresses as the pod shows them: one, or one of each family. Default: none. */
  readonly hostIPs?: readonly string[] | undefined;
  /** Why containers could not be started last, by the container's name, such as a `Map`. */
  readonly reasons?: WaitingReasons | undefined;
  /** What the probes say, such as a `ProbeManager`. Default: nobody probes, and what runs is started and ready. */
  readonly probes?: ContainerProbeStates | undefined;
  /** The agent wants the pod gone from its node: it has failed. */
  readonly eviction?: Eviction | undefined;
  /** The pod's resize conditions, as `StatusManager.resizes` has them. Default: none. */
  readonly resizeConditions?: PodStatus['conditions'] | undefined;
}

const knownOptions: readonly (keyof GeneratePodStatusOptions)[] = [
  'pod',
  'runtimeStatus',
  'previous',
  'podIsTerminal',
  'nodeIPs',
  'hostIPs',
  'reasons',
  'probes',
  'eviction',
  'resizeConditions',
];

/**
 * The status of a pod that follows from what the container runtime knows of it: phase, reason, conditions, the statuses of
 * all containers of the spec, addresses, resources and quality of service, for `StatusManager.setPodStatus`, which adds the
 * times and the generation. Restart counts never go back, what was terminal stays so, and conditions of others stay.
 *
 * Changes nothing it is given. Throws ERR_INVALID_OPTION for an unknown option, and ERR_INVALID_ARGUMENT for a pod, a runtime
 * status or a status before that is none, for a record of a container without a name, an id or one of the four states, or with
 * a count, a code, a time or a text that is none, and for a resource of the spec that is no quantity.
 *
 * @example
 * ```ts
 * import { generatePodStatus } from 'pod-status-manager/node';
 * import { buildPod } from 'pod-status-manager/testing';
 *
 * const pod = buildPod();
 * const app = { id: 'containerd://1', name: 'app', state: 'running', startedAt: Date.now(), active: true } as const;
 * const runtimeStatus = { podUID: 'uid-of-pod-1', ips: ['10.0.0.7'], containers: [app], sandboxes: [{ ready: true }] };
 * const { phase, podIP } = generatePodStatus({ pod, runtimeStatus });
 * console.log(phase, podIP); // Running 10.0.0.7
 * ```
 */
export function generatePodStatus(options: GeneratePodStatusOptions): WirePodStatus {
  requireKnownOptions('options', options, knownOptions);
  const { pod, runtimeStatus, hostIPs = [], nodeIPs = hostIPs, probes = withoutProbes } = options;
  requireObject('pod', pod);
  requireRuntimeStatus(runtimeStatus);
  const old = canonicalPodStatus(options.previous ?? pod.status ?? {});
  const { containers: records, sandboxes } = runtimeStatus;
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const podIsRestarting =
    hasRestartBegun(pod, old) && allContainersShouldRestart([...initContainers, ...containers], old, records);
  const view = {
    pod,
    records,
    firstListed: lookupByName(records),
    newest: newestTwo(records),
    podIsRestarting,
    reasons: options.reasons,
  };
  const regularNames = new Set(containers.map(({ name }) => name));
  const regular = containerStatuses(view, containers, old.containerStatuses);
  const init = initContainerStatuses(view, initContainers, old.initContainerStatuses);
  return assemblePodStatus(pod, old, {
    containerStatuses: byName(withProbeStates(pod, regular, probes)),
    initContainerStatuses: withInitProbeStates(pod, initContainers, init, probes),
    ephemeralContainerStatuses: byName(containerStatuses(view, ephemeralContainers, old.ephemeralContainerStatuses)),
    beforeProbes: [...regular, ...init],
    podIsTerminal: options.podIsTerminal === true,
    podHasInitialized: records.some(({ name, active }) => active === true && regularNames.has(name)),
    podIPs: podIPsInOrder(runtimeStatus.ips, nodeIPs),
    hostIPs,
    sandboxes,
    runtimeContainers: records,
    eviction: options.eviction,
    resizeConditions: options.resizeConditions,
  });
}

/** Only a rule can have all containers restarted, unless a former spec's rule has. */
function hasRestartBegun(pod: Pod, old: WirePodStatus): boolean {
  return hasRestartAllContainersRule(pod.spec) || old.conditions?.some(({ type }) => type === 'AllContainersRestarting') === true;
}

/** The two newest records of each container, as the runtime lists them where it lists those of one time. */
function newestTwo(records: readonly RuntimeContainerStatus[]): (name: string) => readonly RuntimeContainerStatus[] {
  const byName = new Map<string, RuntimeContainerStatus[]>();
  for (const record of records.toSorted((a, b) => createdAt(b) - createdAt(a))) {
    const held = byName.get(record.name);
    if (held === undefined) byName.set(record.name, [record]);
    else if (held.length < 2) held.push(record);
  }
  return (name) => byName.get(name) ?? [];
}

/** A record without a time is older than any other. */
function createdAt({ createdAt: ms = Number.MIN_SAFE_INTEGER }: RuntimeContainerStatus): number {
  return ms;
}

// Behaviour of pkg/kubelet/kubelet_pods.go generateAPIPodStatus, v1.36.3: all but the container statuses.

/** Why the pod is evicted: it has failed, whatever its containers do. */
export interface Eviction {
  /** One word, such as `Evicted`. */
  readonly reason: string;
  /** The same for people. Default: none. */
  readonly message?: string | undefined;
}

export interface StatusSources extends GenerateConditionsOptions {
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
export function assemblePodStatus(pod: Pod, old: WirePodStatus, sources: StatusSources): WirePodStatus {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses, podIsTerminal, podHasInitialized } = sources;
  const { sandboxes, runtimeContainers, resizeConditions, ownedConditionTypes } = sources;
  const { beforeProbes = [...containerStatuses, ...initContainerStatuses] } = sources;
  const isOver = sources.endStays === true && isTerminalPhase(old.phase);
  const generated = isOver ? old.phase : getPhase(pod, beforeProbes, { podIsTerminal, podHasInitialized });
  const status: WirePodStatus = {
    ...phaseMembers(pod, old, generated, isOver ? undefined : sources.eviction),
    ...addressMembers(sources.podIPs, sources.hostIPs, pod.spec?.hostNetwork === true),
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

const states: ReadonlySet<unknown> = new Set(['created', 'running', 'exited', 'unknown'] satisfies RuntimeContainerState[]);

type Member = keyof RuntimeContainerStatus;

/**
 * Throws ERR_INVALID_ARGUMENT for a view of the runtime that is none, and for a record of a container in it that the apiserver
 * could not store. Every status of every pod asks for this, so a path is written only where something is wrong.
 */
function requireRuntimeStatus(runtimeStatus: RuntimePodStatus): void {
  requireObject('runtimeStatus', runtimeStatus);
  requireList('ips', runtimeStatus.ips);
  requireList('containers', runtimeStatus.containers);
  requireList('sandboxes', runtimeStatus.sandboxes);
  let index = 0;
  for (const record of runtimeStatus.containers) requireRecord(record, index++);
}

function requireList(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw invalidArgument(`runtimeStatus.${name}`, 'a list', value);
}

function requireRecord(record: RuntimeContainerStatus, index: number): void {
  if (typeof record !== 'object' || record === null) throw refusal(index, undefined, 'an object', record);
  const { name, id, state, exitCode, restartCount } = record;
  if (typeof name !== 'string' || name === '') throw refusal(index, 'name', 'a non-empty string', name);
  if (typeof id !== 'string') throw refusal(index, 'id', 'a string', id);
  if (!states.has(state)) throw refusal(index, 'state', '"created", "running", "exited" or "unknown"', state);
  if (exitCode !== undefined && !isInt32(exitCode)) throw refusal(index, 'exitCode', 'a whole number', exitCode);
  if (restartCount !== undefined && !isInt32(restartCount, 0)) {
    throw refusal(index, 'restartCount', 'a whole number, 0 or more', restartCount);
  }
  requireTime(index, 'createdAt', record.createdAt);
  requireTime(index, 'startedAt', record.startedAt);
  requireTime(index, 'finishedAt', record.finishedAt);
  requireOptionalText(index, 'image', record.image);
  requireOptionalText(index, 'imageRef', record.imageRef);
  requireOptionalText(index, 'reason', record.reason);
  requireOptionalText(index, 'message', record.message);
}

function requireTime(index: number, member: Member, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && hasFourDigitYear(value))) return;
  throw refusal(index, member, 'milliseconds since the epoch, of the years 0 to 9999', value);
}

function requireOptionalText(index: number, member: Member, value: unknown): void {
  if (value !== undefined && typeof value !== 'string') throw refusal(index, member, 'a string', value);
}

/** `member`: undefined for the record itself. */
function refusal(index: number, member: Member | undefined, rule: string, value: unknown): StatusManagerError {
  const path = `runtimeStatus.containers[${index}]`;
  return invalidArgument(member === undefined ? path : `${path}.${member}`, rule, value);
}
