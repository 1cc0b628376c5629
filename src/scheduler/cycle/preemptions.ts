import type { PostFilterAction } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { PreemptionExecutor } from '../preemption/executor.ts';

/** Carries out what postFilter has decided, beside the scheduling of other pods. */
export class Preemptions {
  readonly #executor: PreemptionExecutor;
  readonly #activate: (podUID: string) => void;
  readonly #running = new Set<Promise<void>>();
  #giveUp = new AbortController();
  #isStopped = false;

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
    if (first === undefined || this.#isStopped) return;
    const victims = actions.map(({ victim }) => victim);
    const work: Promise<void> = this.#executor
      .execute({ preemptor, nodeName: first.nodeName, victims }, this.#giveUp.signal)
      .then((isDone) => {
        this.#running.delete(work);
        if (!isDone && !this.#isStopped) this.#activate(preemptor.uid);
      });
    this.#running.add(work);
  }

  async flush(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Gives up what is under way: no other victim is marked or deleted. The pods that no room was made for are to be tried again. */
  abort(reason: string): void {
    this.#giveUp.abort(new Error(reason));
    this.#giveUp = new AbortController();
  }

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.abort('the scheduler was stopped');
    await this.flush();
  }
}
