// Behaviour of pkg/kubelet/util/manager/cache_based_manager.go, v1.36.3: the references of registered pods.

import { requirePod } from '../pod/identified-pod.ts';
import { podFullName } from '../pod/pod-identity.ts';
import { isTerminalPhase } from '../pod/pod-phase.ts';
import type { Pod } from '../wire/types.ts';
import type { ObjectReader } from './object-reader.ts';

interface RegisteredPod {
  readonly namespace: string;
  readonly names: ReadonlySet<string>;
}

/** Turns pods into references: each registered pod holds one reference to every object that it names. */
export class RegisteredPods {
  readonly #namesOf: (pod: Pod) => ReadonlySet<string>;
  readonly #references: Pick<ObjectReader<unknown>, 'addReference' | 'removeReference'>;
  readonly #pods = new Map<string, RegisteredPod>();

  constructor(
    namesOf: (pod: Pod) => ReadonlySet<string>,
    references: Pick<ObjectReader<unknown>, 'addReference' | 'removeReference'>,
  ) {
    this.#namesOf = namesOf;
    this.#references = references;
  }

  /**
   * New names come in before dropped ones go out, and a name in both versions of the pod keeps its reference: an object that
   * stays referenced is never let go of meanwhile.
   */
  register(pod: Pod): void {
    const key = keyOfPod(pod);
    if (isTerminalPhase(pod.status?.phase)) {
      this.#forget(key);
      return;
    }
    const namespace = pod.metadata?.namespace ?? '';
    const names = this.#namesOf(pod);
    const before = this.#pods.get(key)?.names;
    this.#pods.set(key, { namespace, names });
    for (const name of names) if (!before?.has(name)) this.#references.addReference({ namespace, name });
    for (const name of before ?? []) if (!names.has(name)) this.#references.removeReference({ namespace, name });
  }

  /** What the pod named when it was registered counts, not what it names now. */
  unregister(pod: Pod): void {
    this.#forget(keyOfPod(pod));
  }

  clear(): void {
    this.#pods.clear();
  }

  #forget(key: string): void {
    const registered = this.#pods.get(key);
    if (registered === undefined) return;
    this.#pods.delete(key);
    const { namespace, names } = registered;
    for (const name of names) this.#references.removeReference({ namespace, name });
  }
}

/** Throws ERR_INVALID_ARGUMENT for a pod without a uid, name or namespace. */
function keyOfPod(pod: Pod): string {
  return `${requirePod(pod)}/${podFullName(pod)}`;
}
