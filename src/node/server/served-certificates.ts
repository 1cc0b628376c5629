import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { type EndedFailures, FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { unreadProblem } from '../certificates/certificate-problems.ts';
import { readAuthorities, readServing, type ServingTrust } from './serving-files.ts';

export interface ServedCertificatesOptions {
  readonly trust: ServingTrust;
  /** How often the certificates are looked at, in milliseconds. */
  readonly reloadPeriodMs: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Ends the looking. */
  readonly signal: AbortSignal;
  /** Gets each new reading. */
  readonly changed: (secure: SecureContextOptions) => void;
}

/** A source that says all the time that it has changed is read once in so long, in milliseconds. */
const restMs = 1000;
/** A reading of a server that runs may take so long, in milliseconds. */
const readWithinMs = 30_000;

/** Follows the certificate of a server and the authorities that it trusts. What cannot be read changes nothing. */
export class ServedCertificates {
  readonly #options: ServedCertificatesOptions;
  #text = '';
  #isReading = false;
  #hasChanged = false;
  /** The end of the certificate that is served, in milliseconds since the epoch. */
  #notAfter: number | undefined;
  readonly #failures: FailureRun;
  #isTold = false;
  #retryAt: number | undefined;
  #cancelTimer: CancelTimer | undefined;
  #leave: (() => void) | undefined;

  constructor(options: ServedCertificatesOptions) {
    this.#options = options;
    const { clock, logger } = options;
    const recovered = (ended: EndedFailures): void => {
      if (this.#isTold) logger.info(ended, "the certificates of the node's API can be read again");
      this.#isTold = false;
    };
    this.#failures = new FailureRun(clock, recovered);
  }

  /** What the server begins with: nothing, where the source says that it comes late. Rejects when it cannot be read. */
  async first(): Promise<SecureContextOptions> {
    const { trust } = this.#options;
    if (trust.certificates.comesLate === true) {
      await readAuthorities(trust);
      return {};
    }
    const { secure, text } = await readServing(trust);
    this.#text = text;
    this.#notAfter = endOf(secure);
    return secure;
  }

  /** From now on each change is told of. */
  follow(): void {
    const { trust, reloadPeriodMs, logger } = this.#options;
    const { certificates } = trust;
    const fails = (err: unknown): void =>
      logger.warn({ err }, "the source of the certificate of the node's API tells of no change");
    const leave: unknown = callGuarded(() => certificates.onChange?.(() => this.#look()), fails);
    if (typeof leave === 'function') this.#leave = () => void callGuarded(() => leave(), ignoreFailure);
    if (certificates.comesLate === true) this.#look();
    else this.#lookIn(reloadPeriodMs);
  }

  /** What the source says is wrong with its certificate; else why it, or the authorities, cannot be read again. */
  problem(): Problem | undefined {
    return this.#problemOfSource() ?? this.#problemOfReading();
  }

  #problemOfSource(): Problem | undefined {
    const { certificates } = this.#options.trust;
    return callGuarded(() => certificates.problem?.(), ignoreFailure);
  }

  #problemOfReading(): Problem | undefined {
    const { failing } = this.#failures;
    return failing && unreadProblem(failing, this.#notAfter, this.#retryAt);
  }

  /** The source is stopped as well. Never rejects. */
  async stop(): Promise<void> {
    this.#cancelTimer?.();
    this.#leave?.();
    const { certificates } = this.#options.trust;
    await Promise.resolve(callGuarded(() => certificates.stop?.(), ignoreFailure)).catch(ignoreFailure);
  }

  #lookIn(delayMs: number): void {
    const { clock, signal } = this.#options;
    if (!signal.aborted) this.#cancelTimer = clock.setTimer(() => this.#look(), delayMs);
  }

  #look(): void {
    if (this.#isReading) this.#hasChanged = true;
    else if (!this.#options.signal.aborted) void this.#read();
  }

  async #read(): Promise<void> {
    const { trust, reloadPeriodMs, clock, logger, signal, changed } = this.#options;
    this.#isReading = true;
    this.#cancelTimer?.();
    const late = (): Error => new Error(`the certificates were not read within ${readWithinMs} ms`);
    try {
      const { secure, text } = await callWithin(() => readServing(trust), { clock, timeoutMs: readWithinMs, signal, late });
      if (signal.aborted) return;
      this.#failures.succeeded();
      if (text !== this.#text) {
        changed(secure);
        this.#text = text;
        this.#notAfter = endOf(secure);
        logger.info({}, "the certificates of the node's API were read again");
      }
    } catch (err) {
      if (signal.aborted) return;
      const { attempt } = this.#failures.failed(err);
      this.#retryAt = clock.now() + (this.#hasChanged ? restMs : reloadPeriodMs);
      // each later look would say the same; what comes late tells itself why it is not there
      if (attempt > 1 || (this.#text === '' && this.#problemOfSource() !== undefined)) return;
      const fields = problemFields(this.problem() ?? {}, clock.now());
      logger.warn({ err, ...fields }, "the certificates of the node's API could not be read again; those of before stay");
      this.#isTold = true;
    } finally {
      this.#isReading = false;
      this.#lookIn(this.#hasChanged ? restMs : reloadPeriodMs);
      this.#hasChanged = false;
    }
  }
}

/** When the certificate ends, in milliseconds since the epoch; undefined where that cannot be read. */
function endOf({ cert }: SecureContextOptions): number | undefined {
  return callGuarded(() => new X509Certificate(String(cert)).validToDate.getTime(), ignoreFailure);
}
