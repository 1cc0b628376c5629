import type { SteadyClock } from '../../base/clock.ts';
import { isLevelEnabled, type Logger } from '../../base/logging/logger.ts';
import { textBeginning } from '../../base/text-beginning.ts';

/** So many lines a minute, whoever sends requests. */
const mostLines = 20;
const windowMs = 60_000;
const longestPath = 200;

/** A request that was answered with 401. */
export interface UnknownSender {
  readonly method: string | undefined;
  readonly url: string | undefined;
  /** Why its sender is not known. No part of it is the client's choice. */
  readonly reason: string;
}

/** Says in the log, at `debug`, why senders are not known. No line has a token, a header or a query. */
export class UnknownSenders {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  /** When the minute began, by `Clock.elapsed`. */
  #since: number | undefined;
  #lines = 0;

  constructor({ clock, logger }: { readonly clock: SteadyClock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  note({ method, url = '', reason }: UnknownSender): void {
    if (!isLevelEnabled(this.#logger, 'debug')) return;
    const now = this.#clock.elapsed();
    if (this.#since === undefined || now - this.#since >= windowMs) {
      this.#since = now;
      this.#lines = 0;
    }
    if (this.#lines >= mostLines) return;
    this.#lines += 1;
    const path = textBeginning(url.split('?', 1)[0] ?? '', longestPath);
    this.#logger.debug({ method, path, reason }, "the sender of a request to the node's API is not known (401)");
  }
}
