import { isTerminalPhase, podUIDOf } from '../../../../../src/api/pod/pod-identity.ts';
import { isMirrorPod, type Pod } from '../../../../../src/index.ts';

/** That a pod must end: since when, how soon, and why. By the simulation's clock. */
export interface Due {
  readonly sinceMs: number;
  /** When the last container must have ended, but for what the runtime takes. */
  readonly deadlineMs: number;
  /** The shortest time that anyone has said, in seconds. */
  readonly leastGraceSeconds: number;
  readonly why: string;
}

const expectedSources = ['api', 'file'] as const;

/** What the agent that runs now has been told: which pods there are, and which of them must end. */
export class ToldPods {
  readonly #now: () => number;
  readonly #lists = new Map<string, ReadonlyMap<string, Pod>>();
  readonly #due = new Map<string, Due>();
  readonly #known = new Map<string, Pod>();
  readonly #everDue = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True once every source has sent a list. */
  get heardAll(): boolean {
    return expectedSources.every((source) => this.#lists.has(source));
  }

  /** Another agent, which knows nothing yet. */
  forget(): void {
    this.#lists.clear();
    this.#due.clear();
    this.#known.clear();
  }

  /** True: this agent has been told of the pod, now or before. */
  knows(podUID: string): boolean {
    return this.#known.has(podUID);
  }

  /** `remains`: the uids of which the runtime has something. */
  tell(source: string, pods: readonly Pod[], remains: ReadonlySet<string>): void {
    const before = this.#lists.get(source) ?? new Map<string, Pod>();
    const list = new Map(pods.filter((pod) => !isMirrorPod(pod)).map((pod) => [podUIDOf(pod), pod]));
    this.#lists.set(source, list);
    for (const pod of list.values()) {
      this.#known.set(podUIDOf(pod), pod);
      if (remains.has(podUIDOf(pod))) this.#look(pod);
      else this.settle(podUIDOf(pod));
      // named again before anybody has noticed: it may end, and need not
      const due = this.#due.get(podUIDOf(pod));
      if (due?.why === 'unknown') this.#due.set(podUIDOf(pod), { ...due, deadlineMs: Number.POSITIVE_INFINITY });
    }
    if (!this.heardAll) return;
    for (const [uid, pod] of before) if (this.wanted(uid) === undefined) this.end(uid, graceOf(pod), 'removed');
    for (const uid of remains) this.lookAtRemains(uid);
  }

  /** The runtime has something of this pod: if no source names it, it must end. */
  lookAtRemains(podUID: string): void {
    if (!this.heardAll || this.wanted(podUID) !== undefined || this.#due.has(podUID)) return;
    const known = this.#known.get(podUID);
    this.end(podUID, known === undefined ? 1 : graceOf(known), 'unknown');
    // one that had to wait for another of its name is unknown again, and is ended at once
    const due = this.#due.get(podUID);
    if (due !== undefined) this.#due.set(podUID, { ...due, leastGraceSeconds: 1 });
  }

  /** The pod as it was last told; undefined: no source names it. */
  wanted(podUID: string): Pod | undefined {
    for (const list of this.#lists.values()) {
      const pod = list.get(podUID);
      if (pod !== undefined) return pod;
    }
    return undefined;
  }

  due(podUID: string): Due | undefined {
    return this.#due.get(podUID);
  }

  /** True: this agent, or one before it, was told that the pod must end. */
  wasDue(podUID: string): boolean {
    return this.#everDue.has(podUID);
  }

  /** All pods that are named by a source. */
  get all(): Pod[] {
    return [...this.#lists.values()].flatMap((list) => [...list.values()]);
  }

  /** The pod must end. Said again, it can only become sooner. */
  end(podUID: string, graceSeconds: number, why: string): void {
    const seconds = Math.max(1, graceSeconds);
    const before = this.#due.get(podUID);
    this.#everDue.add(podUID);
    const deadlineMs = Math.min(before?.deadlineMs ?? Number.POSITIVE_INFINITY, this.#now() + seconds * 1000);
    const leastGraceSeconds = Math.min(before?.leastGraceSeconds ?? Number.POSITIVE_INFINITY, seconds);
    this.#due.set(podUID, { sinceMs: before?.sinceMs ?? this.#now(), why: before?.why ?? why, deadlineMs, leastGraceSeconds });
  }

  /** Nothing of the pod runs or begins: if it is wanted again, it begins anew. */
  settle(podUID: string): void {
    const pod = this.wanted(podUID);
    this.#due.delete(podUID);
    if (pod !== undefined) this.#look(pod);
  }

  #look(pod: Pod): void {
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
    if (deletionTimestamp != null) this.end(podUIDOf(pod), deletionGracePeriodSeconds ?? graceOf(pod), 'deleted');
    else if (isTerminalPhase(pod.status?.phase)) this.end(podUIDOf(pod), graceOf(pod), 'over');
  }
}

function graceOf({ metadata, spec }: Pod): number {
  return metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30;
}
