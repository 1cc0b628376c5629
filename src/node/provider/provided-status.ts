import { isIP } from 'node:net';
import { isJsonObject, lookupByName } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Pod, PodStatus, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { type Container, containerShouldRestart, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import type { Clock } from '../../base/clock.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import { generateConditions } from '../../status/conditions/generate-pod-conditions.ts';
import { getPodCondition, podConditionType } from '../../status/conditions/pod-conditions.ts';
import { requireStatus } from '../../status/rules/validate-status.ts';
import { unseenEnd } from '../pod-status/container-statuses.ts';
import { getPhase, runtimeReason, unseenExitCode } from '../pod-status/get-phase.ts';
import type { GivenContainer } from '../pod-status/given-status.ts';
import { addressMembers, podIPsInOrder } from '../pod-status/pod-ips.ts';
import { podStatusFromContainers } from '../pod-status/pod-status-from-containers.ts';
import type { HeldPod } from './held-pod.ts';
import type { PodRejection } from './pod-rejected-error.ts';

/** What a status is made from, beside what the provider says. */
export interface StatusFacts {
  readonly pod: Pod;
  /** The status before; undefined where there has been none. */
  readonly previous: WirePodStatus | undefined;
  /** The node's addresses, the primary one first. */
  readonly hostIPs: readonly string[];
  /** In milliseconds since the epoch. */
  readonly now: number;
}

/** The provider's answer with everything filled in that it leaves out. A Ready condition that it gives can only lower the truth. */
export function statusOfAnswer(facts: StatusFacts, answer: WirePodStatus): WirePodStatus {
  const { pod, previous } = facts;
  const { containerStatuses: given, initContainerStatuses: givenInit } = answer;
  const isSilent = !given?.length && !givenInit?.length;
  const containers = isSilent ? assumedStatuses(facts, answer, pod.spec?.containers) : (given ?? []);
  const inits = isSilent ? assumedStatuses(facts, answer, pod.spec?.initContainers) : (givenInit ?? []);
  const status: WirePodStatus = { ...answer };
  if (containers.length > 0) status.containerStatuses = counted(containers, previous?.containerStatuses);
  if (inits.length > 0) status.initContainerStatuses = counted(inits, previous?.initContainerStatuses);
  status.phase ||= getPhase(pod, [...inits, ...containers], { podIsTerminal: false, podHasInitialized: true });
  return complete(facts, status, answer);
}

/** A pod that waits for what it refers to: why each container waits, by its name; the others wait for them. */
export function heldStatus(facts: StatusFacts, { waits }: Pick<HeldPod, 'waits'>): WirePodStatus {
  const stateOf = (name: string) => ({ waiting: { ...(waits.get(name) ?? { reason: 'ContainerCreating' }) } });
  return statusOfContainers(facts, (before) => ({ ...before, state: stateOf(before.name) }), false);
}

/** The status of a pod that the provider does not have yet. */
export function waitingStatus(facts: StatusFacts, reason: string, message?: string): WirePodStatus {
  const waits = { waiting: { reason, ...(message !== undefined && { message }) } };
  const status = statusOfContainers(facts, (before) => ({ ...before, state: waits }), false);
  return message === undefined ? status : { ...status, reason: 'ProviderFailed', message };
}

/** The status of a pod that the provider will never run. */
export function rejectedStatus(facts: StatusFacts, { reason, message }: PodRejection): WirePodStatus {
  const status = statusOfContainers(facts, (before) => before, true);
  return complete(facts, { ...status, phase: 'Failed', reason, message: `Pod was rejected: ${message}` }, undefined);
}

/** The status of a pod that the provider has lost: its containers have ended, nobody knows how, and start again if they may. */
export function lostStatus(facts: StatusFacts): WirePodStatus {
  const message = 'The provider no longer has the pod, and its end was not seen';
  const isOver = !mayRestart(facts.pod);
  const status = statusOfContainers(
    facts,
    (before) => {
      const end = before.state?.terminated ?? unseenEnd(message);
      if (isOver) return { ...before, state: { terminated: end } };
      const last = before.lastState?.terminated;
      if (before.state?.waiting && last?.reason === runtimeReason.containerStatusUnknown) return before; // it is counted already
      const lastState = { terminated: end };
      return { ...before, state: { waiting: { reason: 'ContainerCreating' } }, lastState, restartCount: before.restartCount + 1 };
    },
    isOver,
  );
  return isOver ? { ...status, phase: 'Failed', reason: 'NotFound', message } : status;
}

/** A container that ran when its status was last told, and whose end the provider has not seen. */
interface LostContainer {
  readonly containerName: string;
  /** Whether its restart policy lets the provider start it again. */
  readonly mayStartAgain: boolean;
}

/** The containers that are lost by this answer. One that gives the phase alone tells of no container. */
export function lostContainers({ pod, previous }: StatusFacts, answer: WirePodStatus): LostContainer[] {
  const { containers = [], initContainers = [], restartPolicy } = pod.spec ?? {};
  const allOf = (status: WirePodStatus | undefined) => [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ];
  const before = lookupByName(allOf(previous));
  const specOf = lookupByName([...initContainers, ...containers]);
  return allOf(answer).flatMap(({ name, state, lastState }): LostContainer[] => {
    if (!before(name)?.state?.running || state?.running) return [];
    const end = state?.terminated ?? lastState?.terminated;
    if (end?.reason !== runtimeReason.containerStatusUnknown) return [];
    const mayStartAgain = containerShouldRestart(specOf(name) ?? { name }, restartPolicy, unseenExitCode);
    return [{ containerName: name, mayStartAgain }];
  });
}

/** The last status of a pod of which nothing runs any more. */
export function endedStatus(facts: StatusFacts, answer: WirePodStatus | undefined): WirePodStatus {
  const last = answer === undefined ? facts.previous : statusOfAnswer(facts, answer);
  const { reason, message } = last ?? {};
  const status = statusOfContainers(
    { ...facts, previous: last },
    (before) => {
      if (before.state?.terminated || !hasRun(before)) return before;
      const text = 'The container could not be located when the pod was terminated';
      return { ...before, state: { terminated: unseenEnd(text) } };
    },
    true,
  );
  if (last?.phase !== undefined && isTerminalPhase(last.phase)) status.phase = last.phase;
  const known = { ...last, ...status, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  return complete(facts, known, undefined);
}

/** True for a status that says that nothing of the pod runs, or will. */
export function isOver({ spec }: Pod, answer: WirePodStatus | undefined): boolean {
  if (answer === undefined) return true;
  const { phase, containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = answer;
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  if (all.some(({ state }) => state?.running)) return false;
  if (isTerminalPhase(phase)) return true;
  const names = (spec?.containers ?? []).map(({ name }) => name);
  const statusOf = lookupByName(containerStatuses);
  return names.length > 0 && names.every((name) => statusOf(name)?.state?.terminated);
}

/** True for a pod that waits to be run: what a `createPod` that has failed may have left. */
export function isUnbegun({ phase, containerStatuses = [], initContainerStatuses = [] }: WirePodStatus): boolean {
  return phase === 'Pending' && ![...containerStatuses, ...initContainerStatuses].some(({ state }) => state?.running);
}

/** True for a status of a pod that somebody has run: what a provider does not have of it is lost. */
export function hasBeenRun(status: WirePodStatus | undefined): boolean {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(
    ({ state }) => state?.running || state?.terminated,
  );
}

function mayRestart({ spec }: Pod): boolean {
  return (spec?.containers ?? []).some((container) => containerShouldRestart(container, spec?.restartPolicy, unseenExitCode));
}

/** True for an end that no later status may take back: the status manager would refuse it, and with it the whole status. */
function hasEndedForGood({ spec }: Pod, container: Container, isInit: boolean, { state }: WireContainerStatus): boolean {
  const exitCode = state?.terminated?.exitCode;
  if (exitCode === undefined) return false;
  // a phase alone does not say that a pod whose init containers have completed runs them again
  if (isInit && exitCode === 0 && !isRestartableInitContainer(container)) return true;
  return !containerShouldRestart(container, spec?.restartPolicy, exitCode);
}

function hasRun({ state, lastState }: WireContainerStatus): boolean {
  return Boolean(state?.running || state?.terminated || lastState?.terminated);
}

/** The status that follows from the one before, with each container as `change` has it. None of them runs. */
function statusOfContainers(
  facts: StatusFacts,
  change: (before: WireContainerStatus) => WireContainerStatus,
  podIsTerminal: boolean,
): WirePodStatus {
  const { pod, previous } = facts;
  const listed = (containers: readonly Container[] | undefined, before: readonly WireContainerStatus[] | undefined) => {
    const known = lookupByName(before);
    return (containers ?? []).map((container): WireContainerStatus => {
      const old = known(container.name) ?? bareStatus(container, { waiting: { reason: 'ContainerCreating' } });
      const endIsFinal =
        old.state?.terminated && !containerShouldRestart(container, pod.spec?.restartPolicy, old.state.terminated.exitCode);
      return { ...(endIsFinal ? old : change(old)), ready: false, started: false };
    });
  };
  const containers = listed(pod.spec?.containers, previous?.containerStatuses);
  const inits = listed(pod.spec?.initContainers, previous?.initContainerStatuses);
  const status: WirePodStatus = { phase: getPhase(pod, [...inits, ...containers], { podIsTerminal, podHasInitialized: true }) };
  if (containers.length > 0) status.containerStatuses = containers;
  if (inits.length > 0) status.initContainerStatuses = inits;
  return complete(facts, status, undefined);
}

/** The container statuses of a provider that gives the phase alone. */
function assumedStatuses(facts: StatusFacts, answer: WirePodStatus, containers: readonly Container[] | undefined) {
  const { phase = 'Pending' } = answer;
  const isReady = getPodCondition(answer.conditions, podConditionType.ready)?.status !== 'False';
  const { containerStatuses = [], initContainerStatuses = [] } = facts.previous ?? {};
  const before = lookupByName([...containerStatuses, ...initContainerStatuses]);
  const initNames = new Set(facts.pod.spec?.initContainers?.map(({ name }) => name));
  return (containers ?? []).map((container): WireContainerStatus => {
    const isInit = initNames.has(container.name);
    const old = before(container.name);
    if (old !== undefined && hasEndedForGood(facts.pod, container, isInit, old)) return old;
    const hasCompleted = phase === 'Succeeded' || (phase === 'Running' && isInit && !isRestartableInitContainer(container));
    if (hasCompleted) return { ...bareStatus(container, { terminated: { exitCode: 0, reason: 'Completed' } }), ready: isInit };
    if (phase === 'Running') return { ...runningStatus(facts, answer, container, old), ready: isReady, started: true };
    if (phase === 'Failed')
      return bareStatus(container, { terminated: { exitCode: unseenExitCode, reason: runtimeReason.containerStatusUnknown } });
    return bareStatus(container, { waiting: { reason: 'ContainerCreating' } });
  });
}

/** A container that ran before runs on, or has been started anew since its end was told. */
function runningStatus(
  { previous, now }: StatusFacts,
  answer: WirePodStatus,
  container: Container,
  old: WireContainerStatus | undefined,
): WireContainerStatus {
  const ended = old?.state?.terminated;
  const isFirstRun = ended === undefined && old?.lastState?.terminated === undefined;
  const began = isFirstRun ? (previous?.startTime ?? answer.startTime) : undefined;
  const startedAt = old?.state?.running?.startedAt ?? began ?? formatTime(now);
  const status = bareStatus(container, { running: { startedAt } });
  return ended === undefined
    ? status
    : { ...status, restartCount: (old?.restartCount ?? 0) + 1, lastState: { terminated: ended } };
}

function bareStatus({ name, image = '' }: Container, state: WireContainerStatus['state']): WireContainerStatus {
  return { name, image, imageID: '', ready: false, started: false, restartCount: 0, lastState: {}, ...(state && { state }) };
}

/**
 * A provider that began a pod again counts from 0, and knows of no run before: the pod's own count never shrinks, and how the
 * last run ended stays.
 */
function counted(statuses: readonly WireContainerStatus[], before: readonly WireContainerStatus[] | undefined) {
  const known = lookupByName(before);
  return statuses.map((status): WireContainerStatus => {
    const { restartCount: least = 0, lastState = {} } = known(status.name) ?? {};
    if (least <= (status.restartCount ?? 0)) return status;
    return { ...status, restartCount: least, lastState: status.lastState?.terminated ? status.lastState : lastState };
  });
}

/** Adds the conditions, the addresses, the start time and the QoS class. */
function complete(facts: StatusFacts, given: WirePodStatus, answer: WirePodStatus | undefined): WirePodStatus {
  const { pod, previous, hostIPs, now } = facts;
  const status = { ...given };
  // what the server does not take must not keep a pod's end from it
  delete status.podIP;
  delete status.podIPs;
  if (!isAddress(status.hostIP) || status.hostIPs?.some(({ ip }) => !isAddress(ip))) {
    delete status.hostIP;
    delete status.hostIPs;
  }
  const { podIP, podIPs } = answer ?? previous ?? {};
  const ips = podIPs?.length ? podIPs.map(({ ip }) => ip) : podIP ? [podIP] : [];
  Object.assign(status, addressMembers(podIPsInOrder(ips, hostIPs), hostIPs, pod.spec?.hostNetwork === true));
  status.startTime = previous?.startTime ?? answer?.startTime ?? formatTime(now);
  status.qosClass = pod.status?.qosClass || computePodQOSClass(pod.spec);
  status.conditions = generateConditions(pod, previous, status).map((condition) => {
    const said = getPodCondition(answer?.conditions, condition.type);
    const isReadiness = condition.type === podConditionType.ready || condition.type === podConditionType.containersReady;
    return isReadiness && said?.status === 'False' && condition.status === 'True' ? { ...condition, ...said } : condition;
  });
  return status;
}

/** What a whole pod has, and no status. */
const membersOfPod = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/**
 * An answer of `getPodStatus`, as it goes over the wire; undefined for "no such pod". Throws ERR_INVALID_ARGUMENT, naming the
 * member, for what is no status, and for what the server would refuse: with it, it would refuse the pod's end, too.
 */
export function readAnswer(answer: unknown): WirePodStatus | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (!isJsonObject(answer)) throw invalidArgument('status', 'a pod status, or undefined', answer);
  for (const member of membersOfPod) {
    if (Object.hasOwn(answer, member))
      throw invalidArgument(`status.${member}`, 'absent: it is a member of a pod, not of its status', answer[member]);
  }
  const status = canonicalPodStatus(answer as PodStatus);
  requireStatus(status);
  if (status.phase === 'Unknown') throw invalidArgument('status.phase', 'known', status.phase);
  const { phase, containerStatuses, initContainerStatuses } = status;
  if (!phase && !containerStatuses?.length && !initContainerStatuses?.length)
    throw invalidArgument('status.phase', 'given where there are no container statuses', answer.phase);
  requireAddresses(status);
  for (const member of ['message', 'reason'] as const) {
    const text: unknown = status[member];
    if (text !== undefined && typeof text !== 'string') throw invalidArgument(`status.${member}`, 'a string', text);
  }
  return status;
}

/** True for an address that the server takes. */
function isAddress(text: unknown): text is string {
  return typeof text === 'string' && isIP(text) !== 0 && !text.includes('%');
}

function requireAddresses(status: WirePodStatus): void {
  for (const member of ['podIP', 'hostIP'] as const) {
    const ip = status[member];
    if (ip !== undefined && !isAddress(ip)) throw invalidArgument(`status.${member}`, 'an IP address', ip);
    for (const [index, each] of (status[`${member}s`] ?? []).entries())
      if (!isAddress(each?.ip)) throw invalidArgument(`status.${member}s[${index}].ip`, 'an IP address', each?.ip);
  }
  const { hostIP, hostIPs } = status;
  if (hostIPs === undefined) return;
  if (hostIPs[0]?.ip !== hostIP) throw invalidArgument('status.hostIPs', 'a list that begins with hostIP', hostIPs);
  if (new Set(hostIPs.map(({ ip }) => isIP(ip))).size < hostIPs.length)
    throw invalidArgument('status.hostIPs', 'a list with one address of each family', hostIPs);
}

/**
 * The status that follows from a provider's list of a pod's containers and from the status before. Throws ERR_INVALID_ARGUMENT
 * for a container that the pod does not have, and for what cannot be.
 */
export function statusOfListed(facts: StatusFacts, containers: readonly GivenContainer[], clock: Clock): WirePodStatus {
  const { previous, hostIPs } = facts;
  return podStatusFromContainers(withContainers(facts.pod, containers), containers, { previous, hostIPs, clock });
}

/** A pod of which the agent knows no spec has the containers that the provider lists. */
function withContainers(pod: Pod, containers: readonly GivenContainer[]): Pod {
  if (pod.spec !== undefined) return pod;
  return { ...pod, spec: { containers: containers.map((container) => ({ name: container?.name })) } };
}
