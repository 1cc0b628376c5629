import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { quantityInNano } from '../../api/quantity/quantity-arithmetic.ts';
import { isLabelKey } from '../../base/names.ts';

/** Amounts of resources, as the scheduler counts: CPU in thousandths, all else in whole units such as bytes. */
export interface ResourceAmounts {
  /** CPU, in thousandths. */
  readonly milliCPU: number;
  /** In bytes. */
  readonly memory: number;
  /** In bytes. */
  readonly ephemeralStorage: number;
  /** Extended resources and huge pages by name. */
  readonly scalar: ReadonlyMap<string, number>;
}

/** What a node has to give. */
export interface AllocatableAmounts extends ResourceAmounts {
  /** The most pods. */
  readonly pods: number;
}

/** CPU and memory where each container that asks for none counts as if it asked for 100m and 200 MiB. */
export interface NonZeroAmounts {
  /** CPU, in thousandths. */
  readonly milliCPU: number;
  /** In bytes. */
  readonly memory: number;
}

// Behaviour of pkg/scheduler/framework Resource and pkg/scheduler/util IsScalarResourceName, v1.36.3.

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
  return name.includes('/') && !name.startsWith('requests.') && isLabelKey(`requests.${name}`);
}

/** Quantities by the name of the resource, as they stand in JSON. */
export type GivenQuantities = { readonly [name: string]: string } | null | undefined;

/** Amounts in thousandths of the unit, by the name of the resource. */
export type Amounts = Map<string, number>;

const nanoInMilli = 10n ** 6n;
/** Thousandths in one of each suffix that most quantities have. */
const thousandthsIn: { readonly [suffix: string]: number } = {
  m: 1,
  '': 1000,
  k: 1000 * 1000,
  M: 1000 * 1000 ** 2,
  G: 1000 * 1000 ** 3,
  Ki: 1000 * 1024,
  Mi: 1000 * 1024 ** 2,
  Gi: 1000 * 1024 ** 3,
  Ti: 1000 * 1024 ** 4,
};
const commonQuantity = /^(\d{1,15})(m|k|M|G|Ki|Mi|Gi|Ti)?$/;

/** A quantity in thousandths, rounded up. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function inThousandths(quantity: string): number {
  const match = commonQuantity.exec(quantity);
  if (match !== null) return Number(match[1]) * (thousandthsIn[match[2] ?? ''] as number);
  const nano = quantityInNano(canonicalQuantity(quantity));
  const whole = nano / nanoInMilli;
  const rest = nano % nanoInMilli;
  return Number(rest === 0n ? whole : rest > 0n ? whole + 1n : whole - 1n);
}

/** Whole units, rounded away from zero. */
export function unitsOf(thousandths: number): number {
  return thousandths < 0 ? Math.floor(thousandths / 1000) : Math.ceil(thousandths / 1000);
}

/** Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function amountsOf(given: GivenQuantities): Amounts {
  const amounts: Amounts = new Map();
  for (const name in given) amounts.set(name, inThousandths(given[name] as string));
  return amounts;
}

export function addAmounts(total: Amounts, other: ReadonlyMap<string, number>): void {
  for (const [name, amount] of other) total.set(name, (total.get(name) ?? 0) + amount);
}

/** Each amount becomes the larger one of the two. */
export function raiseAmounts(total: Amounts, other: ReadonlyMap<string, number>): void {
  for (const [name, amount] of other) {
    const before = total.get(name);
    if (before === undefined || amount > before) total.set(name, amount);
  }
}
