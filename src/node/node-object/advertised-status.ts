import type {
  WireContainerImage,
  WireNodeAddress,
  WireNodeDaemonEndpoints,
  WireNodeFeatures,
  WireNodeRuntimeHandler,
  WireNodeSystemInfo,
} from '../../api/json/types.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { invalidOption } from '../../base/errors.ts';
import { isCountedResource, isLabelKey, labelKeyRule } from '../../base/names.ts';
import { requireKnownOptions } from '../../base/options.ts';

/** What a node says of itself in its status, beside the conditions. */
export interface AdvertisedStatus {
  /** Quantities by resource: `{ cpu: '4', memory: '8Gi', pods: '110' }`. These three are needed: without them a node is not ready. */
  readonly capacity: Readonly<Record<string, string>>;
  /** What pods may use of it. A resource that is not named here counts whole. */
  readonly allocatable?: Readonly<Record<string, string>>;
  /** In order of preference; null: they are not known, and those that the apiserver has stay. Default: the node's name as `Hostname`. */
  readonly addresses?: readonly WireNodeAddress[] | null;
  /** Default: the operating system and architecture of this process, as Go names them, and empty text for the rest. */
  readonly nodeInfo?: Partial<WireNodeSystemInfo>;
  /** Where the agent's own API listens: `{ kubeletEndpoint: { Port: 10250 } }`. Default: nowhere. */
  readonly daemonEndpoints?: WireNodeDaemonEndpoints;
  /** The images that the node has, the largest first. Default: what the apiserver has of the node stays. */
  readonly images?: readonly WireContainerImage[];
  /** What the container runtime can do. Default: what the apiserver has of the node stays. */
  readonly features?: WireNodeFeatures;
  /** The ways of running containers that a RuntimeClass can name. Default: what the apiserver has of the node stays. */
  readonly runtimeHandlers?: readonly WireNodeRuntimeHandler[];
  /** Features of the agent that the scheduler and the apiserver go by. Default: what the apiserver has of the node stays. */
  readonly declaredFeatures?: readonly string[];
  /**
   * The volumes that may be in use on the node, by their unique names: nobody detaches one of them. Empty: none is. Default: what the apiserver
   * has of the node stays.
   */
  readonly volumesInUse?: readonly string[];
}

/** What stands in a status only where the agent says it. */
export type OptionalStatus = Pick<AdvertisedStatus, (typeof optionalMembers)[number]>;

export type ResolvedStatus = {
  readonly optional: OptionalStatus;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Null: those that the node has stay. */
  readonly addresses: readonly WireNodeAddress[] | null;
  readonly nodeInfo: WireNodeSystemInfo;
  readonly daemonEndpoints: WireNodeDaemonEndpoints;
};

const optionalMembers = ['images', 'features', 'runtimeHandlers', 'declaredFeatures', 'volumesInUse'] as const;
export const statusMembers = ['capacity', 'allocatable', 'addresses', 'nodeInfo', 'daemonEndpoints', ...optionalMembers] as const;
const neededResources = ['cpu', 'memory', 'pods'];
const addressTypes = ['Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS'];
const infoMembers = [
  'architecture',
  'bootID',
  'containerRuntimeVersion',
  'kernelVersion',
  'kubeProxyVersion',
  'kubeletVersion',
  'machineID',
  'operatingSystem',
  'osImage',
  'systemUUID',
] as const satisfies readonly (keyof WireNodeSystemInfo)[];

const goSystems: Readonly<Record<string, string>> = { win32: 'windows', sunos: 'solaris' };
const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** The status with every default. Throws ERR_INVALID_OPTION, naming the member, the rule and the value. */
export function resolveStatus(status: AdvertisedStatus, nodeName: string): ResolvedStatus {
  const { capacity, allocatable = {}, addresses = [{ type: 'Hostname', address: nodeName }], nodeInfo = {} } = status;
  const { daemonEndpoints = { kubeletEndpoint: { Port: 0 } } } = status;
  const sizes = quantities('capacity', capacity);
  for (const name of neededResources) {
    if (sizes[name] === undefined) throw invalidOption(`capacity.${name}`, 'a quantity: a node needs it', undefined);
  }
  const usable = quantities('allocatable', allocatable);
  for (const name of Object.keys(usable)) {
    if (sizes[name] === undefined) throw invalidOption(`allocatable.${name}`, 'a resource of the capacity', usable[name]);
  }
  return {
    capacity: sizes,
    allocatable: { ...sizes, ...usable },
    addresses: addresses === null ? null : checkedAddresses(addresses),
    nodeInfo: checkedInfo(nodeInfo),
    daemonEndpoints: checkedEndpoints(daemonEndpoints),
    optional: checkedOptional(status),
  };
}

