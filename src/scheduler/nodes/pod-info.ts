import type { WirePod } from '../../api/json/types.ts';
import { type HostPort, hostPortsOf } from '../../api/pod/host-ports.ts';
import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { isPodLevelResource } from '../../api/pod/pod-requests.ts';
import { type LabelSet, parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { errorText } from '../../base/errors.ts';
import {
  type Amounts,
  addAmounts,
  amountsOf,
  type GivenQuantities,
  inThousandths,
  type NonZeroAmounts,
  type ResourceAmounts,
  raiseAmounts,
  resourceAmounts,
  unitsOf,
} from './resource.ts';

/** One term of a pod's affinity to other pods, its selectors parsed. */
export interface AffinityTerm {
  /** Terms with the same key speak of the same pods. */
  readonly key: string;
  /** The label of nodes whose value says which nodes count as one place. */
  readonly topologyKey: string;
  /**
   * True where the term speaks of `pod`, which is in a namespace with these labels. `undefined`: nothing is known of the
   * namespace; then only a term that names it, or one with an empty namespace selector, speaks of its pods.
   */
  matches(pod: WirePod, namespaceLabels: Readonly<Record<string, string>> | undefined): boolean;
}

/** A term of a preference: pods at the same place make it better or worse. */
export interface WeightedAffinityTerm extends AffinityTerm {
  /** How much the term counts: 1 to 100. */
  readonly weight: number;
}

/** A pod and what the plugins need of it, worked out once. Never changed: another version of the pod is another PodInfo. */
export interface PodInfo {
  /** The Pod object, as the apiserver has it. */
  readonly pod: WirePod;
  /** `metadata.uid` of the pod. */
  readonly uid: string;
  /** `metadata.name` of the pod. */
  readonly name: string;
  /** `metadata.namespace` of the pod. */
  readonly namespace: string;
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  /** Pods with the same key have one namespace and the same labels, and are all being deleted or all not. */
  readonly groupKey: string;
  /** 0 where the pod has none. */
  readonly priority: number;
  /** What the pod asks for, its init containers and overhead counted. */
  readonly requests: ResourceAmounts;
  /** The same, where no container counts for nothing. */
  readonly nonZeroRequests: NonZeroAmounts;
  /** The ports of the node that the pod takes. */
  readonly hostPorts: readonly HostPort[];
  /** The claims of volumes that the pod names, as `NAMESPACE/NAME`. */
  readonly claimKeys: readonly string[];
  /** True where the pod says anything of other pods. */
  readonly hasAffinity: boolean;
  /** The pods that there have to be at the place of this one. */
  readonly requiredAffinityTerms: readonly AffinityTerm[];
  /** The pods that there must not be at the place of this one. */
  readonly requiredAntiAffinityTerms: readonly AffinityTerm[];
  /** The pods that make a place better. */
  readonly preferredAffinityTerms: readonly WeightedAffinityTerm[];
  /** The pods that make a place worse. */
  readonly preferredAntiAffinityTerms: readonly WeightedAffinityTerm[];
  /** Why the affinity to other pods cannot be read, where it breaks a rule; it counts as none then. */
  readonly affinityProblem: string | undefined;
}

// Behaviour of pkg/scheduler/framework PodInfo, v1.36.3.

/** How a pod's spec is counted; the classic scheduler counted otherwise. */
export interface PodInfoReading {
  amounts(pod: WirePod): PodAmounts;
  hostPorts(pod: WirePod): readonly HostPort[];
}

function claimKeys({ metadata, spec }: WirePod): readonly string[] {
  const volumes = spec?.volumes?.filter(({ persistentVolumeClaim }) => persistentVolumeClaim != null) ?? noTerms;
  if (volumes.length === 0) return noTerms;
  return [...new Set(volumes.map(({ persistentVolumeClaim }) => `${metadata?.namespace}/${persistentVolumeClaim?.claimName}`))];
}

/** How v1.36.3 counts. */
const podReading: PodInfoReading = { amounts: podAmounts, hostPorts: hostPortsOf };

type AffinityMembers = Pick<
  PodInfo,
  'requiredAffinityTerms' | 'requiredAntiAffinityTerms' | 'preferredAffinityTerms' | 'preferredAntiAffinityTerms'
>;
const noTerms: readonly never[] = [];

/**
 * Reads all that the scheduler needs of a pod. Affinity to other pods that breaks a rule counts as none, and
 * `affinityProblem` says what is wrong. Throws ERR_INVALID_ARGUMENT for what is no quantity.
 */
export function createPodInfo(pod: WirePod, reading: PodInfoReading = podReading): PodInfo {
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
      problems.push(errorText(error));
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
    claimKeys: claimKeys(pod),
    hasAffinity: podAffinity != null || podAntiAffinity != null,
    ...terms,
    affinityProblem: problems.length === 0 ? undefined : problems.join('; '),
  };
}

