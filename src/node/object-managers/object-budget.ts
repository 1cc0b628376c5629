import { mebibyte } from '../../api/json/bytes.ts';
import { FairSemaphore, type Flow } from '../../base/concurrency/semaphore.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { integerOption, requireKnownOptions, requireMethods } from '../../base/options.ts';

/** How much the pods of a node may make its agent hold of secrets and config maps, both together. */
export interface ObjectBudgetOptions {
  /** So many secrets and config maps may one pod name; a pod that names more waits. Default 256. */
  readonly maxObjectsPerPod?: number;
  /** So many of them are watched for one pod; the others are read again and again. Default 64. */
  readonly maxWatchesPerPod?: number;
  /** So many are watched for all pods; a watch takes about 25 KB. Default 768. */
  readonly maxWatches?: number;
  /** The text of one pod's objects, in bytes; a pod that has more of it waits. Default 16 MiB. */
  readonly maxBytesPerPod?: number;
  /** The text of all objects, in bytes. Over it a pod waits that has more than 128 KiB. Default 32 MiB. */
  readonly maxBytes?: number;
}

/** How much is held. */
export interface ObjectBudgetUse {
  /** The pods that name something. */
  readonly pods: number;
  /** The objects that are watched, or were until nobody read them any more. */
  readonly watches: number;
  /** The text that is kept, in bytes. */
  readonly bytes: number;
}

/** What pods may make managers of secrets and config maps hold. It is made by {@link objectBudget}. */
export interface ObjectBudget {
  /** What is held now. */
  readonly use: ObjectBudgetUse;
}

/** What one pod makes the managers hold. */
export interface PodHoldings {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  objects: number;
  watches: number;
  bytes: number;
}

/** What is held of one object, and for which pods. */
export interface ObjectHoldings {
  readonly pods: Set<PodHoldings>;
  bytes: number;
  isWatched: boolean;
}

const defaults = {
  maxObjectsPerPod: 256,
  maxWatchesPerPod: 64,
  maxWatches: 768,
  maxBytesPerPod: 16 * mebibyte,
  maxBytes: 32 * mebibyte,
};
/** So much each pod may have, whatever others have. */
const shareOfPod = 128 * 1024;
/** What is on its way is in memory before it can be weighed. */
const mostReads = 8;
const mostOpening = 16;