function checkedOptional(status: OptionalStatus): OptionalStatus {
  for (const name of ['images', 'runtimeHandlers', 'declaredFeatures', 'volumesInUse'] as const) {
    const list: unknown = status[name];
    if (list !== undefined && !Array.isArray(list)) throw invalidOption(name, 'a list', list);
  }
  if (status.features !== undefined) requireRecord('features', status.features);
  const given = optionalMembers.filter((name) => status[name] !== undefined).map((name) => [name, status[name]]);
  return Object.fromEntries(given);
}

/** As the apiserver gives them back. */
function quantities(option: string, value: Readonly<Record<string, string>>): Record<string, string> {
  requireRecord(option, value);
  const out: Record<string, string> = {};
  for (const [name, given] of Object.entries(value)) {
    if (!isLabelKey(name)) throw invalidOption(`${option}, the resource name`, labelKeyRule, name);
    const quantity = quantityOf(given);
    if (quantity === undefined || quantity.startsWith('-')) {
      throw invalidOption(`${option}.${name}`, 'a quantity that is not negative, such as "4", "100m" or "8Gi"', given);
    }
    // a count of pods or devices has no fractions
    if (isCountedResource(name) && /[mun]$/.test(quantity)) {
      throw invalidOption(`${option}.${name}`, 'a whole number', given);
    }
    out[name] = quantity;
  }
  return out;
}

function quantityOf(text: unknown): string | undefined {
  try {
    return typeof text === 'string' ? canonicalQuantity(text) : undefined;
  } catch {
    return undefined;
  }
}

function checkedAddresses(value: readonly WireNodeAddress[]): readonly WireNodeAddress[] {
  if (!Array.isArray(value)) throw invalidOption('addresses', 'a list', value);
  const seen = new Set<string>();
  return value.map((each: WireNodeAddress, index) => {
    const name = `addresses[${index}]`;
    requireKnownOptions(name, each, ['type', 'address']);
    const { type, address } = each;
    if (!addressTypes.includes(type)) throw invalidOption(`${name}.type`, `one of ${addressTypes.join(', ')}`, type);
    if (typeof address !== 'string' || address === '') throw invalidOption(`${name}.address`, 'a non-empty string', address);
    const key = `${type} ${address}`;
    if (seen.has(key)) throw invalidOption(name, 'an address that the list has once', key);
    seen.add(key);
    return { type, address };
  });
}

function checkedInfo(value: Partial<WireNodeSystemInfo>): WireNodeSystemInfo {
  requireKnownOptions('nodeInfo', value, infoMembers);
  const { platform, arch } = process;
  const info: Record<string, string> = {};
  for (const member of infoMembers) {
    const text = value[member] ?? '';
    if (typeof text !== 'string') throw invalidOption(`nodeInfo.${member}`, 'text', text);
    info[member] = text;
  }
  info.operatingSystem ||= goSystems[platform] ?? platform;
  info.architecture ||= goArchitectures[arch] ?? arch;
  return info as unknown as WireNodeSystemInfo;
}

function checkedEndpoints(value: WireNodeDaemonEndpoints): WireNodeDaemonEndpoints {
  requireKnownOptions('daemonEndpoints', value, ['kubeletEndpoint']);
  const { kubeletEndpoint = { Port: 0 } } = value;
  requireKnownOptions('daemonEndpoints.kubeletEndpoint', kubeletEndpoint, ['Port']);
  const { Port } = kubeletEndpoint;
  if (!Number.isInteger(Port) || Port < 0 || Port > 65_535) {
    throw invalidOption('daemonEndpoints.kubeletEndpoint.Port', 'an integer from 0 to 65535', Port);
  }
  return { kubeletEndpoint: { Port } };
}

export function requireRecord(option: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidOption(option, 'an object', value);
}