// Behaviour of kube-scheduler/framework AffinityTerm, v0.36.3.

type Affinity = NonNullable<NonNullable<WirePod['spec']>['affinity']>;
export type GivenAffinityTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number];
export type GivenWeightedTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['preferredDuringSchedulingIgnoredDuringExecution']
>[number];

/**
 * A term of a pod in `namespace`. Without namespaces and namespace selector it speaks of the pods of that namespace. Throws
 * ERR_INVALID_ARGUMENT for a selector that breaks a rule.
 */
export function parseAffinityTerm(path: string, namespace: string, given: GivenAffinityTerm): AffinityTerm {
  const selector = parseLabelSelector(`${path}.labelSelector`, given.labelSelector);
  const namespaceSelector = parseLabelSelector(`${path}.namespaceSelector`, given.namespaceSelector);
  const isOwnOnly = !given.namespaces?.length && given.namespaceSelector == null;
  const namespaces = new Set(isOwnOnly ? [namespace] : (given.namespaces ?? []));
  const speaksOf = (name: string, labels: LabelSet | undefined) =>
    namespaces.has(name) || (labels === undefined ? namespaceSelector.matchesAll : namespaceSelector.matches(labels));
  return {
    key: JSON.stringify([isOwnOnly ? namespace : '', given]),
    topologyKey: given.topologyKey,
    matches: ({ metadata }, namespaceLabels) =>
      speaksOf(metadata?.namespace ?? '', namespaceLabels) && selector.matches(metadata?.labels),
  };
}

/** As {@link parseAffinityTerm}, with the term's weight. */
function parseWeightedTerm(path: string, namespace: string, given: GivenWeightedTerm): WeightedAffinityTerm {
  const term = parseAffinityTerm(`${path}.podAffinityTerm`, namespace, given.podAffinityTerm);
  return { ...term, weight: given.weight };
}

// Behaviour of component-helpers/resource PodRequests, v0.36.3, with the options that the scheduler gives it.

/** What a pod asks for. */
export interface PodAmounts {
  readonly requests: ResourceAmounts;
  readonly nonZeroRequests: NonZeroAmounts;
}

type Containers = NonNullable<WirePod['spec']>['containers'];
type Container = Containers[number];
/** What a pod or a container has now, by its status. */
interface Reported {
  readonly resources?: { readonly requests?: GivenQuantities };
  readonly allocatedResources?: GivenQuantities;
}

/** What a container without a request counts as, in thousandths: 100m and 200 MiB. */
export const defaultRequests: ReadonlyMap<string, number> = new Map([
  ['cpu', 100],
  ['memory', 1000 * 200 * 1024 * 1024],
]);

/**
 * The pod's own resources stand instead of those of its containers. What a resize has set or is about to set counts where it
 * is more than the spec. Throws ERR_INVALID_ARGUMENT for what is no quantity.
 */
