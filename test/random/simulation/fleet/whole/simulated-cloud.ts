import type { Pod, PodStatus } from '../../../../../src/api/json/types.ts';
import type { NodePod, NotifyPods, PodProvider } from '../../../../../src/node.ts';

export interface CloudEvents {
  /** A pod was created that runs already. */
  readonly doubled: (uid: string) => void;
  readonly count: (what: string) => void;
}

/** Runs what a provider is told in a moment in which its process runs. */
type Deliver = (call: () => void) => void;

/** The pods of all nodes, as they run outside of the processes that own the nodes. The state of a pod is a number that grows. */
export class SimulatedCloud {
  readonly #events: CloudEvents;
  readonly #states = new Map<string, number>();
  readonly #listeners = new Set<(uid: string) => void>();

  constructor(events: CloudEvents) {
    this.#events = events;
  }

  get uids(): readonly string[] {
    return [...this.#states.keys()];
  }

  stateOf(uid: string): number | undefined {
    return this.#states.get(uid);
  }

  change(uid: string): void {
    this.#states.set(uid, (this.#states.get(uid) ?? 0) + 1);
    for (const told of this.#listeners) told(uid);
  }

  /** The provider of one node in one process. */
  provider(deliver: Deliver): PodProvider {
    return {
      createPod: ({ metadata: { uid } }) => {
        if (this.#states.has(uid)) this.#events.doubled(uid);
        this.#events.count('pod created');
        this.#states.set(uid, 1);
      },
      deletePod: ({ metadata: { uid } }) => void this.#states.delete(uid),
      getPodStatus: (pod) => this.#statusOf(pod),
      notifyPods: (notify: NotifyPods) => void this.#listeners.add((uid) => deliver(() => notify(uid))),
      adopt: (pods) => {
        for (const _ of pods) this.#events.count('pod adopted');
      },
      release: () => this.#events.count('node released'),
    };
  }

  #statusOf({ metadata: { uid } }: NodePod): PodStatus | undefined {
    const state = this.#states.get(uid);
    return state === undefined ? undefined : { phase: 'Running', podIP: '10.0.0.1', message: `state ${state}` };
  }
}

/** The state that a status on the server tells of; 0 where it has none. */
export function stateIn({ status }: Pod): number {
  return Number(/^state (\d+)$/.exec(status?.message ?? '')?.[1] ?? 0);
}