/** Counts what pods make managers hold, and says what there is room for. */
export class ObjectCounts implements ObjectBudget {
  readonly #limits: Required<ObjectBudgetOptions>;
  readonly #pods = new Map<string, PodHoldings>();
  #watches = 0;
  #bytes = 0;
  /** Lets a few objects be asked for at once, in turn of namespaces and pods. */
  readonly reads = new FairSemaphore(mostReads);
  /** Lets a few watches wait for their first list at once, in the same way. */
  readonly openings = new FairSemaphore(mostOpening);

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ObjectBudgetOptions = {}) {
    requireKnownOptions('objectBudget', options, Object.keys(defaults));
    const limits = { ...defaults };
    for (const name of Object.keys(defaults) as (keyof typeof defaults)[]) {
      limits[name] = integerOption(`objectBudget.${name}`, options[name] ?? defaults[name], 0);
    }
    this.#limits = limits;
  }

  /** What is held now. */
  get use(): ObjectBudgetUse {
    return { pods: this.#pods.size, watches: this.#watches, bytes: this.#bytes };
  }

  /** The count of one pod, the same one for every manager that asks while something is held for it. */
  podOf(key: string, namespace: string, name: string): PodHoldings {
    return this.#pods.get(key) ?? { key, namespace, name, objects: 0, watches: 0, bytes: 0 };
  }

  /** The count of an object that no pod names yet. */
  object(): ObjectHoldings {
    return { pods: new Set(), bytes: 0, isWatched: false };
  }

  /** Why the pod may not name so many more objects; undefined where it may. */
  refusal(pod: PodHoldings, more: number): StatusManagerError | undefined {
    const { maxObjectsPerPod } = this.#limits;
    const count = pod.objects + more;
    if (count <= maxObjectsPerPod) return undefined;
    return overBudget(
      `pod ${shown(pod)} names ${count} secrets and config maps, and this node holds ${maxObjectsPerPod} for one pod`,
      'maxObjectsPerPod',
    );
  }

  join(object: ObjectHoldings, pod: PodHoldings): void {
    this.#pods.set(pod.key, pod);
    object.pods.add(pod);
    pod.objects += 1;
    pod.bytes += object.bytes;
    pod.watches += object.isWatched ? 1 : 0;
  }

  /** The pod does so no more. Of an object that no pod names nothing is held. */
  leave(object: ObjectHoldings, pod: PodHoldings): void {
    if (!object.pods.delete(pod)) return;
    pod.objects -= 1;
    pod.bytes -= object.bytes;
    pod.watches -= object.isWatched ? 1 : 0;
    if (pod.objects === 0) this.#pods.delete(pod.key);
    if (object.pods.size > 0) return;
    this.unwatch(object);
    this.letGo(object);
  }

  /** True where there is room for one more watch; then it counts. */
  watch(object: ObjectHoldings): boolean {
    const { maxWatches, maxWatchesPerPod } = this.#limits;
    if (this.#watches >= maxWatches || ![...object.pods].some(({ watches }) => watches < maxWatchesPerPod)) return false;
    object.isWatched = true;
    this.#watches += 1;
    for (const pod of object.pods) pod.watches += 1;
    return true;
  }

  unwatch(object: ObjectHoldings): void {
    if (!object.isWatched) return;
    object.isWatched = false;
    this.#watches -= 1;
    for (const pod of object.pods) pod.watches -= 1;
  }

  /** The object has so many bytes now. Why they may not be kept; undefined where they may. */
  hold(object: ObjectHoldings, bytes: number): StatusManagerError | undefined {
    const { maxBytes, maxBytesPerPod } = this.#limits;
    this.letGo(object);
    let least: PodHoldings | undefined;
    for (const pod of object.pods) if (least === undefined || pod.bytes < least.bytes) least = pod;
    const next = bytes + (least?.bytes ?? 0);
    if (least !== undefined && next > maxBytesPerPod) return this.#tooMuch(least, bytes);
    if (least !== undefined && next > shareOfPod && this.#bytes + bytes > maxBytes) return this.#full(least, bytes);
    object.bytes = bytes;
    this.#bytes += bytes;
    for (const pod of object.pods) pod.bytes += bytes;
    return undefined;
  }

  /** Nothing is held of the object any more. */
  letGo(object: ObjectHoldings): void {
    this.#bytes -= object.bytes;
    for (const pod of object.pods) pod.bytes -= object.bytes;
    object.bytes = 0;
  }

  /** Whose turn it is when the object is asked for: that of the first pod that names it. */
  flowOf({ pods }: ObjectHoldings): Flow {
    const [pod] = pods;
    return { group: pod?.namespace ?? '', member: pod?.key ?? '' };
  }

  #tooMuch(pod: PodHoldings, bytes: number): StatusManagerError {
    const { maxBytesPerPod } = this.#limits;
    return overBudget(
      `the secrets and config maps of pod ${shown(pod)} take more than the ${maxBytesPerPod} bytes that this node holds for one pod: ${pod.bytes} without this one, which takes ${bytes}`,
      'maxBytesPerPod',
    );
  }

  #full(pod: PodHoldings, bytes: number): StatusManagerError {
    const { maxBytes } = this.#limits;
    return overBudget(
      `the secrets and config maps of all pods take ${this.#bytes} of the ${maxBytes} bytes that this node holds, and there is no room for the ${bytes} of one that pod ${shown(pod)} names`,
      'maxBytes',
    );
  }
}

function shown({ namespace, name }: PodHoldings): string {
  return `${namespace}/${name}`;
}

function overBudget(message: string, option: keyof ObjectBudgetOptions): StatusManagerError {
  const help = `Let the pod use less, or set objectBudget.${option} of the node's agent higher`;
  return new StatusManagerError('ERR_OVER_BUDGET', `${message}. ${help}`);
}

/**
 * A budget for the option `budget` of a `SecretManager` and of a `ConfigMapManager`: one that several managers share counts for all
 * of them. Throws ERR_INVALID_OPTION, naming the option, the rule and the value.
 *
 * @example
 * ```ts
 * import { objectBudget } from 'pod-status-manager/object-managers';
 *
 * const budget = objectBudget({ maxObjectsPerPod: 100, maxBytes: 64 * 1024 * 1024 });
 * console.log(budget.use.bytes); // 0
 * ```
 */
export function objectBudget(options?: ObjectBudgetOptions): ObjectBudget {
  return new ObjectCounts(options);
}

/** The budget of an option. Throws ERR_INVALID_OPTION for anything that {@link objectBudget} has not made. */
export function countsOption(budget: ObjectBudget | undefined): ObjectCounts {
  if (budget === undefined) return new ObjectCounts();
  requireMethods('budget', budget, ['podOf', 'object', 'refusal', 'join', 'leave', 'watch', 'unwatch', 'hold']);
  return budget as ObjectCounts;
}
