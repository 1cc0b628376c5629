// Behaviour of component-helpers/resource PodRequests, v0.36.3, with the options that the scheduler gives it.

import type { WirePod } from '../../api/json/types.ts';
import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { isPodLevelResource } from '../../api/pod/pod-requests.ts';
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
