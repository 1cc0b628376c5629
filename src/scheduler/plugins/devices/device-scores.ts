// Behaviour of computeScore, dynamicresources.go, v1.36.3.
import type { ClaimAllocation, ResourceClaim } from '../../devices/device-types.ts';

/** A request has at most so many alternatives: the first is worth this, each later one less. */
const mostAlternatives = 8;

/** The earlier the alternatives that the claims got, the more. `found`: what each claim that has nothing yet would get, in their order. */
export function alternativesScore(claims: readonly ResourceClaim[], found: readonly ClaimAllocation[]): number {
  const rest = found.values();
  let score = 0;
  for (const { spec, status } of claims) {
    const allocation = status?.allocation ?? rest.next().value;
    if (allocation === undefined) throw new Error('a claim was found no devices for');
    const chosen = new Set((allocation.devices?.results ?? []).map(({ request }) => request));
    for (const { name, exactly, firstAvailable } of spec.devices?.requests ?? []) {
      if (exactly != null) continue;
      for (const [index, alternative] of (firstAvailable ?? []).entries()) {
        if (chosen.has(`${name}/${alternative.name}`)) score += mostAlternatives - index;
      }
    }
  }
  return score;
}
