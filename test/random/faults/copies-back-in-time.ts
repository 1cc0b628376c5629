import type { BasicPodManager, Pod, PodClient, PodSink, WirePod } from '../../../src/index.ts';

/**
 * Counts how often the pod source hands on a copy that is older than what is known of the pod already: from another copy,
 * or from the answer to a PATCH. It stands between a pod source and its pod manager, and before a client.
 */
export class CopiesBackInTime implements PodSink {
  /** Older than the answer to a PATCH. */
  olderThanAnAnswer = 0;
  /** Older than another copy from the same source. */
  olderThanACopy = 0;
  readonly #pods: BasicPodManager;
  readonly #answers = new Map<string, number>();
  readonly #copies = new Map<string, number>();

  constructor(pods: BasicPodManager) {
    this.#pods = pods;
  }

  addPod(pod: WirePod): void {
    this.#look(pod);
    this.#pods.addPod(pod);
  }

  updatePod(pod: WirePod): void {
    this.#look(pod);
    this.#pods.updatePod(pod);
  }

  replacePod(pod: WirePod): void {
    this.#look(pod);
    this.#pods.replacePod(pod);
  }

  removePod(pod: Pod): void {
    this.#pods.removePod(pod);
  }

  getPodsAndMirrorPods(): ReturnType<BasicPodManager['getPodsAndMirrorPods']> {
    return this.#pods.getPodsAndMirrorPods();
  }

  /** The client, whose answers are looked at. */
  listeningTo(client: PodClient): PodClient {
    return {
      getPod: (...request) => client.getPod(...request),
      deletePod: (...request) => client.deletePod(...request),
      patchPodStatus: async (...request) => {
        const answer = await client.patchPodStatus(...request);
        this.#answers.set(answer.uid, Number(answer.resourceVersion));
        return answer;
      },
    };
  }

  #look({ metadata = {} }: WirePod): void {
    const { uid = '', resourceVersion } = metadata;
    const version = Number(resourceVersion);
    if (version < (this.#answers.get(uid) ?? 0)) this.olderThanAnAnswer++;
    if (version < (this.#copies.get(uid) ?? 0)) this.olderThanACopy++;
    else this.#copies.set(uid, version);
  }
}
