import type { Pod, WireNode } from '../../api/json/types.ts';
import { hasFreePorts } from '../../api/pod/host-ports.ts';
import { isMirrorPod, isStaticPod, podUIDOf } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { podRequests, type Quantities } from '../../api/pod/pod-requests.ts';
import { canonicalQuantity, nanoInMilli, nanoInOne } from '../../api/quantity/quantity.ts';
import { quantityInNano } from '../../api/quantity/quantity-arithmetic.ts';
import { matchesNodeAffinity } from '../../api/selectors/node-selector.ts';
import { findUntoleratedTaint } from '../../api/selectors/taints.ts';
import { isDraResource, isExtendedResource } from '../../base/names.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import type { Admission } from '../../node/workers/pod-admissions.ts';

/** Why a pod may not run here: a word for its status, and the same for people. */
interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** What a check may look at. */
export interface AdmissionContext {
  /** The pod that is new on this node. */
  readonly pod: Pod;
  /** The pods that are not over, without that one. */
  readonly others: readonly Pod[];
  /** The node, as the apiserver has it. What the agent itself has to give is as the agent says, what others have set is as they say. */
  readonly node: WireNode;
  /** What runs short on the node. */
  readonly pressures: NodePressures;
}

/** Undefined where nothing speaks against the pod. */
export type AdmissionCheck = (context: AdmissionContext) => Refusal | undefined;

/** Asks the checks in their order; the first that refuses the pod says why. */
export function admitPod(checks: readonly AdmissionCheck[], context: AdmissionContext): Admission {
  for (const check of checks) {
    const refusal = check(context);
    if (refusal !== undefined) return { admit: false, ...refusal };
  }
  return { admit: true };
}

// Behaviour of pkg/kubelet/lifecycle/predicate.go, v1.36.3.

const osLabel = 'kubernetes.io/os';

