import type { ExtenderError, ExtenderStep } from './extender-error.ts';

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

/** An extender that fails and is passed over, in one step. */
export interface FailingExtender {
  readonly extender: string;
  /** Its last failure. */
  readonly error: ExtenderError;
  /** Since when it fails, by `elapsed` of the clock. */
  readonly sinceMs: number;
  /** So many failures in a row. */
  readonly attempt: number;
}

/** What the extenders of a scheduler do at a moment, for people. */
export class ExtenderReports {
  /** By extender and step: there are no more than verbs in the configuration. */
  readonly #failing = new Map<string, FailingExtender>();
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

  /** An extender has failed, and pods are placed without it. */
  failed(error: ExtenderError, nowMs: number): void {
    const { extender, step } = error;
    const key = `${step} ${extender}`;
    const { sinceMs = nowMs, attempt = 0 } = this.#failing.get(key) ?? {};
    this.#failing.set(key, { extender, error, sinceMs, attempt: attempt + 1 });
  }

  /** An extender has done what it was asked to do. */
  answered(extender: string, step: ExtenderStep): void {
    if (this.#failing.size > 0) this.#failing.delete(`${step} ${extender}`);
  }

  /** Those that have failed and have not done the same since. */
  failing(): readonly FailingExtender[] {
    return [...this.#failing.values()];
  }

  /** The uids of the pods of which an extender is asked right now. */
  podUIDs(): Iterable<string> {
    return this.#asked.keys();
  }
}