export function podAmounts(pod: WirePod): PodAmounts {
  const podLevel = podLevelRequests(pod);
  const requests = totalRequests(pod, podLevel, undefined);
  const missing = podLevel === undefined ? defaultRequests : withoutThoseOf(requests);
  const nonZero = missing.size === 0 ? requests : totalRequests(pod, podLevel, missing);
  return {
    requests: resourceAmounts(requests),
    nonZeroRequests: { milliCPU: nonZero.get('cpu') ?? 0, memory: unitsOf(nonZero.get('memory') ?? 0) },
  };
}

function withoutThoseOf(requests: Amounts): ReadonlyMap<string, number> {
  return new Map([...defaultRequests].filter(([name]) => !requests.has(name)));
}

function totalRequests(pod: WirePod, podLevel: Amounts | undefined, missing: ReadonlyMap<string, number> | undefined): Amounts {
  const total = requestsOfContainers(pod, missing);
  for (const [name, amount] of podLevel ?? []) total.set(name, amount);
  const { overhead } = pod.spec ?? {};
  if (overhead !== undefined) addAmounts(total, amountsOf(overhead));
  return total;
}

/** What the pod itself asks for, of the resources that a pod may; undefined where it asks for none. */
function podLevelRequests({ spec, status }: WirePod): Amounts | undefined {
  const given = spec?.resources?.requests;
  const names = Object.keys(given ?? {}).filter(isPodLevelResource);
  if (given === undefined || names.length === 0) return undefined;
  const amounts = new Map(names.map((name) => [name, inThousandths(given[name] as string)]));
  if (status?.resources === undefined) return amounts;
  const effective = mostOf(amountsOf(given), status, status);
  return new Map(names.map((name) => [name, effective.get(name) ?? 0]));
}

/**
 * The regular containers and the sidecars together, or, where that is more, what is needed while an init container runs
 * beside the sidecars before it.
 */
function requestsOfContainers({ spec, status }: WirePod, missing: ReadonlyMap<string, number> | undefined): Amounts {
  const total: Amounts = new Map();
  for (const container of spec?.containers ?? []) addAmounts(total, requestsOf(container, status, missing));
  if (!spec?.initContainers?.length) return total;
  const sidecars: Amounts = new Map();
  const mostForInit: Amounts = new Map();
  for (const container of spec.initContainers) {
    if (isRestartableInitContainer(container)) {
      const own = requestsOf(container, status, missing);
      addAmounts(total, own);
      addAmounts(sidecars, own);
      raiseAmounts(mostForInit, sidecars);
    } else {
      const meanwhile = requestsOf(container, undefined, missing);
      addAmounts(meanwhile, sidecars);
      raiseAmounts(mostForInit, meanwhile);
    }
  }
  raiseAmounts(total, mostForInit);
  return total;
}

/** Without a status, what the container has now does not count. */
function requestsOf(container: Container, status: WirePod['status'], missing: ReadonlyMap<string, number> | undefined): Amounts {
  const asked = amountsOf(container.resources?.requests);
  const reported = status === undefined ? undefined : statusOf(container.name, status);
  const amounts = reported?.resources === undefined ? asked : mostOf(asked, status, reported);
  for (const [name, amount] of missing ?? []) {
    if (!amounts.has(name)) amounts.set(name, amount);
  }
  return amounts;
}

function statusOf(name: string, { initContainerStatuses, containerStatuses }: NonNullable<WirePod['status']>) {
  return initContainerStatuses?.find((each) => each.name === name) ?? containerStatuses?.find((each) => each.name === name);
}

/** The most of what is asked, allocated and in force. What the node cannot give is not counted. */
function mostOf(asked: Amounts, status: WirePod['status'], { resources, allocatedResources }: Reported): Amounts {
  const most = isResizeInfeasible(status) ? new Map<string, number>() : asked;
  raiseAmounts(most, amountsOf(resources?.requests));
  raiseAmounts(most, amountsOf(allocatedResources));
  return most;
}

function isResizeInfeasible(status: WirePod['status']): boolean {
  return status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}
