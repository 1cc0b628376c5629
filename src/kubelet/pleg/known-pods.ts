import { type AgentPodStatus, emptyStatus } from './agent-status.ts';
import type { ListedPod } from './listed-pods.ts';
import type { PodReading, ReadTime, ReadTimes } from './pod-reader.ts';

interface PodKnowledge {
  readonly reading: PodReading;
  /** When the reading began. */
  readonly read: ReadTime;
  /** The newest list that shows the pod as the reading does. */
  seen: ReadTime;
}

/** What the last reads have brought, by pod. A read that began earlier never takes the place of one that began later. */
export class KnownPods {
  readonly #times: ReadTimes;
  readonly #pods = new Map<string, PodKnowledge>();
  /** Pods that a list has shown, and that could not be read so far. */
  readonly #unread = new Map<string, ListedPod>();
  /** The last event of each pod that nothing has shown since. */
  readonly #events = new Map<string, ReadTime>();
  #listed: ReadTime | undefined;

  constructor(times: ReadTimes) {
    this.#times = times;
  }

  /** When the last list began that has been taken in as a whole. */
  get listed(): ReadTime | undefined {
    return this.#listed;
  }

  reading(podUID: string): PodReading | undefined {
    return this.#pods.get(podUID)?.reading;
  }

  /** What is known of the pod; undefined where nothing is: before the first list, and for a pod that could not be read yet. */
  get(podUID: string): AgentPodStatus | undefined {
    const known = this.reading(podUID);
    if (known !== undefined) return known.status;
    return this.#listed === undefined || this.#unread.has(podUID) ? undefined : emptyStatus(podUID);
  }

  /** An event tells of a change of the pod: what was read before it is no longer new, whatever the time. */
  hear(podUID: string): void {
    this.#events.set(podUID, this.#times.begin());
  }

  /** True for a read that began after `time`, and after the last event of the pod. */
  isNewEnough(podUID: string, read: ReadTime, time: number): boolean {
    const event = this.#events.get(podUID);
    return (event === undefined || read.order > event.order) && this.#times.isAfter(read, time);
  }

  /** The same as {@link get}, if it was read, or seen unchanged, after `time`, and after the last event of the pod. */
  newerThan(podUID: string, time: number): AgentPodStatus | undefined {
    const seen = this.#seen(podUID);
    return seen !== undefined && this.isNewEnough(podUID, seen, time) ? this.get(podUID) : undefined;
  }

  /** The pod as the runtime was last seen to have it. */
  listedPod(podUID: string): ListedPod | undefined {
    return this.reading(podUID)?.listed ?? this.#unread.get(podUID);
  }

  /** The pods of which the runtime has anything. */
  existing(): ListedPod[] {
    const read = [...this.#pods.values()].map(({ reading }) => reading.listed);
    return [...read.filter((listed) => listed !== undefined), ...this.#unread.values()];
  }

  /** Takes a reading in. Returns true when it shows a change. */
  take(podUID: string, reading: PodReading, began: ReadTime): boolean {
    const known = this.#pods.get(podUID);
    if (known !== undefined && known.read.order > began.order) return false;
    this.#unread.delete(podUID);
    if ((this.#events.get(podUID)?.order ?? 0) < began.order) this.#events.delete(podUID);
    this.#pods.set(podUID, { reading, read: began, seen: began });
    return known?.reading.listed?.fingerprint !== reading.listed?.fingerprint;
  }

  /** Notes what a list shows. Returns the pods that it shows otherwise than they are known, and those that it no longer shows. */
  compare(pods: ReadonlyMap<string, ListedPod>, began: ReadTime): { readonly changed: ListedPod[]; readonly gone: string[] } {
    const changed: ListedPod[] = [];
    const gone = [...this.#unread.keys()].filter((uid) => !pods.has(uid));
    for (const uid of gone) this.#unread.delete(uid);
    for (const [uid, known] of this.#pods) {
      if (pods.has(uid) || known.read.order > began.order) continue;
      this.#pods.delete(uid);
      if (known.reading.listed !== undefined) gone.push(uid);
    }
    for (const [uid, pod] of pods) {
      const known = this.#pods.get(uid);
      if (known === undefined) {
        this.#unread.set(uid, pod);
        changed.push(pod);
      } else if (known.read.order > began.order) continue;
      else if (known.reading.listed?.fingerprint === pod.fingerprint) known.seen = began;
      else changed.push(pod);
    }
    return { changed, gone };
  }

  /** Every pod that the list shows is known now as it was then, or newer. */
  finishList(began: ReadTime): void {
    this.#listed = began;
    for (const [uid, event] of this.#events) if (this.#isShown(uid, event)) this.#events.delete(uid);
  }

  #isShown(podUID: string, event: ReadTime): boolean {
    const seen = this.#seen(podUID);
    return seen !== undefined && seen.order > event.order;
  }

  /** When the pod was last read, or seen unchanged. */
  #seen(podUID: string): ReadTime | undefined {
    const known = this.#pods.get(podUID);
    return known === undefined ? this.#listed : newer(known.seen, known.read);
  }
}

function newer(one: ReadTime, other: ReadTime): ReadTime {
  return one.order > other.order ? one : other;
}
