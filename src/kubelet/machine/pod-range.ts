// Behaviour of updatePodCIDR in pkg/kubelet/kubelet_network.go, v1.36.3.
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';

/** Nothing runs with a network of its own before the first range, where the runtime makes its network from it. */
const firstLookMs = 1000;
const lookMs = 10_000;
const callTimeoutMs = 30_000;
/** Two families have one range each. */
const longestRange = 200;

export interface PodRangeOptions {
  readonly runtime: Pick<ContainerRuntime, 'updatePodCIDR'>;
  /** The range of the node's pods, such as `10.0.0.0/24,fd00::/64`; empty: there is none. */
  readonly range: () => string;
  readonly nodeName: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Tells the runtime the range of addresses of the node's pods, whenever it is another one. A runtime that fails is told again. */
export class PodRange {
  readonly #options: PodRangeOptions;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  #told = '';
  #run: Promise<void> = Promise.resolve();

  constructor(options: PodRangeOptions) {
    this.#options = options;
    const { clock, logger, nodeName: node } = options;
    this.#failures = new FailureRun(clock, (ended) =>
      logger.info({ ...ended, node }, 'the container runtime has taken the range of pod addresses'),
    );
  }

  start(): void {
    this.#run = this.#looks();
  }

  /** Resolves once no call is under way that heeds its signal. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the agent stops'));
    await this.#run;
  }

  async #looks(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#look();
      await sleep(this.#options.clock, this.#told === '' ? firstLookMs : lookMs, signal);
    }
  }

  async #look(): Promise<void> {
    const { runtime, clock, logger, nodeName: node, range } = this.#options;
    const { signal } = this.#stopping;
    const podCIDR = callGuarded(range, ignoreFailure) ?? '';
    if (podCIDR === this.#told || podCIDR === '' || podCIDR.length > longestRange) return;
    try {
      const late = (): Error => new Error(`updatePodCIDR() gave no answer within ${callTimeoutMs} ms`);
      const limits = { clock, timeoutMs: callTimeoutMs, signal, late };
      await callWithin((aborted) => runtime.updatePodCIDR(podCIDR, { signal: aborted }), limits);
      logger.info({ node, podCIDR }, 'the container runtime was told the range of pod addresses');
      this.#told = podCIDR;
      this.#failures.succeeded();
    } catch (err) {
      if (signal.aborted) return;
      const { attempt } = this.#failures.failed(err);
      const retryInMs = this.#told === '' ? firstLookMs : lookMs;
      // a runtime that is down is told of where its health is asked for
      if (attempt === 1) {
        logger.warn({ err, node, podCIDR, retryInMs }, 'the container runtime did not take the range of pod addresses');
      }
    }
  }
}