/** What no other pod's end would change: the operating system, and what the runtime cannot do. */
export const nodeKind: AdmissionCheck = ({ pod, node }) => {
  const { metadata, spec } = pod;
  const asked = metadata?.labels?.[osLabel];
  if (asked !== undefined && asked !== 'linux') {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec?.os != null && spec.os.name !== 'linux') {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const isStrict = spec?.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (isStrict && node.status?.features?.supplementalGroupsPolicy !== true) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
};

/** What a scheduler looks at: resources, labels, the node's name, ports and taints. The first failure counts. */
export const schedulerPredicates: AdmissionCheck = (context) => {
  const { pod, others, node } = context;
  const [short] = shortages(pod, others, node);
  if (short !== undefined && !isCriticalPod(pod)) return outOf(short);
  const failure = predicateFailure(context, pod);
  if (failure !== undefined || short === undefined) return failure;
  // lesser pods may have to make room; where even that is not enough, a critical pod is refused, too
  const [lasting] = shortages(
    pod,
    others.filter((other) => !mayMakeRoom(other, pod)),
    node,
  );
  return lasting === undefined ? undefined : noRoom(lasting);
};

/** pkg/kubelet/types/pod_update.go Preemptable. */
function mayMakeRoom(other: Pod, critical: Pod): boolean {
  return !isCriticalPod(other) || (critical.spec?.priority ?? 0) > (other.spec?.priority ?? 0);
}

function predicateFailure({ others, node }: AdmissionContext, pod: Pod): Refusal | undefined {
  const failed = (name: string, why: string): Refusal => ({ reason: name, message: `Predicate ${name} failed: ${why}` });
  if (!matchesNodeAffinity(pod, node)) {
    return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  }
  const wanted = pod.spec?.nodeName;
  if (wanted && wanted !== node.metadata?.name) return failed('NodeName', "node(s) didn't match the requested node name");
  if (!hasFreePorts(pod, others)) return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  if (!isStaticPod(pod) && findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoExecute']) !== undefined) {
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  }
  return undefined;
}

// Behaviour of the scheduler's node resources plugin and of pkg/kubelet/lifecycle/predicate.go, v1.36.3.

/** A resource of which the node has too little. CPU counts in thousandths. */
export interface Shortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** What the node has too little of for one more pod, in the order in which the kubelet names them. */
function shortages(pod: Pod, others: readonly Pod[], node: WireNode): Shortage[] {
  const allocatable = node.status?.allocatable ?? {};
  const found: Shortage[] = [];
  const pods = amount('pods', allocatable.pods);
  const count = BigInt(others.length);
  if (count + 1n > pods) found.push({ resource: 'pods', requested: 1n, used: count, capacity: pods });
  const requests = requestsOf(pod);
  const names = Object.keys(requests).filter((name) => requests[name] !== 0n);
  if (names.length === 0) return found;
  const used = others.map(requestsOf);
  const short: Shortage[] = [];
  for (const resource of names) {
    const requested = requests[resource] ?? 0n;
    // an extended resource that the node does not have is one of the cluster, and not the node's to give
    if (isExtendedResource(resource) && !(resource in allocatable)) continue;
    const taken = used.reduce((sum, each) => sum + (each[resource] ?? 0n), 0n);
    const capacity = amount(resource, allocatable[resource]);
    if (requested > capacity - taken) short.push({ resource, requested, used: taken, capacity });
  }
  return [...found, ...short.sort(byName)];
}

function outOf({ resource, requested, used, capacity }: Shortage): Refusal {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` };
}

/** For a critical pod that would not fit either if every lesser pod went. */
function noRoom({ resource, requested, used, capacity }: Shortage): Refusal {
  const missing = `[(res: ${resource}, q: ${requested - (capacity - used)}), ]`;
  const failure = `no set of running pods found to reclaim resources: ${missing}`;
  const message = `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${failure}`;
  return { reason: 'UnexpectedAdmissionError', message };
}

const first = ['cpu', 'memory', 'ephemeral-storage'];

function byName({ resource: one }: Shortage, { resource: other }: Shortage): number {
  const place = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return place(one) - place(other) || (one < other ? -1 : 1);
}

function requestsOf(pod: Pod): Record<string, bigint> {
  const requests: Quantities = podRequests(withoutClaimed(pod).spec ?? undefined);
  return Object.fromEntries(Object.entries(requests).map(([name, quantity]) => [name, amountOf(name, quantity)]));
}

/** The pod without the extended resources that its containers have by a claim: drivers give them, and no plugin of the node. */
function withoutClaimed(pod: Pod): Pod {
  const mappings = pod.status?.extendedResourceClaimStatus?.requestMappings ?? [];
  if (mappings.length === 0 || !pod.spec) return pod;
  const claimed = new Set(mappings.map(({ containerName, resourceName }) => `${containerName} ${resourceName}`));
  const reduced = <C extends NonNullable<Pod['spec']>['containers'][number]>(container: C): C => {
    const isKept = ([name]: [string, unknown]): boolean => !isDraResource(name) || !claimed.has(`${container.name} ${name}`);
    const requests = Object.fromEntries(Object.entries(container.resources?.requests ?? {}).filter(isKept));
    const limits = Object.fromEntries(Object.entries(container.resources?.limits ?? {}).filter(isKept));
    return { ...container, resources: { ...container.resources, requests, limits } };
  };
  const { containers, initContainers } = pod.spec;
  return { ...pod, spec: { ...pod.spec, containers: containers.map(reduced), initContainers: initContainers?.map(reduced) } };
}

function amount(resource: string, quantity: string | undefined): bigint {
  return quantity === undefined ? 0n : amountOf(resource, canonicalQuantity(quantity));
}

/** Of a quantity in canonical form. Rounded up, as the scheduler counts. */
function amountOf(resource: string, canonical: string): bigint {
  const unit = resource === 'cpu' ? nanoInMilli : nanoInOne;
  return (quantityInNano(canonical) + unit - 1n) / unit;
}

// Behaviour of pkg/kubelet/eviction/eviction_manager.go Admit, v1.36.3.

const memoryTaint = 'node.kubernetes.io/memory-pressure';

/** Refuses pods while the node runs short: all but critical ones, and under memory pressure alone only those of class BestEffort. */
export const nodePressure: AdmissionCheck = ({ pod, pressures }) => {
  const short = Object.entries({
    MemoryPressure: pressures.memory,
    DiskPressure: pressures.disk,
    PIDPressure: pressures.pid,
  }).flatMap(([name, isShort]) => (isShort ? [name] : []));
  if (short.length === 0 || isCriticalPod(pod)) return undefined;
  if (short.length === 1 && pressures.memory) {
    const tolerated = (pod.spec?.tolerations ?? []).some(
      ({ key, operator, effect }) =>
        (key === memoryTaint || (!key && operator === 'Exists')) && (!effect || effect === 'NoSchedule'),
    );
    if (computePodQOSClass(pod.spec) !== 'BestEffort' || tolerated) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${short.join(' ')}]. ` };
};

