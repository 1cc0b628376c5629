// Behaviour of pkg/fieldpath, v1.36.3.
import { isLabelKey } from '../../base/names.ts';
import { goQuote } from '../json/go-quote.ts';
import type { Pod } from '../json/types.ts';
import { canonicalQuantity, nanoInMilli, nanoInOne } from '../quantity/quantity.ts';
import { quantityInNano } from '../quantity/quantity-arithmetic.ts';
import { type Container, namedContainers } from './pod-containers.ts';

/**
 * The value of a field of the pod's metadata, as environment variables and files of the downward API name it:
 * `metadata.name`, `metadata.namespace`, `metadata.uid`, `metadata.labels`, `metadata.annotations`, and one of the last two
 * with a key, such as `metadata.labels['app']`. A key that the pod does not have is empty text.
 *
 * Throws an `Error` with the kubelet's message for any other path.
 */
export function metadataField({ metadata }: Pod, fieldPath: string): string {
  const { path, key } = splitFieldPath(fieldPath);
  if (key !== undefined) return valueOfKey({ metadata }, fieldPath, path, key);
  switch (fieldPath) {
    case 'metadata.annotations':
      return linesOf(metadata?.annotations);
    case 'metadata.labels':
      return linesOf(metadata?.labels);
    case 'metadata.name':
      return metadata?.name ?? '';
    case 'metadata.namespace':
      return metadata?.namespace ?? '';
    case 'metadata.uid':
      return metadata?.uid ?? '';
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`);
  }
}

/** `metadata.labels['app']` in its two parts; any other path has no key. */
export function splitFieldPath(fieldPath: string): { readonly path: string; readonly key: string | undefined } {
  const end = fieldPath.length - 2;
  const start = fieldPath.endsWith("']") ? fieldPath.slice(0, end).indexOf("['") : -1;
  if (start <= 0) return { path: fieldPath, key: undefined };
  return { path: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, end) };
}

function valueOfKey({ metadata }: Pod, fieldPath: string, path: string, key: string): string {
  const [map, checked] =
    path === 'metadata.annotations'
      ? [metadata?.annotations, key.toLowerCase()]
      : path === 'metadata.labels'
        ? [metadata?.labels, key]
        : [undefined, undefined];
  if (checked === undefined) throw new Error(`fieldPath ${goQuote(fieldPath)} does not support subscript`);
  if (!isLabelKey(checked)) throw new Error(`invalid key subscript in ${fieldPath}: name part must be a qualified name`);
  return map && Object.hasOwn(map, key) ? String(map[key]) : '';
}

/** One line for each key, in the order of the keys: `key="value"`. */
function linesOf(map: { readonly [key: string]: string } | null | undefined): string {
  const lines = Object.entries(map ?? {}).map(([key, value]) => ({ bytes: Buffer.from(key), key, value }));
  lines.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return lines.map(({ key, value }) => `${key}=${goQuote(String(value))}`).join('\n');
}

// Behaviour of ExtractResourceValueByContainerNameAndNodeAllocatable in pkg/api/v1/resource, v1.36.3.

/** Quantities by the name of the resource, such as `{ cpu: '4', memory: '8Gi' }`. */
export type ResourceQuantities = Readonly<Record<string, string>>;

/** Which resource of a container is asked for, and in which unit. */
export interface ResourceField {
  /** Such as `limits.cpu` or `requests.memory`. */
  readonly resource: string;
  /** The unit: what the value is divided by, rounded up. Default 1; 0 means 1. */
  readonly divisor?: string | number | null | undefined;
}

/** A limit that is not there counts as what the node can give. */
const limitedByNode: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * The value of a resource of the container with that name, as environment variables and files of the downward API have it.
 * Regular containers and init containers are searched. Throws an `Error` with the kubelet's message for a container or a
 * resource that is not there, and ERR_INVALID_ARGUMENT for what is no quantity.
 */
export function resourceField(
  pod: Pod,
  containerName: string,
  field: ResourceField,
  nodeAllocatable: ResourceQuantities,
  { regular, init } = namedContainers(pod),
): string {
  const container = regular(containerName) ?? init(containerName);
  if (container === undefined) throw new Error(`container ${containerName} not found`);
  return resourceFieldOf(container, field, nodeAllocatable);
}

/** As {@link resourceField}, of a container that was found already. */
export function resourceFieldOf(
  { resources }: Pick<Container, 'resources'>,
  { resource, divisor }: ResourceField,
  nodeAllocatable: ResourceQuantities,
): string {
  const [, kind, name] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)$/s.exec(resource) ?? [];
  if (kind === undefined || name === undefined) throw new Error(`unsupported container resource : ${resource}`);
  const nano = kind === 'limits' ? limitOf(resources?.limits, name, nodeAllocatable) : inNano(resources?.requests?.[name]);
  const given = inNano(divisor);
  const unit = name === 'cpu' ? nanoInMilli : nanoInOne;
  const divided = dividedUp(nano, unit);
  return String(dividedUp(divided, dividedUp(given === 0n ? nanoInOne : given, unit)));
}

type Limits = NonNullable<Container['resources']>['limits'];

function limitOf(limits: Limits | null, name: string, nodeAllocatable: ResourceQuantities): bigint {
  const own = inNano(limits?.[name]);
  return own === 0n && limitedByNode.includes(name) ? inNano(nodeAllocatable[name]) : own;
}

function inNano(quantity: unknown): bigint {
  return quantity === undefined || quantity === null || quantity === ''
    ? 0n
    : quantityInNano(canonicalQuantity(String(quantity)));
}

/** Rounded up. */
function dividedUp(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value > 0n && value % by !== 0n ? quotient + 1n : quotient;
}
