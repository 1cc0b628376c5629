// Behaviour of pkg/scheduler/framework calculateResource, v1.22.17.

import type { WirePod } from '../../api/json/types.ts';
import { type HostPort, hostPortsOfContainers } from '../../api/pod/host-ports.ts';
import { defaultRequests, type PodAmounts, type PodInfoReading } from '../nodes/pod-info.ts';
import { type Amounts, addAmounts, amountsOf, raiseAmounts, resourceAmounts, unitsOf } from '../nodes/resource.ts';

/** How the classic scheduler read pods: no sidecars, no resources of the pod itself, no resizes. */
export const classicPodReading: PodInfoReading = { amounts: classicAmounts, hostPorts: classicHostPorts };

/** The containers together, or, where that is more, the largest init container; and the overhead. */
function classicAmounts({ spec }: WirePod): PodAmounts {
  const total: Amounts = new Map();
  const nonZero: Amounts = new Map();
  for (const { resources } of spec?.containers ?? []) {
    const asked = roundedUp(amountsOf(resources?.requests));
    addAmounts(total, asked);
    addAmounts(nonZero, withDefaults(asked));
  }
  for (const { resources } of spec?.initContainers ?? []) {
    const asked = roundedUp(amountsOf(resources?.requests));
    raiseAmounts(total, asked);
    raiseAmounts(nonZero, withDefaults(asked));
  }
  const overhead = roundedUp(amountsOf(spec?.overhead));
  addAmounts(total, overhead);
  addAmounts(nonZero, overhead);
  return {
    requests: resourceAmounts(total),
    nonZeroRequests: { milliCPU: nonZero.get('cpu') ?? 0, memory: unitsOf(nonZero.get('memory') ?? 0) },
  };
}

function classicHostPorts({ spec }: WirePod): HostPort[] {
  return hostPortsOfContainers(spec?.containers ?? []);
}

/** Each container's amount was rounded up to whole units by itself, but for CPU. */
function roundedUp(amounts: Amounts): Amounts {
  for (const [name, amount] of amounts) {
    if (name !== 'cpu') amounts.set(name, unitsOf(amount) * 1000);
  }
  return amounts;
}

function withDefaults(amounts: Amounts): Amounts {
  return new Map([...defaultRequests, ...amounts]);
}
