import { lookupBy, lookupByName } from '../../api/json/json.ts';
import {
  addressLists,
  containerStatusLists,
  containerStatusMembers,
  podConditionMembers,
  podIPMembers,
  podStatusMembers,
  stateKinds,
  stateMembers,
} from '../../api/json/status-members.ts';
import type { WireContainerState, WireContainerStatus, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { podConditionLookup } from '../conditions/pod-conditions.ts';
import { isPodStatusByKubeletEqual } from './pod-status-equality.ts';

/**
 * `status` with the members that only the server has and that Kubernetes 1.36 does not know: they are a newer server's, and
 * stay as they are there. A member that the agent sets is written; once the agent leaves it out again, it stays.
 *
 * Members are kept of the status, its conditions, its addresses (`podIPs`, `hostIPs`), its containers, and the state and last
 * state of a container, while the state is of the same kind. Not kept are those deeper inside a container: of its resources,
 * volume mounts, user and allocated resources. An empty one inside an address or a state is not kept either.
 */
function withUnknownMembers(status: WirePodStatus, server: WirePodStatus): WirePodStatus {
  const fill: Partial<WirePodStatus> = {};
  const { conditions } = status;
  if (conditions !== undefined && server.conditions !== undefined) {
    const onServer = podConditionLookup(server.conditions);
    const filled = filledIn(conditions, ({ type }) => onServer(type), conditionFilledIn);
    if (filled !== conditions) fill.conditions = filled;
  }
  for (const list of containerStatusLists) {
    const [ours, theirs] = [status[list], server[list]];
    if (ours === undefined || theirs === undefined || ours === theirs) continue;
    const onServer = lookupByName(theirs);
    const filled = filledIn(ours, ({ name }, index) => onServer(name, index), containerFilledIn);
    if (filled !== ours) fill[list] = filled;
  }
  for (const list of addressLists) {
    const [ours, theirs] = [status[list], server[list]];
    if (!Array.isArray(ours) || !Array.isArray(theirs) || ours === theirs) continue;
    const onServer = lookupBy(theirs, (address) => address.ip);
    const filled = filledIn(ours, ({ ip }, index) => onServer(ip, index), addressFilledIn);
    if (filled !== ours) fill[list] = filled;
  }
  const filled = membersFilledIn(status, server, podStatusMembers);
  for (const _ in fill) return { ...filled, ...fill };
  return filled;
}

/** The list itself where nothing is to be filled in. */
function filledIn<T extends object>(
  list: T[],
  counterpart: (item: T, index: number) => T | undefined,
  fill: (ours: T, theirs: T) => T,
): T[] {
  let filled: T[] | undefined;
  for (const [index, item] of list.entries()) {
    const theirs = counterpart(item, index);
    if (theirs === undefined || theirs === item) continue;
    const other = fill(item, theirs);
    if (other === item) continue;
    filled ??= [...list];
    filled[index] = other;
  }
  return filled ?? list;
}

function conditionFilledIn(ours: WirePodCondition, theirs: WirePodCondition): WirePodCondition {
  return membersFilledIn(ours, theirs, podConditionMembers);
}

function addressFilledIn<T extends object>(ours: T, theirs: T): T {
  return membersFilledIn(ours, theirs, podIPMembers);
}

function containerFilledIn(ours: WireContainerStatus, theirs: WireContainerStatus): WireContainerStatus {
  const filled = membersFilledIn(ours, theirs, containerStatusMembers);
  const state = stateFilledIn(ours.state, theirs.state);
  const lastState = stateFilledIn(ours.lastState, theirs.lastState);
  if (state === ours.state && lastState === ours.lastState) return filled;
  return { ...filled, ...(state && { state }), ...(lastState && { lastState }) };
}

function stateFilledIn(
  ours: WireContainerState | undefined,
  theirs: WireContainerState | undefined,
): WireContainerState | undefined {
  if (ours === undefined || theirs === undefined || ours === theirs) return ours;
  for (const kind in ours) {
    const known = stateMembers.get(kind);
    const [own, other] = [ours[kind as keyof WireContainerState], theirs[kind as keyof WireContainerState]];
    if (known === undefined || own === undefined || other === undefined) continue;
    const inside = own === other ? own : membersFilledIn<object>(own, other, known);
    const filled = membersFilledIn<object>(ours, theirs, stateKinds);
    return inside === own ? filled : { ...filled, [kind]: inside };
  }
  return ours;
}

/** `ours` with the server's members that are not in `known` and that `ours` lacks; `ours` itself where there are none. */
function membersFilledIn<T extends object>(ours: T, server: T, known: ReadonlySet<string>): T {
  let filled: T | undefined;
  for (const key in server) {
    if (known.has(key) || ours[key] !== undefined) continue;
    filled ??= { ...ours };
    filled[key] = server[key];
  }
  return filled ?? ours;
}

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
