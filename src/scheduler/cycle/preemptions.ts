import type { PostFilterAction } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { PreemptionExecutor } from '../preemption/executor.ts';

/** Carries out what postFilter has decided, beside the scheduling of other pods. */
export class Preemptions {
  readonly #executor: PreemptionExecutor;
  readonly #activate: (podUID: string) => void;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** `activate` is called for a pod for which no room could be made: it is to be tried again. */
  constructor(executor: PreemptionExecutor, activate: (podUID: string) => void) {
    this.#executor = executor;
    this.#activate = activate;
  }

  /** How many are under way. */
  get size(): number {
    return this.#running.size;
  }

  begin(preemptor: PodInfo, actions: readonly PostFilterAction[]): void {
    const [first] = actions;
    if (first === undefined || this.#stopping.signal.aborted) return;
    const victims = actions.map(({ victim }) => victim);
    const work: Promise<void> = this.#executor
      .execute({ preemptor, nodeName: first.nodeName, victims }, this.#stopping.signal)
      .then((isDone) => {
        this.#running.delete(work);
        if (!isDone && !this.#stopping.signal.aborted) this.#activate(preemptor.uid);
      });
    this.#running.add(work);
  }

  async flush(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the scheduler was stopped'));
    await this.flush();
  }
}
