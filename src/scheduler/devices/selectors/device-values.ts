import { type CelType, celTypes, mapType, structType } from '../cel/cel-types.ts';
import type { CelEnvironment } from '../cel/checker.ts';
import { type CelOverload, quantityType } from '../cel/declarations.ts';
import { celQuantity } from '../cel/functions/quantities.ts';
import { celVersion } from '../cel/functions/versions.ts';
import { CelMap, type CelValue } from '../cel/values.ts';

/** An attribute as resource.k8s.io/v1 has it: one of the members. */
interface DeviceAttribute {
  readonly bool?: boolean;
  readonly int?: number;
  readonly string?: string;
  readonly version?: string;
}

interface DeviceCapacity {
  readonly value: string;
}

/** A device as an expression sees it. */
export interface SelectedDevice {
  readonly driver: string;
  /** By name. A name without a domain belongs to the domain of the driver. */
  readonly attributes: Readonly<Record<string, DeviceAttribute>>;
  /** By name, as the attributes. */
  readonly capacity: Readonly<Record<string, DeviceCapacity>>;
  readonly allowMultipleAllocations?: boolean;
}

const { string, bool, anything } = celTypes;
const deviceTypeName = 'kubernetes.DRADevice';

const deviceFields: ReadonlyMap<string, CelType> = new Map([
  ['driver', string],
  ['allowMultipleAllocations', bool],
  ['attributes', mapType(string, mapType(string, anything))],
  ['capacity', mapType(string, mapType(string, quantityType))],
]);

/** What an expression may name. */
export function deviceEnvironment(functions: ReadonlyMap<string, readonly CelOverload[]>): CelEnvironment {
  return {
    functions,
    variables: new Map([['device', structType(deviceTypeName)]]),
    fields: new Map([[deviceTypeName, deviceFields]]),
  };
}

/** The device as a value; a text says what is wrong with it. */
export function deviceValue(device: SelectedDevice): CelValue | { readonly problem: string } {
  const attributes = byDomain();
  for (const [name, attribute] of Object.entries(device.attributes)) {
    const value = attributeValue(attribute);
    if (value === undefined) return { problem: `the attribute ${name} of the device has no value that can be used` };
    put(attributes, name, device.driver, value);
  }
  const capacity = byDomain();
  for (const [name, { value }] of Object.entries(device.capacity)) {
    const quantity = celQuantity(String(value));
    if (quantity === undefined) return { problem: `the capacity ${name} of the device is no quantity` };
    put(capacity, name, device.driver, quantity);
  }
  const map = new CelMap({ native: true });
  map.set('driver', device.driver);
  map.set('allowMultipleAllocations', device.allowMultipleAllocations ?? false);
  map.set('attributes', attributes);
  map.set('capacity', capacity);
  return map;
}

/** A domain that is not there is an empty one. */
function byDomain(): CelMap {
  return new CelMap({ native: true, fallback: new CelMap({ native: true }) });
}

function put(domains: CelMap, name: string, driver: string, value: CelValue): void {
  const slash = name.indexOf('/');
  const [domain, id] = slash < 0 ? [driver, name] : [name.slice(0, slash), name.slice(slash + 1)];
  const known = domains.get(domain);
  const ids = known instanceof CelMap ? known : new CelMap({ native: true });
  ids.set(id, value);
  domains.set(domain, ids);
}

function attributeValue({ int, bool: flag, string: text, version }: DeviceAttribute): CelValue | undefined {
  if (int !== undefined) return Number.isInteger(int) ? BigInt(int) : undefined;
  if (flag !== undefined) return flag;
  if (text !== undefined) return text;
  return version === undefined ? undefined : celVersion(version);
}
