import { LateMap } from '../../base/concurrency/late-collections.ts';

// Behaviour of allowStaticPodStart in pkg/kubelet/pod_workers.go, v1.36.3.

/** Lets static pods of one full name start one after another, in the order in which they came. */
export class StaticPodOrder {
  readonly #started = new LateMap<string, string>();
  readonly #waiting = new LateMap<string, string[]>();
  readonly #keepsPlaces: boolean;

  /** `keepsPlaces`, as in the kubelet: a pod that was forgotten while it waited, and comes again, has its old place. */
  constructor({ keepsPlaces }: { readonly keepsPlaces: boolean }) {
    this.#keepsPlaces = keepsPlaces;
  }

  startedUID(fullName: string): string | undefined {
    return this.#started.get(fullName);
  }

  wait(fullName: string, podUID: string): void {
    const queue = this.#waiting.get(fullName);
    if (queue === undefined) this.#waiting.set(fullName, [podUID]);
    else queue.push(podUID);
  }

  /** True when the pod may start, and from now on counts as started. Those of whom `isOver` is true are passed over. */
  tryStart(fullName: string, podUID: string, isOver: (podUID: string) => boolean): boolean {
    const started = this.#started.get(fullName);
    if (started !== undefined) return started === podUID;
    const queue = this.#waiting.get(fullName) ?? [];
    const next = queue.findIndex((uid) => !isOver(uid));
    if (next >= 0 && queue[next] !== podUID) {
      this.#keep(fullName, queue.slice(next));
      return false;
    }
    this.#keep(fullName, next >= 0 ? queue.slice(next + 1) : []);
    this.#started.set(fullName, podUID);
    return true;
  }

  /** The pod is to be stopped, and counts as started from now on, before all who wait, unless another has started. */
  takeTurn(fullName: string, podUID: string): void {
    if (!this.#started.has(fullName)) this.#started.set(fullName, podUID);
  }

  /** The pod has ended, or will never start: the next one may. */
  release(fullName: string, podUID: string): void {
    if (this.#started.get(fullName) === podUID) this.#started.delete(fullName);
    if (this.#keepsPlaces) return;
    const queue = this.#waiting.get(fullName);
    if (queue?.includes(podUID)) {
      this.#keep(
        fullName,
        queue.filter((uid) => uid !== podUID),
      );
    }
  }

  #keep(fullName: string, queue: string[]): void {
    if (queue.length > 0) this.#waiting.set(fullName, queue);
    else this.#waiting.delete(fullName);
  }
}
