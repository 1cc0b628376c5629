// Behaviour of pkg/scheduler/framework Resource and pkg/scheduler/util IsScalarResourceName, v1.36.3.
import { isQualifiedName } from '../../api/selectors/label-selector.ts';
import { type Amounts, amountsOf, type GivenQuantities, unitsOf } from './quantity-amount.ts';
import type { AllocatableAmounts, ResourceAmounts } from './resource.ts';

const counted: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pods'];

/** The amounts that the scheduler counts. Other names, such as `example` without a domain, are left out. */
export function resourceAmounts(amounts: ReadonlyMap<string, number>): ResourceAmounts {
  return {
    milliCPU: amounts.get('cpu') ?? 0,
    memory: unitsOf(amounts.get('memory') ?? 0),
    ephemeralStorage: unitsOf(amounts.get('ephemeral-storage') ?? 0),
    scalar: scalarsOf(amounts),
  };
}

/** What a node gives. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function allocatableAmounts(given: GivenQuantities): AllocatableAmounts {
  const amounts: Amounts = amountsOf(given);
  return { ...resourceAmounts(amounts), pods: unitsOf(amounts.get('pods') ?? 0) };
}

function scalarsOf(amounts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const scalars = new Map<string, number>();
  for (const [name, amount] of amounts) {
    if (isScalarResource(name)) scalars.set(name, unitsOf(amount));
  }
  return scalars;
}

/** True for extended resources, huge pages, resources of kubernetes.io and attachable volumes. */
function isScalarResource(name: string): boolean {
  if (counted.includes(name)) return false;
  if (name.startsWith('hugepages-') || name.startsWith('attachable-volumes-')) return true;
  if (name.includes('kubernetes.io/')) return true;
  // a quota names it with this prefix, and must be able to
  return name.includes('/') && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`);
}
