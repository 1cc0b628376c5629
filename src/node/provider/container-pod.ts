import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import type { Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { longestTimerMs } from '../../base/options.ts';
import type { GivenContainer } from '../pod-status/given-container.ts';
import { ContainerLife, type ContainerLifeOptions } from './container-life.ts';
import type { NodePod } from './pod-provider.ts';

export type ContainerPodOptions = Pick<ContainerLifeOptions, 'pod' | 'runContainer' | 'backoff' | 'clock' | 'changed'>;

/** A pod's own grace period where nobody says one, in seconds, as the apiserver's default. */
const defaultGracePeriodSeconds = 30;

/**
 * The containers of one pod that runs: init containers one after the other, sidecars beside what follows them, then the regular
 * ones all at once. When these have ended for good, or the pod ends, the sidecars are ended too, one by one, the last one first.
 */
export class ContainerPod {
  /** The pod as it was begun. */
  readonly pod: NodePod;
  readonly #clock: Clock;
  readonly #inits: readonly ContainerLife[];
  readonly #regulars: readonly ContainerLife[];
  /** Asks the containers to end that are no sidecars. */
  readonly #stop = new AbortController();
  /** Aborts when no sidecar is to be started any more. */
  readonly #sidecarsEnd = new AbortController();
  /** Ask one sidecar each to end, in the order of the spec. */
  readonly #sidecarStops = new Map<ContainerLife, AbortController>();
  readonly #kill = new AbortController();
  /** Resolves once no container runs or will run. Never rejects. */
  readonly #over: Promise<unknown>;

  constructor(options: ContainerPodOptions) {
    const { pod, clock } = options;
    this.pod = pod;
    this.#clock = clock;
    const { initContainers = [], containers = [] } = pod.spec;
    const kill = this.#kill.signal;
    const own = { ...options, ending: this.#stop.signal, stop: this.#stop.signal, kill };
    this.#inits = initContainers.map((spec) => {
      if (!isRestartableInitContainer(spec)) return new ContainerLife({ ...own, spec, isInit: true });
      const stop = new AbortController();
      const ending = this.#sidecarsEnd.signal;
      const life = new ContainerLife({ ...options, ending, stop: stop.signal, kill, spec, isInit: true });
      this.#sidecarStops.set(life, stop);
      return life;
    });
    this.#regulars = containers.map((spec) => new ContainerLife({ ...own, spec, isInit: false }));
    this.#over = this.#live();
  }

  get containers(): readonly GivenContainer[] {
    return [...this.#inits, ...this.#regulars].map(({ state }) => state);
  }

  /** Resolves once nothing of the pod runs. Called again, the shorter grace period counts. */
  async stop(gracePeriodSeconds: number): Promise<readonly GivenContainer[]> {
    this.#stop.abort();
    this.#sidecarsEnd.abort();
    const cancel = this.#killIn(gracePeriodSeconds);
    await this.#over;
    cancel();
    return this.containers;
  }

  async #live(): Promise<void> {
    const beside = new Map<ContainerLife, Promise<unknown>>();
    if (await this.#initialize(beside)) await Promise.all(this.#regulars.map((life) => life.live()));
    this.#sidecarsEnd.abort();
    // a pod that is being stopped has its grace period already
    const isStopped = this.#stop.signal.aborted;
    const cancel = isStopped ? undefined : this.#killIn(this.pod.spec.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds);
    for (const [life, over] of [...beside].reverse()) {
      this.#sidecarStops.get(life)?.abort();
      await over;
    }
    cancel?.();
  }

  /** True once all init containers have succeeded; a sidecar counts as soon as it has started. */
  async #initialize(beside: Map<ContainerLife, Promise<unknown>>): Promise<boolean> {
    for (const life of this.#inits) {
      if (this.#stop.signal.aborted) return false;
      if (life.isSidecar) {
        beside.set(life, life.live());
        await untilAborted(life.started, this.#stop.signal).catch(ignoreFailure);
      } else if (!(await life.live())) return false;
    }
    return !this.#stop.signal.aborted;
  }

  /** Everything that still runs then is killed. Returns a function that is to be called once nothing runs. */
  #killIn(seconds: number): () => void {
    const kill = (): void => {
      for (const stop of [this.#stop, this.#sidecarsEnd, ...this.#sidecarStops.values(), this.#kill]) stop.abort();
    };
    return this.#clock.setTimer(kill, Math.min(seconds * 1000, longestTimerMs), { keepAlive: true });
  }
}
