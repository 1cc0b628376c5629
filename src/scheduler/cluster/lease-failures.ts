import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { classifyApiError, type ErrorClass } from '../../client/resources/error-class.ts';
import type { CheckedLeaderOptions } from './leader-options.ts';

/** Only a person can help here. */
const lasting: readonly ErrorClass[] = ['forbidden', 'unauthorized', 'invalid'];
/** What goes on failing is told again after so long, in milliseconds. */
const tellAgainMs = 300_000;

/**
 * The tries for a Lease that failed one after another. A process that may not have the Lease does nothing for ever, so people are
 * told: at once where trying again cannot help, and otherwise when the failures last for longer than a leader may go on.
 */
export class LeaseFailures {
  readonly #options: CheckedLeaderOptions;
  #last: LastFailure | undefined;
  #sinceMs: number | undefined;
  #toldMs: number | undefined;

  constructor(options: CheckedLeaderOptions) {
    this.#options = options;
  }

  /** The last one, while no success has followed. */
  get last(): LastFailure | undefined {
    return this.#last;
  }

  add(error: unknown, retryInMs: number): void {
    const { clock, logger, namespace, name, identity } = this.#options;
    const at = clock.now();
    this.#last = { error, at, retryAt: at + retryInMs };
    const elapsedMs = clock.elapsed();
    this.#sinceMs ??= elapsedMs;
    const fields = { err: error, namespace, name, identity };
    if (!this.#isToBeTold(error, elapsedMs - this.#sinceMs, elapsedMs)) {
      logger.debug(fields, 'the Lease of the leader was not renewed');
      return;
    }
    this.#toldMs = elapsedMs;
    logger.error(fields, 'the Lease of the leader can be neither taken nor renewed: without it this process does nothing');
  }

  /** A try has not failed. */
  end(): void {
    this.#last = undefined;
    this.#sinceMs = undefined;
  }

  #isToBeTold(error: unknown, lastedMs: number, elapsedMs: number): boolean {
    if (this.#toldMs !== undefined && elapsedMs - this.#toldMs < tellAgainMs) return false;
    return lasting.includes(classifyApiError(error)) || lastedMs >= this.#options.renewDeadlineMs;
  }
}
