import type { Problem } from '../../base/problem.ts';
import type { SchedulerProblemKind } from '../problem-kinds.ts';
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
  /** The log has told of one of them. */
  readonly isTold: boolean;
}

/** What is told of an extender that is passed over, but for its times. */
export function passedOver(error: ExtenderError): Pick<Problem, 'message' | 'help'> & { readonly kind: SchedulerProblemKind } {
  return {
    kind: 'extender-passed-over',
    message: `an extender fails and is passed over: ${error.message}`,
    help: `See whether the extender ${error.extender} runs and answers: until then it has no say in what it fails at.`,
  };
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

  /** An extender has failed, and pods are placed without it. `tells`: the log tells of this failure. Returns what is known of its failures in a row. */
  failed(error: ExtenderError, nowMs: number, tells: boolean): FailingExtender {
    const { extender, step } = error;
    const key = `${step} ${extender}`;
    const { sinceMs = nowMs, attempt = 0, isTold = false } = this.#failing.get(key) ?? {};
    const failing = { extender, error, sinceMs, attempt: attempt + 1, isTold: isTold || tells };
    this.#failing.set(key, failing);
    return failing;
  }

  /** An extender has done what it was asked to do. Returns what had failed until then. */
  answered(extender: string, step: ExtenderStep): FailingExtender | undefined {
    if (this.#failing.size === 0) return undefined;
    const key = `${step} ${extender}`;
    const failing = this.#failing.get(key);
    this.#failing.delete(key);
    return failing;
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