// Behaviour of pkg/security/apparmor, v1.36.3.

type Profile = NonNullable<NonNullable<NonNullable<Pod['spec']>['securityContext']>['appArmorProfile']>;

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** Refuses a pod that asks for AppArmor on a machine without it. `isEnabled` is asked for each such pod. */
export function appArmorSupport(isEnabled: () => boolean): AdmissionCheck {
  return ({ pod }) => {
    const isNew = (pod.status?.phase ?? 'Pending') === 'Pending';
    if (!isNew || !asksForAppArmor(pod)) return undefined;
    if (!isEnabled()) return refused('AppArmor is not enabled on the host');
    const isNameless = profilesOf(pod).some(({ type, localhostProfile }) => type === 'Localhost' && !localhostProfile?.trim());
    return isNameless ? refused('invalid empty AppArmor profile name') : undefined;
  };
}

function asksForAppArmor(pod: Pod): boolean {
  if (profilesOf(pod).some(({ type }) => type !== 'Unconfined')) return true;
  const annotations = Object.entries(pod.metadata?.annotations ?? {});
  return annotations.some(([key, value]) => key.startsWith(annotationPrefix) && value !== 'unconfined');
}

function profilesOf({ spec }: Pod): Profile[] {
  const containers = [spec?.containers, spec?.initContainers, spec?.ephemeralContainers].flatMap((list) => list ?? []);
  const contexts = [spec?.securityContext, ...containers.map(({ securityContext }) => securityContext)];
  return contexts.flatMap((context) => (context?.appArmorProfile == null ? [] : [context.appArmorProfile]));
}

function refused(why: string): { reason: string; message: string } {
  return { reason: 'AppArmor', message: `Cannot enforce AppArmor: ${why}` };
}

// Behaviour of pkg/kubelet/types/pod_update.go IsCriticalPod, v1.36.3.

/** The lowest priority of the classes that Kubernetes itself has. */
const systemPriority = 2_000_000_000;

/** True for a pod that the node does not do without: static pods, their mirrors, and pods of the system's priority classes. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemPriority;
}

/** Refuses a pod of which the agent keeps only an outline. The kubelet has no such rule: it takes as much memory as pods make it. */
export function podSize(tooLarge: (podUID: string) => string | undefined): AdmissionCheck {
  return ({ pod }) => {
    const message = tooLarge(podUIDOf(pod));
    return message === undefined ? undefined : { reason: 'PodTooLarge', message };
  };
}

// Behaviour of Admit in pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go, v1.36.3.

/** A machine that shuts down takes no pod. */
export function noShutdown(isShuttingDown: () => boolean): AdmissionCheck {
  const refusal = { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' };
  return () => (isShuttingDown() ? refusal : undefined);
}
