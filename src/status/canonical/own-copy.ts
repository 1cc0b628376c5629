import type { WirePodStatus } from '../../api/json/types.ts';

/** A status whose own members may be completed: the rest is shared and never changed. */
export function ownCopy(status: WirePodStatus): WirePodStatus {
  return status.conditions === undefined ? { ...status } : { ...status, conditions: [...status.conditions] };
}
