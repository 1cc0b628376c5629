import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import type { ProvidedPods } from './provided-pods.ts';
import { shortErrorText } from './provider-calls.ts';
import { unlistedProblem } from './provider-problems.ts';

/** How long a list of pods is waited for. */
const listTimeoutMs = 10_000;
/** How long after a failure the list is asked for again. */
const listRetry = { firstMs: 500, longestMs: 30_000 };

export interface ProviderListingOptions {
  readonly pods: Pick<ProvidedPods, 'list' | 'hasList'>;
  readonly nodeName: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

interface ListFailure {
  readonly why: string;
  readonly attempt: number;
  readonly since: number;
  readonly retryAt: number;
  /** The same by `clock.elapsed()`: to be waited for. */
  readonly dueAt: number;
}

/** The first list of the provider's pods: what an earlier run of the agent has left is known by it. It is asked for until it is there. */
export class ProviderListing {
  readonly #options: ProviderListingOptions;
  readonly #stopping = new AbortController();
  #failure: ListFailure | undefined;

  constructor(options: ProviderListingOptions) {
    this.#options = options;
  }

  /** Resolves once the list is there, or could not be had at once: then it is asked for again, half a second later and less and less often. Never rejects. */
  async first(): Promise<void> {
    if (!(await this.#list())) this.#again().catch(ignoreFailure);
  }

  /** Why there is no list yet; undefined while nothing has failed, and once a list is there, whoever has asked for it. */
  get problem(): Problem | undefined {
    const { pods } = this.#options;
    return this.#failure === undefined || pods.hasList ? undefined : unlistedProblem(this.#failure);
  }

  /** Nothing is asked any more, and no timer is left. */
  stop(): void {
    this.#stopping.abort();
  }

  async #again(): Promise<void> {
    const { pods, clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted && !pods.hasList) {
      const { dueAt = 0 } = this.#failure ?? {};
      await sleep(clock, Math.max(0, dueAt - clock.elapsed()), signal);
      if (signal.aborted || pods.hasList || (await this.#list())) return;
    }
  }

  /** False where it has failed. */
  async #list(): Promise<boolean> {
    const { pods, clock, logger, nodeName } = this.#options;
    const { signal } = this.#stopping;
    const late = (): StatusManagerError =>
      new StatusManagerError('ERR_CALL_TIMEOUT', `getPods() gave no answer within ${listTimeoutMs} ms`);
    try {
      await callWithin((own) => pods.list(own), { clock, timeoutMs: listTimeoutMs, signal, late });
      if (this.#failure !== undefined) {
        const ended = endedFailures(this.#failure, clock.now());
        logger.info({ node: nodeName, ...ended }, 'the provider has given the list of its pods');
      }
      return true;
    } catch (err) {
      if (signal.aborted) return true;
      const before = this.#failure;
      const attempt = (before?.attempt ?? 0) + 1;
      const now = clock.now();
      const delayMs = nthDelayMs(attempt, listRetry);
      const times = { since: before?.since ?? now, retryAt: now + delayMs, dueAt: clock.elapsed() + delayMs };
      const failure = { why: shortErrorText(err), attempt, ...times };
      this.#failure = failure;
      const problem = problemFields(unlistedProblem(failure), now);
      logger.error({ err, node: nodeName, ...problem }, 'the provider gave no list of its pods; each pod is asked about');
      return false;
    }
  }
}
