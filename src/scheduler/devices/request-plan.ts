// Behaviour of requests in k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go, v0.36.3.
import { tolerates } from '../../api/selectors/taints.ts';
import { errorText } from '../../base/errors.ts';
import { amountOrNone, type CapacityAmount, type CapacityUse, capacityUse } from './capacity-rules.ts';
import { DeviceAllocationError } from './device-allocation-error.ts';
import type {
  ClaimRequest,
  DeviceClass,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
  SelectorJudge,
} from './device-types.ts';
import type { PooledDevice } from './pooled-device.ts';

/** What is asked for: a request as it is, or one of its alternatives. */
interface Wanted {
  readonly request: string;
  readonly subRequest: string | undefined;
  readonly asked: ExactDeviceRequest | DeviceSubRequest;
}

/** What a request asks for, read once for all nodes, and what it is known to think of devices. */
export class RequestPlan {
  readonly request: string;
  /** Undefined for a request without alternatives. */
  readonly subRequest: string | undefined;
  /** The request with its alternative, as an allocation names it. */
  readonly fullName: string;
  readonly deviceClass: DeviceClass;
  /** Undefined where it asks for all devices. */
  readonly count: number | undefined;
  readonly hasAdminAccess: boolean;
  readonly tolerations: readonly DeviceToleration[];
  readonly #claim: string;
  readonly #selectors: readonly [owner: string, expression: string][];
  readonly #judge: SelectorJudge;
  readonly #capacity: ReadonlyMap<string, CapacityAmount>;
  readonly #selected = new Map<PooledDevice, boolean>();
  readonly #uses = new Map<PooledDevice, CapacityUse | undefined>();
  readonly #tainted = new Map<PooledDevice, boolean>();

  /** Throws DeviceAllocationError for a request that cannot be understood, and for a class that is not there. */
  constructor(claim: string, wanted: Wanted, deviceClass: (name: string) => DeviceClass | undefined, judge: SelectorJudge) {
    const { request, subRequest, asked } = wanted;
    const what = `claim ${claim}, request ${subRequest ?? request}`;
    for (const [index, { cel }] of (asked.selectors ?? []).entries()) {
      if (cel == null) throw refused(`${what}, selector #${index}: CEL expression empty (unsupported selector type?)`);
    }
    if (!asked.deviceClassName) throw refused(`${what}: missing device class name (unsupported request type?)`);
    const found = deviceClass(asked.deviceClassName);
    if (found === undefined) throw refused(`${what}: could not retrieve device class ${asked.deviceClassName}`);
    this.#claim = claim;
    this.request = request;
    this.subRequest = subRequest;
    this.fullName = subRequest === undefined ? request : `${request}/${subRequest}`;
    this.deviceClass = found;
    this.count = countOf(what, asked);
    this.hasAdminAccess = 'adminAccess' in asked && asked.adminAccess === true;
    this.tolerations = asked.tolerations ?? [];
    this.#judge = judge;
    this.#capacity = requestedCapacity(what, asked);
    const ofClass = (found.spec.selectors ?? []).map(
      ({ cel }, index) => [`class ${className(found)}: selector #${index}`, cel?.expression ?? ''] as const,
    );
    const own = (asked.selectors ?? []).map(
      ({ cel }, index) => [`claim ${claim}: selector #${index}`, cel?.expression ?? ''] as const,
    );
    this.#selectors = [...ofClass, ...own].map(([owner, expression]) => [owner, expression]);
  }

  /** The claim and the request, for messages. */
  get what(): string {
    return `claim ${this.#claim}, request ${this.subRequest ?? this.request}`;
  }

  /** True where all selectors of the class and of the request select the device. Throws DeviceAllocationError for one that fails. */
  selects(device: PooledDevice): boolean {
    const known = this.#selected.get(device);
    if (known !== undefined) return known;
    const selected = this.#selectors.every(([owner, expression]) => {
      try {
        return this.#judge.matches(expression, device.selectable);
      } catch (error) {
        if (error instanceof DeviceAllocationError) throw error;
        throw new DeviceAllocationError('claims', `${owner}: ${errorText(error)}`, { cause: error });
      }
    });
    this.#selected.set(device, selected);
    return selected;
  }

  /** True where {@link selects} answers without asking a selector. */
  knows(device: PooledDevice): boolean {
    return this.#selectors.length === 0 || this.#selected.has(device);
  }

  /** What it would use up of the device. Undefined where the device cannot give that much. */
  useOf(device: PooledDevice): CapacityUse | undefined {
    if (!this.#uses.has(device)) this.#uses.set(device, capacityUse(device.capacities, this.#capacity));
    return this.#uses.get(device);
  }

  /** True for a device with a taint that keeps the request off. */
  isKeptOff(device: PooledDevice): boolean {
    const { taints } = device.given;
    if (taints == null || taints.length === 0) return false;
    const known = this.#tainted.get(device);
    if (known !== undefined) return known;
    const isKeptOff = taints.some(
      (taint) =>
        (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
        !this.tolerations.some((toleration) =>
          tolerates(toleration, { key: taint.key, effect: taint.effect, value: taint.value ?? '' }),
        ),
    );
    this.#tainted.set(device, isKeptOff);
    return isKeptOff;
  }
}

function refused(message: string): DeviceAllocationError {
  return new DeviceAllocationError('claims', message);
}

function className({ metadata }: DeviceClass): string {
  return metadata?.name ?? '';
}

function countOf(what: string, { allocationMode, count }: Wanted['asked']): number | undefined {
  if (allocationMode === 'All') return undefined;
  if (allocationMode === 'ExactCount') return Number(count ?? 0);
  throw refused(`${what}: unsupported count mode ${allocationMode ?? ''}`);
}

function requestedCapacity(what: string, { capacity }: Wanted['asked']): ReadonlyMap<string, CapacityAmount> {
  const amounts = Object.entries(capacity?.requests ?? {}).map(([name, quantity]) => {
    const amount = amountOrNone(quantity);
    if (amount === undefined) throw refused(`${what}: the capacity ${name} is no quantity`);
    return [name, amount] as const;
  });
  return new Map(amounts);
}

/** The alternatives of a request, in their order; one for a request that has none. */
export type RequestChoices = readonly RequestPlan[];

/** Throws DeviceAllocationError for requests that cannot be understood, and for a class that is not there. */
export function requestPlans(
  claim: ResourceClaim,
  deviceClass: (name: string) => DeviceClass | undefined,
  judge: SelectorJudge,
): readonly RequestChoices[] {
  const name = claimName(claim);
  const planOf = (wanted: Wanted) => new RequestPlan(name, wanted, deviceClass, judge);
  return (claim.spec.devices?.requests ?? []).map((request: ClaimRequest) => {
    if (request.firstAvailable != null && request.firstAvailable.length > 0) {
      return request.firstAvailable.map((asked) => planOf({ request: request.name, subRequest: asked.name, asked }));
    }
    if (request.exactly == null) throw refused(`claim ${name}, request ${request.name}: unsupported request type`);
    return [planOf({ request: request.name, subRequest: undefined, asked: request.exactly })];
  });
}

/** Namespace and name. */
export function claimName({ metadata }: ResourceClaim): string {
  return metadata?.namespace ? `${metadata.namespace}/${metadata.name}` : (metadata?.name ?? '');
}
