import type { WirePod } from '../../../../src/api/json/types.ts';
import { isStaticPod } from '../../../../src/api/pod/pod-identity.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import type { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import type { PodEvent, PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import type { Prng } from '../../chaos/prng.ts';

/** The node's pods in a pod manager, as a watch brings them: late, in order, and now and then only by a list after a gap. */
export class LaggingWatch {
  readonly podManager = new BasicPodManager();
  #listedAt: number | undefined;
  #lagMs = 5;
  #isCut = false;
  #queue: PodEvent[] = [];
  readonly #clock: FakeClock;
  readonly #store: PodStore;
  readonly #prng: Prng;
  readonly #nodeName: string;

  constructor(clock: FakeClock, store: PodStore, prng: Prng, nodeName: string) {
    this.#clock = clock;
    this.#store = store;
    this.#prng = prng;
    this.#nodeName = nodeName;
    store.watch((event) => this.#hear(event));
  }

  lastListedAt(): number | undefined {
    return this.#listedAt;
  }

  /** From now on the pod manager hears of changes so much later. */
  set lagMs(ms: number) {
    this.#lagMs = ms;
  }

  /** The watch breaks: what happens meanwhile is never told, and a list comes afterwards. */
  cut(forMs: number): void {
    this.#isCut = true;
    this.#queue = [];
    this.#clock.setTimer(() => this.list(), forMs);
  }

  /** A full list is the truth. */
  list(): void {
    this.#isCut = false;
    this.#queue = [];
    const listed = this.#store.list({ fieldSelector: `spec.nodeName=${this.#nodeName}` });
    const uids = new Set(listed.map(({ metadata }) => metadata?.uid));
    const { allPods, allMirrorPods } = this.podManager.getPodsAndMirrorPods();
    const held = [...allPods.filter((pod) => !isStaticPod(pod)), ...allMirrorPods];
    for (const pod of held) if (!uids.has(pod.metadata?.uid)) this.podManager.removePod(pod);
    for (const pod of listed) this.podManager.updatePod(received(pod));
    this.#listedAt = this.#clock.now();
  }

  #hear(event: PodEvent): void {
    if (this.#isCut || event.object.spec?.nodeName !== this.#nodeName) return;
    this.#queue.push(event);
    this.#clock.setTimer(() => this.#deliver(event), this.#prng.int(0, this.#lagMs));
  }

  /** Everything up to this event, in order; one that a list has overtaken is not told. */
  #deliver(event: PodEvent): void {
    const index = this.#queue.indexOf(event);
    for (const { type, object: pod } of this.#queue.splice(0, index + 1)) {
      if (type === 'DELETED') this.podManager.removePod(received(pod));
      else this.podManager.updatePod(received(pod));
    }
  }
}

/** A pod of the apiserver has the source `api`, whatever it says itself. */
function received(pod: WirePod): WirePod {
  const annotations = { ...pod.metadata?.annotations, 'kubernetes.io/config.source': 'api' };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
