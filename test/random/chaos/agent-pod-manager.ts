import type { BasicPodManager, Pod, PodManager, UIDTranslations } from '../../../src/index.ts';

/** Thrown on purpose by a pod manager that fails for a moment. */
export class PodManagerFailure extends Error {
  constructor() {
    super('the pod manager fails on purpose');
  }
}

type Subscribe = (listener: (podUID: string) => void) => () => void;

/**
 * The pod manager as the manager under test sees it. It may fail for a moment; a hint that the manager looks at just then is
 * lost. It may offer no subscription.
 */
export class AgentPodManager implements PodManager {
  declare readonly subscribe?: Subscribe;
  readonly #pods: BasicPodManager;
  readonly #turn: () => number;
  readonly #onFailure: () => void;
  #failsInTurn = -1;

  constructor(pods: BasicPodManager, { subscribes, turn, onFailure }: AgentPodManagerOptions) {
    this.#pods = pods;
    this.#turn = turn;
    this.#onFailure = onFailure;
    const { subscribe } = pods as { readonly subscribe?: Subscribe };
    if (subscribes && subscribe !== undefined) this.subscribe = (listener) => subscribe.call(pods, listener);
  }

  /** It fails until this turn of the event loop is over. */
  failNow(): void {
    this.#failsInTurn = this.#turn();
  }

  getPodByUID(uid: string): Pod | undefined {
    return this.#pods.getPodByUID(uid);
  }

  getMirrorPodByPod(pod: Pod): Pod | undefined {
    return this.#pods.getMirrorPodByPod(pod);
  }

  translatePodUID(uid: string): string {
    return this.#pods.translatePodUID(uid);
  }

  getUIDTranslations(): UIDTranslations {
    if (this.#failsInTurn !== this.#turn()) return this.#pods.getUIDTranslations();
    this.#onFailure();
    throw new PodManagerFailure();
  }
}

export interface AgentPodManagerOptions {
  readonly subscribes: boolean;
  /** Grows with every turn of the event loop. */
  readonly turn: () => number;
  readonly onFailure: () => void;
}
