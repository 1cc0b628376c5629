// Behaviour of hasEnoughCapacity of the plugin volumebinding, v1.36.3.
import type { V1CSIDriver, V1CSIStorageCapacity } from '@kubernetes/client-node';
import type { Wire, WireNode, WirePersistentVolumeClaim } from '../../../api/json/types.ts';
import { canonicalQuantity } from '../../../api/quantity/quantity.ts';
import { quantityInNano } from '../../../api/quantity/quantity-arithmetic.ts';
import { type LabelSelector, parseLabelSelector, selectsNothing } from '../../../api/selectors/label-selector.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import type { WireStorageClass } from './volume-places.ts';

export type WireStorageCapacity = Wire<V1CSIStorageCapacity>;
type WireCsiDriver = Wire<V1CSIDriver>;

const nanoInOne = 10n ** 9n;

/** What drivers say that they have left. A driver that does not say so (`storageCapacity` of its CSIDriver) has enough for everything. */
export class StorageCapacities {
  readonly #drivers: ObjectLister<WireCsiDriver>;
  readonly #ofClass: (className: string) => readonly WireStorageCapacity[];
  readonly #read = new WeakMap<WireStorageCapacity, Capacity>();
  readonly #needed = new WeakMap<WirePersistentVolumeClaim, bigint>();

  constructor(drivers: ObjectLister<WireCsiDriver>, capacities: ObjectLister<WireStorageCapacity>) {
    this.#drivers = drivers;
    this.#ofClass = capacities.index(({ storageClassName }) => (storageClassName ? [storageClassName] : []));
  }

  /** True where the class's driver has room for the claim on the node. */
  isEnough(claim: WirePersistentVolumeClaim, { metadata, provisioner }: WireStorageClass, node: WireNode): boolean {
    const size = claim.spec?.resources?.requests?.storage;
    if (size === undefined) return true;
    if (this.#drivers.get(undefined, provisioner)?.spec?.storageCapacity !== true) return true;
    const needed = this.#neededBytes(claim, size);
    return this.#ofClass(metadata?.name ?? '').some((object) => {
      const { most, nodes } = this.#capacity(object);
      return most !== undefined && most >= needed && nodes.matches(node.metadata?.labels);
    });
  }

  /** A claim asks about many nodes. */
  #neededBytes(claim: WirePersistentVolumeClaim, size: string): bigint {
    let needed = this.#needed.get(claim);
    if (needed === undefined) {
      needed = bytesOf(size);
      this.#needed.set(claim, needed);
    }
    return needed;
  }

  #capacity(object: WireStorageCapacity): Capacity {
    let capacity = this.#read.get(object);
    if (capacity === undefined) {
      capacity = capacityOf(object);
      this.#read.set(object, capacity);
    }
    return capacity;
  }
}

interface Capacity {
  /** The largest volume that there is room for, in bytes; undefined: none. */
  readonly most: bigint | undefined;
  readonly nodes: LabelSelector;
}

/** One that cannot be read offers nothing, on no node. */
function capacityOf(object: WireStorageCapacity): Capacity {
  try {
    return { most: mostBytes(object), nodes: parseLabelSelector('nodeTopology', object.nodeTopology) };
  } catch {
    return { most: undefined, nodes: selectsNothing };
  }
}

/** The largest volume that there is room for, in bytes: the driver says it, or else how much there is in all. */
export function mostBytes({ maximumVolumeSize, capacity }: WireStorageCapacity): bigint | undefined {
  const most = maximumVolumeSize ?? capacity;
  return most == null ? undefined : bytesOf(most);
}

/** Whole bytes, rounded up. */
function bytesOf(quantity: string): bigint {
  const nano = quantityInNano(canonicalQuantity(quantity));
  const whole = nano / nanoInOne;
  return nano % nanoInOne > 0n ? whole + 1n : whole;
}
