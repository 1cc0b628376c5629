import type { ExtenderStep } from './extender-error.ts';

/** An extender that was asked of a pod and has not answered yet. */
export interface AskedExtender {
  /** The address of the extender, as people see it. */
  readonly extender: string;
  /** What it was asked to do. */
  readonly step: ExtenderStep;
  /** Since when, by `elapsed` of the clock. */
  readonly sinceMs: number;
  /** How long its answer may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** What the extenders of a scheduler do at a moment, for people. */
export class ExtenderReports {
  /** By the pod's uid. */
  readonly #asked = new Map<string, Set<AskedExtender>>();

  /** An extender is asked of a pod, until the returned function is called. */
  asks(podUID: string, one: AskedExtender): () => void {
    const ofPod = this.#asked.get(podUID) ?? new Set();
    this.#asked.set(podUID, ofPod.add(one));
    return () => {
      ofPod.delete(one);
      if (ofPod.size === 0 && this.#asked.get(podUID) === ofPod) this.#asked.delete(podUID);
    };
  }

  /** The extenders that are asked of the pod right now. */
  askedOf(podUID: string): readonly AskedExtender[] {
    return [...(this.#asked.get(podUID) ?? [])];
  }

  /** The uids of the pods of which an extender is asked right now. */
  podUIDs(): Iterable<string> {
    return this.#asked.keys();
  }
}
