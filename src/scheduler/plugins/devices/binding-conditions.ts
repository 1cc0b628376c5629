// Behaviour of isClaimReadyForBinding and isClaimTimeout, dynamicresources.go, v1.36.3.
import type { AllocatedDevice, ResourceClaim } from '../../devices/device-types.ts';

type DeviceStatus = NonNullable<NonNullable<ResourceClaim['status']>['devices']>[number];
type Condition = NonNullable<DeviceStatus['conditions']>[number];

/** `failed`: a driver says why its device cannot be had. `waiting`: a driver has yet to say that its device is ready. */
export type ClaimReadiness = 'ready' | 'waiting' | { readonly failed: string };

/** How far the devices of a claim are that have to be made ready before the pod is bound. */
export function readinessOf(claim: ResourceClaim): ClaimReadiness {
  const { allocation } = claim.status ?? {};
  if (allocation == null) return 'waiting';
  for (const result of allocation.devices?.results ?? []) {
    if (!waitsForConditions(result)) continue;
    const status = statusOf(claim, result);
    if (status === undefined) return 'waiting';
    for (const type of result.bindingFailureConditions ?? []) {
      const condition = conditionOf(status, type);
      if (condition?.status !== 'True') continue;
      const { reason = '', message = '' } = condition;
      const name = claim.metadata?.name ?? '';
      return { failed: `device binding failed: claim=${name}, reason=${reason}, message=${JSON.stringify(message)}` };
    }
    if (pendingOf(result, status).length > 0) return 'waiting';
  }
  return 'ready';
}

/** True where devices of the claim were to be ready by now. */
export function isBindingOverdue({ status }: ResourceClaim, now: number, timeoutMs: number): boolean {
  const { allocation } = status ?? {};
  if (allocation?.allocationTimestamp == null || !hasConditions(allocation)) return false;
  return Date.parse(String(allocation.allocationTimestamp)) + timeoutMs < now;
}

/** True where a device of the claim has to be made ready before the pod is bound. */
export function hasBindingConditions({ status }: ResourceClaim): boolean {
  return status?.allocation != null && hasConditions(status.allocation);
}

const mostNamed = 3;

/** What is waited for, in words: `gpu.example.com/pool/gpu-0 (example.com/attached)`. */
export function awaitedConditions(claims: Iterable<ResourceClaim>): string {
  const named: string[] = [];
  for (const claim of claims) {
    for (const result of claim.status?.allocation?.devices?.results ?? []) {
      const pending = pendingOf(result, statusOf(claim, result));
      if (pending.length > 0) named.push(`${result.driver}/${result.pool}/${result.device} (${pending.join(', ')})`);
    }
  }
  const others = named.length - mostNamed;
  return others > 0 ? `${named.slice(0, mostNamed).join(', ')} and ${others} more` : named.join(', ');
}

function hasConditions({ devices }: { readonly devices?: { readonly results?: readonly AllocatedDevice[] } }): boolean {
  return (devices?.results ?? []).some(waitsForConditions);
}

function waitsForConditions({ bindingConditions }: AllocatedDevice): boolean {
  return (bindingConditions ?? []).length > 0;
}

function statusOf({ status }: ResourceClaim, { driver, pool, device }: AllocatedDevice): DeviceStatus | undefined {
  return status?.devices?.find((one) => one.device === device && one.driver === driver && one.pool === pool);
}

function conditionOf({ conditions }: DeviceStatus, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function pendingOf({ bindingConditions }: AllocatedDevice, status: DeviceStatus | undefined): readonly string[] {
  const isPending = (type: string): boolean => status === undefined || conditionOf(status, type)?.status !== 'True';
  return (bindingConditions ?? []).filter(isPending);
}
