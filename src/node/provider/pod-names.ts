import type { Pod } from '../../api/json/types.ts';
import { isStaticPod, podFullName } from '../../api/pod/pod-identity.ts';

/** Pods by full name. Static pods have no namesakes and are left out. */
export class PodNames {
  readonly #names = new Map<string, string>();
  readonly #uids = new Map<string, Set<string>>();

  /** The pod in the place of what was there of its uid. */
  set(podUID: string, pod: Pod): void {
    const name = isStaticPod(pod) ? undefined : podFullName(pod);
    if (this.#names.get(podUID) === name) return;
    this.delete(podUID);
    if (name === undefined) return;
    this.#names.set(podUID, name);
    const uids = this.#uids.get(name);
    if (uids === undefined) this.#uids.set(name, new Set([podUID]));
    else uids.add(podUID);
  }

  delete(podUID: string): void {
    const name = this.#names.get(podUID);
    if (name === undefined) return;
    this.#names.delete(podUID);
    const uids = this.#uids.get(name);
    uids?.delete(podUID);
    if (uids?.size === 0) this.#uids.delete(name);
  }

  /** The uids of all pods of this pod's full name. */
  uidsOf(pod: Pod): Iterable<string> {
    return this.#uids.get(podFullName(pod)) ?? [];
  }
}
