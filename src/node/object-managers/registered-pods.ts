// Behaviour of pkg/kubelet/util/manager/cache_based_manager.go, v1.36.3: the references of registered pods.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase, podFullName, requirePod } from '../../api/pod/pod-identity.ts';
import type { StatusManagerError } from '../../base/errors.ts';
import type { ObjectCounts, PodHoldings } from './object-budget.ts';
import type { ObjectReader } from './object-reader.ts';

interface RegisteredPod {
  readonly namespace: string;
  readonly names: ReadonlySet<string>;
  readonly holdings: PodHoldings;
  /** Why the pod has no references, where it names too much. */
  readonly refusal: StatusManagerError | undefined;
}

type References = Pick<ObjectReader<unknown>, 'addReference' | 'removeReference'>;

/** Turns pods into references: each registered pod holds one reference to every object that it names, or none where those are too many. */
export class RegisteredPods {
  readonly #namesOf: (pod: Pod) => ReadonlySet<string>;
  readonly #references: References;
  readonly #budget: ObjectCounts;
  readonly #pods = new Map<string, RegisteredPod>();
  /** The pods that name too much, by namespace and then by their own key. */
  readonly #refused = new Map<string, Map<string, StatusManagerError>>();

  constructor(namesOf: (pod: Pod) => ReadonlySet<string>, references: References, budget: ObjectCounts) {
    this.#namesOf = namesOf;
    this.#references = references;
    this.#budget = budget;
  }

  /**
   * New names come in before dropped ones go out, and a name in both versions of the pod keeps its reference: an object that
   * stays referenced is never let go of meanwhile. Returns why the pod is refused; undefined where it is not.
   */
  register(pod: Pod): StatusManagerError | undefined {
    const key = keyOfPod(pod);
    if (isTerminalPhase(pod.status?.phase)) {
      this.#forget(key);
      return undefined;
    }
    const namespace = pod.metadata?.namespace ?? '';
    const named = this.#namesOf(pod);
    const before = this.#pods.get(key);
    // one without objects is known to nobody: another manager may have begun a count of its own
    const counted = before !== undefined && before.names.size > 0 ? before.holdings : undefined;
    const holdings = counted ?? this.#budget.podOf(key, namespace, pod.metadata?.name ?? '');
    const refusal = this.#budget.refusal(holdings, named.size - (before?.names.size ?? 0));
    const names = refusal === undefined ? named : new Set<string>();
    this.#pods.set(key, { namespace, names, holdings, refusal });
    this.#noteRefusal(namespace, key, refusal);
    for (const name of names) if (!before?.names.has(name)) this.#references.addReference({ namespace, name }, holdings);
    for (const name of before?.names ?? []) if (!names.has(name)) this.#references.removeReference({ namespace, name }, holdings);
    return refusal;
  }

  /** What the pod named when it was registered counts, not what it names now. */
  unregister(pod: Pod): void {
    this.#forget(keyOfPod(pod));
  }

  /** Why the registered pod has no references. */
  refusalOf(pod: Pod): StatusManagerError | undefined {
    return this.#pods.get(keyOfPod(pod))?.refusal;
  }

  /** Why an object of the namespace may have no references although a pod names it. */
  refusalIn(namespace: string): StatusManagerError | undefined {
    for (const refusal of this.#refused.get(namespace)?.values() ?? []) return refusal;
    return undefined;
  }

  clear(): void {
    this.#pods.clear();
    this.#refused.clear();
  }

  #forget(key: string): void {
    const registered = this.#pods.get(key);
    if (registered === undefined) return;
    this.#pods.delete(key);
    const { namespace, names, holdings } = registered;
    this.#noteRefusal(namespace, key, undefined);
    for (const name of names) this.#references.removeReference({ namespace, name }, holdings);
  }

  #noteRefusal(namespace: string, key: string, refusal: StatusManagerError | undefined): void {
    const refused = this.#refused.get(namespace) ?? new Map<string, StatusManagerError>();
    if (refusal === undefined) refused.delete(key);
    else refused.set(key, refusal);
    if (refused.size === 0) this.#refused.delete(namespace);
    else this.#refused.set(namespace, refused);
  }
}

/** Throws ERR_INVALID_ARGUMENT for a pod without a uid, name or namespace. */
function keyOfPod(pod: Pod): string {
  return `${requirePod(pod)}/${podFullName(pod)}`;
}
