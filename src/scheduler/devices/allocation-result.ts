// Behaviour of results in k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go, v0.36.3.
import { DeviceAllocationError } from './device-allocation-error.ts';
import type { AllocatedConfig, AllocatedDevice, ClaimAllocation, DeviceNodeSelector, ResourceClaim } from './device-types.ts';
import { claimName, type RequestPlan } from './request-plan.ts';
import type { FoundClaim, FoundDevice } from './search-parts.ts';

type NodeTerm = DeviceNodeSelector['nodeSelectorTerms'][number];
type NodeRequirement = NonNullable<NodeTerm['matchFields']>[number];

/** What a claim is given, as it is to stand in its status. Throws DeviceAllocationError for slices with several node selector terms. */
export function allocationResult(
  claim: ResourceClaim,
  { devices, plans }: FoundClaim,
  nodeName: string,
  shareId: () => string,
): ClaimAllocation {
  const config = [...classConfigs(plans), ...claimConfigs(claim, plans)];
  const nodeSelector = nodeSelectorOf(claim, devices, nodeName);
  return {
    devices: {
      ...(devices.length > 0 && { results: devices.map((found) => deviceResult(found, shareId)) }),
      ...(config.length > 0 && { config }),
    },
    ...(nodeSelector && { nodeSelector }),
  };
}

function deviceResult({ plan, device, share }: FoundDevice, shareId: () => string): AllocatedDevice {
  const { driver, pool } = device.slice.spec;
  const { bindingConditions, bindingFailureConditions } = device.given;
  const consumed = [...(share ?? [])].map(([name, { text }]) => [name, text] as const);
  return {
    request: plan.fullName,
    driver,
    pool: pool.name,
    device: device.given.name,
    ...(plan.hasAdminAccess && { adminAccess: true }),
    ...(plan.tolerations.length > 0 && { tolerations: plan.tolerations }),
    ...(bindingConditions != null && bindingConditions.length > 0 && { bindingConditions }),
    ...(bindingFailureConditions != null && bindingFailureConditions.length > 0 && { bindingFailureConditions }),
    ...(device.isShared && { shareID: shareId() }),
    ...(consumed.length > 0 && { consumedCapacity: Object.fromEntries(consumed) }),
  };
}

/** Those of each class once, with the names of all requests that were given a device of it. */
function classConfigs(plans: readonly RequestPlan[]): readonly AllocatedConfig[] {
  const requests = new Map<string, { readonly plan: RequestPlan; readonly names: string[] }>();
  for (const plan of plans) {
    const name = plan.deviceClass.metadata?.name ?? '';
    const known = requests.get(name);
    if (known === undefined) requests.set(name, { plan, names: [plan.fullName] });
    else known.names.push(plan.fullName);
  }
  return [...requests.values()].flatMap(({ plan, names }) =>
    (plan.deviceClass.spec.config ?? []).map(({ opaque }) => ({
      source: 'FromClass',
      requests: names,
      ...(opaque && { opaque }),
    })),
  );
}

/** One that is for several requests is there several times: so does kube-scheduler. */
function claimConfigs({ spec }: ResourceClaim, plans: readonly RequestPlan[]): readonly AllocatedConfig[] {
  return (spec.devices?.config ?? []).flatMap(({ requests, opaque }) => {
    const config = { source: 'FromClaim', ...(opaque && { opaque }) };
    if (requests == null || requests.length === 0) return [config];
    const taken = plans.filter(({ request, fullName }) => requests.includes(request) || requests.includes(fullName));
    return taken.map(() => ({ ...config, requests }));
  });
}

/** Undefined where every node reaches the devices. */
function nodeSelectorOf(claim: ResourceClaim, devices: readonly FoundDevice[], nodeName: string): DeviceNodeSelector | undefined {
  const fields: NodeRequirement[] = [];
  const expressions: NodeRequirement[] = [];
  for (const { device } of devices) {
    const { spec } = device.slice;
    const places = spec.perDeviceNodeSelection === true ? device.given : spec;
    if (places.nodeName != null || device.given.bindsToNode === true) {
      const named = { key: 'metadata.name', operator: 'In', values: [nodeName] };
      return { nodeSelectorTerms: [{ matchFields: [named] }] };
    }
    const terms = places.nodeSelector?.nodeSelectorTerms ?? [];
    if (terms.length > 1) {
      const message = `create NodeSelector for claim ${claimName(claim)}: unsupported ResourceSlice.NodeSelector with ${terms.length} terms`;
      throw new DeviceAllocationError('claims', message);
    }
    addNew(fields, terms[0]?.matchFields);
    addNew(expressions, terms[0]?.matchExpressions);
  }
  if (fields.length + expressions.length === 0) return undefined;
  const term = {
    ...(fields.length > 0 && { matchFields: fields }),
    ...(expressions.length > 0 && { matchExpressions: expressions }),
  };
  return { nodeSelectorTerms: [term] };
}

function addNew(known: NodeRequirement[], more: readonly NodeRequirement[] | null | undefined): void {
  for (const requirement of more ?? []) if (!known.some((each) => isSame(each, requirement))) known.push(requirement);
}

function isSame(a: NodeRequirement, b: NodeRequirement): boolean {
  if (a.key !== b.key || a.operator !== b.operator) return false;
  const [first, second] = [new Set(a.values), new Set(b.values)];
  return first.size === second.size && [...first].every((value) => second.has(value));
}
