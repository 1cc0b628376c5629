import { longestTimerMs } from '../checks/options.ts';
import { isRestartableInitContainer } from '../conditions/restart-policy.ts';
import type { GivenContainer } from '../runtime-status/given-container.ts';
import type { Clock } from '../seams/clock.ts';
import { ContainerLife, type ContainerLifeOptions } from './container-life.ts';
import type { NodePod } from './pod-provider.ts';

export type ContainerPodOptions = Pick<ContainerLifeOptions, 'pod' | 'runContainer' | 'backoff' | 'clock' | 'changed'>;

/** A pod's own grace period where nobody says one, in seconds, as the apiserver's default. */
const defaultGracePeriodSeconds = 30;

/**
 * The containers of one pod that runs: init containers one after the other, sidecars beside what follows them, then the regular
 * ones all at once. When these have ended for good, the sidecars are ended too.
 */
export class ContainerPod {
  readonly #pod: NodePod;
  readonly #all = new Stopper();
  readonly #sidecars = new Stopper();
  readonly #clock: Clock;
  readonly #inits: readonly ContainerLife[];
  readonly #regulars: readonly ContainerLife[];
  /** Resolves once no container runs or will run. Never rejects. */
  readonly #over: Promise<unknown>;

  constructor(options: ContainerPodOptions) {
    const { pod, clock } = options;
    this.#pod = pod;
    this.#clock = clock;
    const signals = { stop: this.#all.stop, kill: this.#all.kill };
    const ofSidecars = {
      stop: AbortSignal.any([signals.stop, this.#sidecars.stop]),
      kill: AbortSignal.any([signals.kill, this.#sidecars.kill]),
    };
    const { initContainers = [], containers = [] } = pod.spec;
    this.#inits = initContainers.map((spec) => {
      const own = isRestartableInitContainer(spec) ? ofSidecars : signals;
      return new ContainerLife({ ...options, ...own, spec, isInit: true });
    });
    this.#regulars = containers.map((spec) => new ContainerLife({ ...options, ...signals, spec, isInit: false }));
    this.#over = this.#live();
  }

  get containers(): readonly GivenContainer[] {
    return [...this.#inits, ...this.#regulars].map(({ state }) => state);
  }

  /** Resolves once nothing of the pod runs. Called again, the shorter grace period counts. */
  async stop(gracePeriodSeconds: number): Promise<readonly GivenContainer[]> {
    const cancel = this.#all.end(this.#clock, gracePeriodSeconds);
    await this.#over;
    cancel();
    return this.containers;
  }

  async #live(): Promise<void> {
    const beside: Promise<unknown>[] = [];
    if (await this.#initialize(beside)) await Promise.all(this.#regulars.map((life) => life.live()));
    const cancel = this.#sidecars.end(this.#clock, this.#pod.spec.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds);
    await Promise.all(beside);
    cancel();
  }

  /** True once all init containers have succeeded; a sidecar counts as soon as it runs. */
  async #initialize(beside: Promise<unknown>[]): Promise<boolean> {
    for (const life of this.#inits) {
      if (life.isSidecar) beside.push(life.live());
      else if (!(await life.live())) return false;
    }
    return !this.#all.stop.aborted;
  }
}

/** Asks containers to end, and forces them after a grace period. */
class Stopper {
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();

  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  get kill(): AbortSignal {
    return this.#kill.signal;
  }

  /** Returns a function that is to be called once they have ended. */
  end(clock: Clock, gracePeriodSeconds: number): () => void {
    this.#stop.abort();
    return clock.setTimer(() => this.#kill.abort(), Math.min(gracePeriodSeconds * 1000, longestTimerMs), { keepAlive: true });
  }
}
