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
/** How long after a failure such a call is made again. */
const startCallRetry = { firstMs: 500, longestMs: 30_000 };

export interface ProviderListingOptions {
  readonly pods: Pick<ProvidedPods, 'list' | 'hasList'>;
  readonly nodeName: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Why a call of the start has failed, for which the node goes on trying. */
export interface StartCallFailure {
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
  #failure: StartCallFailure | undefined;

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
    const late = (): StatusManagerError => lateCallError('getPods', listTimeoutMs);
    try {
      await callWithin((own) => pods.list(own), { clock, timeoutMs: listTimeoutMs, signal, late });
      if (this.#failure !== undefined) {
        const ended = endedFailures(this.#failure, clock.now());
        logger.info({ node: nodeName, ...ended }, 'the provider has given the list of its pods');
      }
      return true;
    } catch (err) {
      if (signal.aborted) return true;
      this.#failure = startCallFailed(this.#failure, err, clock);
      const problem = problemFields(unlistedProblem(this.#failure), clock.now());
      logger.error({ err, node: nodeName, ...problem }, 'the provider gave no list of its pods; each pod is asked about');
      return false;
    }
  }
}

/** The failure after `before`, with the time of the next try. */
export function startCallFailed(before: StartCallFailure | undefined, error: unknown, clock: SteadyClock): StartCallFailure {
  const now = clock.now();
  const { since = now, attempt = 0 } = before ?? {};
  const delayMs = nthDelayMs(attempt + 1, startCallRetry);
  const times = { since, retryAt: now + delayMs, dueAt: clock.elapsed() + delayMs };
  return { why: shortErrorText(error), attempt: attempt + 1, ...times };
}

/** A call of the provider that is not waited for any longer. */
export function lateCallError(method: string, limitMs: number): StatusManagerError {
  return new StatusManagerError('ERR_CALL_TIMEOUT', `${method}() gave no answer within ${limitMs} ms`);
}
