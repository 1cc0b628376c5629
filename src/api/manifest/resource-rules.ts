// Behaviour of pkg/apis/core/validation for resources, and pkg/apis/core/helper, v1.36.3.
import { isLabelKey } from '../../base/names.ts';
import { isPodLevelResource } from '../pod/pod-requests.ts';
import { canonicalQuantity, nanoInMilli, nanoInOne } from '../quantity/quantity.ts';
import { compareQuantities, quantityInNano } from '../quantity/quantity-arithmetic.ts';
import { check, refuse } from './invalid-manifest.ts';
import { aggregate, isHugePages, isNativeResource, isOvercommitAllowed } from './pod-defaults.ts';
import type { ManifestContainer, ManifestPodSpec, ResourceList, ResourceRequirements } from './pod-types.ts';
import { checkDnsLabel, checkOneOf, checkQualifiedName, checkUnique } from './text-rules.ts';

const standardNames = ['cpu', 'memory', 'ephemeral-storage'];
const quotaPrefix = 'requests.';
const largestInt64 = 2n ** 63n - 1n;
/** Upstream counts in thousandths, in 64 bits. */
const largestCount = largestInt64 * nanoInMilli;

type CheckName = (path: string, name: string) => void;

/** `claimNames`: those of the pod's resource claims. */
export function checkContainerResources(path: string, resources: ResourceRequirements, claimNames: ReadonlySet<string>): void {
  checkResources(path, resources, checkContainerResourceName);
  checkClaims(`${path}.claims`, resources.claims ?? [], claimNames);
}

export function checkOverhead(overhead: ResourceList): void {
  checkResources('spec.overhead', { limits: overhead }, checkContainerResourceName);
}

/** The pod as a whole has at least what its containers have together. */
export function checkPodResources(spec: ManifestPodSpec): void {
  const { resources } = spec;
  if (!resources) return;
  if (spec.os?.name === 'windows') refuse('spec.resources', 'absent for Windows', {});
  if (resources.claims !== undefined) refuse('spec.resources.claims', 'absent', resources.claims);
  checkResources('spec.resources', resources, (path, name) => {
    checkQualifiedName(path, name);
    check(isPodLevelResource(name), path, 'cpu, memory or hugepages', name);
  });
  checkTotals('spec.resources.requests', resources.requests, aggregate(spec, 'requests'), () => true);
  checkTotals('spec.resources.limits', resources.limits, aggregate(spec, 'limits'), isHugePages);
  for (const container of spec.containers)
    checkTotals('spec.resources.limits', resources.limits, container.resources?.limits, () => true);
}

function checkTotals(
  path: string,
  given: ResourceList | undefined,
  least: ResourceList | undefined,
  counts: (name: string) => boolean,
): void {
  for (const [name, quantity] of Object.entries(least ?? {})) {
    const held = given && Object.hasOwn(given, name) && counts(name) ? given[name] : undefined;
    if (held !== undefined)
      check(compareQuantities(held, quantity) >= 0, `${path}[${name}]`, `at least ${quantity}, as containers have it`, held);
  }
}

function checkResources(path: string, { limits = {}, requests = {} }: ResourceRequirements, checkName: CheckName): void {
  for (const [list, quantities] of Object.entries({ limits, requests })) {
    for (const [name, quantity] of Object.entries(quantities)) {
      checkName(`${path}.${list}[${name}]`, name);
      checkAmount(`${path}.${list}[${name}]`, name, quantity);
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    checkRequest(`${path}.requests[${name}]`, name, request, Object.hasOwn(limits, name) ? limits[name] : undefined);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const needsMore = names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory');
  check(!needsMore, path, 'with cpu or memory beside hugepages', names.join(', '));
}

function checkRequest(path: string, name: string, request: string, limit: string | undefined): void {
  if (isOvercommitAllowed(name)) {
    check(limit === undefined || compareQuantities(request, limit) <= 0, path, `at most its limit ${limit}`, request);
  } else {
    check(limit !== undefined && compareQuantities(request, limit) === 0, path, `equal to its limit ${limit}`, request);
  }
}

function checkContainerResourceName(path: string, name: string): void {
  checkQualifiedName(path, name);
  const isStandard = standardNames.includes(name) || isHugePages(name);
  check(name.includes('/') || isStandard, path, 'cpu, memory, ephemeral-storage, hugepages, or a name with a prefix', name);
  check(!name.includes('/') || isNativeResource(name) || isExtended(name), path, 'the name of an extended resource', name);
}

/** A resource that somebody else than Kubernetes counts. */
function isExtended(name: string): boolean {
  return !isNativeResource(name) && !name.startsWith(quotaPrefix) && isLabelKey(quotaPrefix + name);
}

function checkAmount(path: string, name: string, quantity: string): void {
  const nano = quantityInNano(quantity);
  check(nano >= 0n, path, 'at least 0', quantity);
  if (isExtended(name))
    check(nano % nanoInOne === 0n && nano <= largestCount, path, 'a whole number of 64 bits in thousandths', quantity);
  if (isHugePages(name))
    check(isDivisible(name.slice('hugepages-'.length), nano), path, 'a multiple of the size of a page', quantity);
}

function isDivisible(pageSize: string, nano: bigint): boolean {
  try {
    const page = quantityInNano(canonicalQuantity(pageSize));
    const wholes = nano % nanoInOne === 0n ? nano : nano - (nano % nanoInOne) + nanoInOne;
    const counted = wholes > largestInt64 * nanoInOne ? largestInt64 * nanoInOne : wholes;
    return page > 0n && page % nanoInOne === 0n && counted % page === 0n;
  } catch {
    return false;
  }
}

function checkClaims(path: string, claims: NonNullable<ResourceRequirements['claims']>, known: ReadonlySet<string>): void {
  const seen = new Set<string>();
  for (const [index, { name, request }] of claims.entries()) {
    check(name !== '' && known.has(name), `${path}[${index}].name`, 'the name of a resource claim of the pod', name);
    if (request !== undefined) checkDnsLabel(`${path}[${index}].request`, request);
    checkUnique(`${path}[${index}]`, seen, `${name}/${request ?? ''}`);
  }
}

export function checkResizePolicy(path: string, { resizePolicy = [] }: ManifestContainer, spec: ManifestPodSpec): void {
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of resizePolicy.entries()) {
    checkUnique(`${path}[${index}].resourceName`, seen, resourceName);
    checkOneOf(`${path}[${index}].resourceName`, resourceName, ['cpu', 'memory']);
    const allowed = spec.restartPolicy === 'Never' ? ['NotRequired'] : ['NotRequired', 'RestartContainer'];
    checkOneOf(`${path}[${index}].restartPolicy`, restartPolicy, allowed);
  }
}
