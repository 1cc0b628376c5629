// Behaviour of constraints in k8s.io/dynamic-resource-allocation/structured/internal/incubating, v0.36.3.
import { DeviceAllocationError } from './device-allocation-error.ts';
import type { DeviceAttribute, DeviceConstraint } from './device-types.ts';
import type { PooledDevice } from './pooled-device.ts';

/** What the devices of a claim have to have in common, or apart. It counts those that were added and not removed. */
export interface AttributeConstraint {
  /** True where whatever was added and removed before leaves no trace, and each further device can only make it harder for the next. */
  readonly isMonotonic: boolean;
  appliesTo(request: string, subRequest: string | undefined): boolean;
  /** True where the device could be added. */
  allows(device: PooledDevice): boolean;
  /** True where the device was added. */
  add(request: string, subRequest: string | undefined, device: PooledDevice): boolean;
  remove(request: string, subRequest: string | undefined): void;
}

/** `what` names the constraint. Throws DeviceAllocationError for one that asks for nothing known. */
export function attributeConstraint(
  what: string,
  { requests, matchAttribute, distinctAttribute }: DeviceConstraint,
): AttributeConstraint {
  const names = new Set(requests ?? []);
  if (matchAttribute != null) return new MatchAttribute(names, matchAttribute);
  if (distinctAttribute != null) return new DistinctAttribute(names, distinctAttribute);
  throw new DeviceAllocationError('claims', `${what}: empty constraint (unsupported constraint type?)`);
}

/** All devices have the same value of the attribute. */
class MatchAttribute implements AttributeConstraint {
  readonly isMonotonic = true;
  readonly #names: ReadonlySet<string>;
  readonly #values: AttributeValues;
  #value = '';
  #count = 0;

  constructor(names: ReadonlySet<string>, attribute: string) {
    this.#names = names;
    this.#values = new AttributeValues(attribute);
  }

  appliesTo(request: string, subRequest: string | undefined): boolean {
    return applies(this.#names, request, subRequest);
  }

  allows(device: PooledDevice): boolean {
    const value = this.#values.of(device);
    return value !== undefined && (this.#count === 0 || (value !== unknownValue && value === this.#value));
  }

  add(request: string, subRequest: string | undefined, device: PooledDevice): boolean {
    if (!this.appliesTo(request, subRequest)) return true;
    const value = this.#values.of(device);
    if (value === undefined || !this.allows(device)) return false;
    this.#value = value;
    this.#count++;
    return true;
  }

  remove(request: string, subRequest: string | undefined): void {
    if (this.appliesTo(request, subRequest)) this.#count--;
  }
}

/**
 * The value of the attribute is another one for each request. Of a request with several devices only the last one counts, and none
 * of them once one was taken back: so does kube-scheduler.
 */
class DistinctAttribute implements AttributeConstraint {
  readonly isMonotonic = false;
  readonly #names: ReadonlySet<string>;
  readonly #values: AttributeValues;
  readonly #taken = new Map<string, string>();
  #count = 0;

  constructor(names: ReadonlySet<string>, attribute: string) {
    this.#names = names;
    this.#values = new AttributeValues(attribute);
  }

  appliesTo(request: string, subRequest: string | undefined): boolean {
    return applies(this.#names, request, subRequest);
  }

  allows(device: PooledDevice): boolean {
    const value = this.#values.of(device);
    if (value === undefined) return false;
    if (this.#count === 0 || this.#taken.size === 0) return true;
    return value !== unknownValue && [...this.#taken.values()].every((taken) => taken !== value);
  }

  add(request: string, subRequest: string | undefined, device: PooledDevice): boolean {
    if (!this.appliesTo(request, subRequest)) return true;
    const value = this.#values.of(device);
    if (value === undefined || !this.allows(device)) return false;
    this.#taken.set(request, value);
    this.#count++;
    return true;
  }

  remove(request: string, subRequest: string | undefined): void {
    if (!this.appliesTo(request, subRequest)) return;
    this.#taken.delete(request);
    this.#count--;
  }
}

function applies(names: ReadonlySet<string>, request: string, subRequest: string | undefined): boolean {
  if (names.size === 0 || names.has(request)) return true;
  return subRequest !== undefined && names.has(`${request}/${subRequest}`);
}

/** A value of a type that is not known here equals no other. */
const unknownValue = '';

/** One attribute of devices, each looked up once. */
class AttributeValues {
  readonly #name: string;
  readonly #known = new Map<PooledDevice, string | undefined>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Type and value; undefined where the device does not have the attribute. */
  of(device: PooledDevice): string | undefined {
    if (!this.#known.has(device)) this.#known.set(device, this.#read(device));
    return this.#known.get(device);
  }

  #read({ selectable: { driver, attributes } }: PooledDevice): string | undefined {
    if (Object.hasOwn(attributes, this.#name)) return typedValue(attributes[this.#name]);
    const [domain, ...rest] = this.#name.split('/');
    const id = rest.join('/');
    return rest.length > 0 && domain === driver && Object.hasOwn(attributes, id) ? typedValue(attributes[id]) : undefined;
  }
}

function typedValue(attribute: DeviceAttribute | undefined): string {
  for (const type of ['string', 'int', 'bool', 'version'] as const) {
    const value = attribute?.[type];
    if (value != null) return `${type} ${value}`;
  }
  return unknownValue;
}
