import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { longestTimerMs } from '../../base/options.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { CertificateListeners } from './certificate-listeners.ts';
import { givenProblem } from './certificate-problems.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';

/** How long the function may take. */
const callTimeoutMs = 30_000;
/** How long until the function is called again after it has failed, or has given the certificate that there was. */
const again = { firstMs: 60_000, longestMs: 600_000 };

export interface GivenCertificatesOptions {
  readonly certificate: () => ServingCertificate | Promise<ServingCertificate>;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Certificates that a function gives: it is called at the first read, and again after 70 to 90 % of the life of each. */
export class GivenCertificates implements CertificateSource {
  readonly #options: GivenCertificatesOptions;
  readonly #listeners: CertificateListeners;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  #current: CheckedCertificate | undefined;
  #retryAt: number | undefined;
  #underWay: Promise<void> | undefined;
  #cancel: CancelTimer | undefined;
  /** How often in a row the function has brought nothing new. */
  #stale = 0;

  constructor(options: GivenCertificatesOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#listeners = new CertificateListeners((err) => logger.error({ err }, 'a listener of a certificate failed'));
    this.#failures = new FailureRun(clock, (ended) => logger.info(ended, 'the function of the certificate works again'));
  }

  /** Calls the function only where there is no certificate that is still valid. Rejects with what the function rejects with. */
  async read(): Promise<ServingCertificate> {
    this.#stopping.signal.throwIfAborted();
    if (this.#current?.isValid(this.#options.clock.now()) !== true) await this.#call();
    const { pem } = this.#current ?? {};
    if (pem === undefined) throw new Error('the function of the certificate has given none');
    return pem;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  problem(): Problem | undefined {
    const { failing } = this.#failures;
    return failing && givenProblem(failing, this.#current?.notAfter, this.#retryAt);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is closed'));
    this.#cancel?.();
    this.#listeners.clear();
  }

  /** One call at a time. */
  #call(): Promise<void> {
    this.#underWay ??= this.#renew().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #renew(): Promise<void> {
    const { clock, random, logger, certificate } = this.#options;
    const { signal } = this.#stopping;
    const old = this.#current;
    this.#cancel?.();
    try {
      const late = (): Error => new Error(`the function of the certificate gave no answer within ${callTimeoutMs} ms`);
      const given = await callWithin(() => certificate(), { clock, timeoutMs: callTimeoutMs, signal, late });
      const next = new CheckedCertificate(membersOfAnswer(given));
      if (!next.isValid(clock.now())) throw new Error('the certificate that the function gave has ended');
      this.#current = next;
      this.#retryAt = undefined;
      this.#failures.succeeded();
      const isNew = !next.hasSameText(old);
      this.#stale = isNew ? 0 : this.#stale + 1;
      this.#callLater(Math.max(next.renewalAt(random()) - clock.now(), nthDelayMs(Math.max(1, this.#stale), again)));
      if (isNew && old !== undefined) this.#listeners.tell();
    } catch (err) {
      if (signal.aborted) throw err;
      const failing = this.#failures.failed(err);
      const delayMs = nthDelayMs(failing.attempt, again);
      this.#retryAt = clock.now() + delayMs;
      this.#callLater(delayMs);
      const fields = problemFields(givenProblem(failing, old?.notAfter, this.#retryAt), clock.now());
      logger.warn({ err, ...fields }, 'the function of the certificate failed');
      throw err;
    }
  }

  #callLater(ms: number): void {
    const { clock } = this.#options;
    if (this.#stopping.signal.aborted) return;
    this.#cancel = clock.setTimer(
      () => {
        // a life may be longer than a timer
        if (ms > longestTimerMs) this.#callLater(ms - longestTimerMs);
        else this.#call().catch(() => {});
      },
      Math.min(ms, longestTimerMs),
    );
  }
}

function membersOfAnswer(given: unknown): Readonly<Record<'cert' | 'key', unknown>> {
  if (typeof given !== 'object' || given === null) throw new Error('the function of the certificate answered no { cert, key }');
  const { cert, key } = given as Partial<Record<'cert' | 'key', unknown>>;
  return { cert, key };
}
