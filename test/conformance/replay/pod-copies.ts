import type { WirePodStatus } from '../../../src/index.ts';
import type { ServerPod, Step } from './replay-scenario.ts';
import type { World } from './replay-world.ts';

/** Follows the copies that one side's pod manager was given. Some operations look at such a copy, and not at the cached status. */
export class PodCopies {
  readonly #world: World;
  readonly #copies = new Map<string, ServerPod>();

  constructor(world: World) {
    this.#world = world;
  }

  /** `server` is what the side's server held after the step. */
  note({ op, pod, podUID = '', namespace, name }: Step, server: Readonly<Record<string, ServerPod>>): void {
    if (op === 'podManager.remove' && this.#world.isMirror(podUID)) this.#copies.delete(podUID);
    if ((op === 'podManager.add' || op === 'podManager.update') && pod?.metadata?.uid !== undefined) {
      const { uid, deletionTimestamp } = pod.metadata;
      this.#copies.set(uid, { uid, deleting: Boolean(deletionTimestamp), status: pod.status ?? {} });
    }
    const observed = op === 'podManager.observe' ? server[`${namespace}/${name}`] : undefined;
    if (observed !== undefined) this.#copies.set(observed.uid, observed);
  }

  /** The copy of this uid. */
  get(podUID: string): ServerPod | undefined {
    return this.#copies.get(podUID);
  }

  /** What a first status of the pod is compared with: its mirror's copy, or its own. */
  statusBefore(podUID: string, podUIDs: ReadonlySet<string>): WirePodStatus | undefined {
    const mirror = [...podUIDs].find((uid) => this.#world.isMirror(uid) && this.#copies.has(uid));
    return this.#copies.get(this.#world.isStatic(podUID) && mirror !== undefined ? mirror : podUID)?.status;
  }
}
