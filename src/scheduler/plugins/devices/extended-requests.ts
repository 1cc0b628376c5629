// Behaviour of createRequestsAndMappings, pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go, v1.36.3.
import type { WirePod } from '../../../api/json/types.ts';
import { canonicalQuantity } from '../../../api/quantity/quantity.ts';
import { quantityInNano } from '../../../api/quantity/quantity-arithmetic.ts';
import type { ClaimRequest } from '../../devices/device-types.ts';

type WireContainer = NonNullable<NonNullable<WirePod['spec']>['containers']>[number];

/** Which request of the claim has what a container asks for, as it stands in the pod's status. */
export interface RequestMapping {
  readonly containerName: string;
  readonly resourceName: string;
  readonly requestName: string;
}

/** What a claim has to ask for in place of extended resources. */
export interface ExtendedRequests {
  /** In the order of their names. */
  readonly requests: readonly ClaimRequest[];
  readonly mappings: readonly RequestMapping[];
}

/** A claim has at most so many devices: whoever finds them refuses one that asks for more. */
const mostRequests = 32;
/** A pod with more of them is larger than a server keeps. */
export const mostMappings = 20_000;

/**
 * The requests of a claim that gives the pod these resources as devices, by resource the class that stands for it. An init container that
 * ends uses what later containers have, and what it needs beyond that is shared by all such containers. Where the claim would ask for more
 * than any claim can have, some is left out, but never so much that it could have what is left.
 */
export function extendedRequests({ spec }: WirePod, classes: ReadonlyMap<string, string>): ExtendedRequests {
  const initContainers = spec?.initContainers ?? [];
  const containers = [...initContainers, ...(spec?.containers ?? [])];
  const requests: ClaimRequest[] = [];
  const mappings: RequestMapping[] = [];
  for (const [resourceName, deviceClassName] of [...classes].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const found = requestsFor(containers, initContainers.length, resourceName, deviceClassName);
    for (const one of found.requests) requests.push(one);
    for (const one of found.mappings) mappings.push(one);
    if (requests.length > mostRequests || mappings.length > mostMappings) break;
  }
  return { requests: requests.sort((one, other) => (one.name < other.name ? -1 : 1)), mappings };
}

function requestsFor(
  containers: readonly WireContainer[],
  initContainers: number,
  resourceName: string,
  deviceClassName: string,
): ExtendedRequests {
  const isShortLived = (index: number): boolean => index < initContainers && containers[index]?.restartPolicy !== 'Always';
  const request = (name: string, count: number): ClaimRequest => ({
    name,
    exactly: { deviceClassName, allocationMode: 'ExactCount', count },
  });
  const asking = [...containers.entries()].flatMap(([index, container]) => {
    const count = wholeCount(container.resources?.requests?.[resourceName]);
    return count === 0 ? [] : [{ index, container, count, name: requestName(index, container, resourceName) }];
  });
  const lasting = asking.filter(({ index }) => !isShortLived(index));
  const requests = lasting.map(({ name, count }) => request(name, count));
  const mappings = lasting.map(({ container, name }) => mapping(container, resourceName, name));
  // each has a device at least
  if (requests.length > mostRequests) return { requests, mappings };
  const passing: RequestMapping[] = [];
  const ownNames = new Set<string>();
  let most: { readonly name: string; readonly count: number } | undefined;
  for (const { index, container, count, name } of asking) {
    if (!isShortLived(index)) continue;
    if (passing.length > mostMappings) break;
    let missing = count;
    for (const later of lasting) {
      if (later.index < index || missing <= 0) continue;
      missing -= later.count;
      passing.push(mapping(container, resourceName, later.name));
    }
    if (missing <= 0) continue;
    ownNames.add(name);
    passing.push(mapping(container, resourceName, name));
    if (most === undefined || most.count < missing) most = { name, count: missing };
  }
  if (most === undefined) return { requests, mappings: [...mappings, ...passing] };
  const { name: shared, count } = most;
  const renamed = passing.map((one) => (ownNames.has(one.requestName) ? { ...one, requestName: shared } : one));
  return { requests: [...requests, request(shared, count)], mappings: [...mappings, ...renamed] };
}

function mapping({ name }: WireContainer, resourceName: string, request: string): RequestMapping {
  return { containerName: name, resourceName, requestName: request };
}

/** The container's place among all, and the resource's among those that it asks for. */
function requestName(index: number, { resources }: WireContainer, resourceName: string): string {
  const names = Object.keys(resources?.requests ?? {}).sort();
  return `container-${index}-request-${names.indexOf(resourceName)}`;
}

const nanoInOne = 10n ** 9n;

/** 0 for what is no whole number. */
function wholeCount(quantity: string | undefined): number {
  if (quantity === undefined) return 0;
  const nano = quantityInNano(canonicalQuantity(String(quantity)));
  return nano % nanoInOne === 0n ? Number(nano / nanoInOne) : 0;
}
