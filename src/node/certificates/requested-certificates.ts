// Behaviour of k8s.io/client-go/util/certificate/certificate_manager.go, v0.36.3.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin, LinkedAbort } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { WakeableWait } from '../../base/concurrency/timers.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { CertificateFolder } from './certificate-folder.ts';
import { CertificateListeners } from './certificate-listeners.ts';
import { areSameNames, type CertificateNames, type CertificateRequestMaker, missingName } from './certificate-names.ts';
import { addressProblem, failedRequestProblem, pendingProblem } from './certificate-problems.ts';
import type { CertificatePurpose } from './certificate-purpose.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { CheckedCertificate } from './checked-certificate.ts';
import { type PendingRequest, RequestRefused, SigningRequests } from './signing-request.ts';

export interface RequestedCertificatesOptions {
  readonly nodeName: string;
  readonly purpose: CertificatePurpose;
  /** Whom the certificate is for now; undefined while nobody can say. */
  readonly names: () => CertificateNames | undefined;
  readonly makeRequest: CertificateRequestMaker;
  /** Keeps the certificate and its key over restarts. Default: a restart asks for a new one. */
  readonly folder: string | undefined;
  /** A certificate from elsewhere, for a folder that has none: it is kept there, used, and renewed at once. Default: none. */
  readonly initial?: CheckedCertificate | undefined;
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** How often the addresses are looked at. */
const lookMs = 10_000;
/** The same while there is none: a node finds its addresses while it starts. It is worth a line when that takes long. */
const firstLookMs = 1000;
const longWithoutMs = 30_000;
/** How long the function may take that makes a request. */
const makeTimeoutMs = 30_000;
/** No request follows a certificate sooner than this, however short its life is. */
const shortestPauseMs = 30_000;
/** The kubelet's waits after a failure, which end at 32 s. After a refusal a person has to act: they grow further. */
const afterFailure = { firstMs: 2000, longestMs: 32_000 };
const afterRefusal = { firstMs: 2000, longestMs: 300_000 };
/** A renewal that waits so long for its approval is told, while there is a certificate. */
const slowRenewalMs = 60_000;
const addressesChanged = new Error('the addresses of the node have changed');

/**
 * Certificates that are asked for by CertificateSigningRequests, one after 70 to 90 % of the life of the other, and a new one when the node has
 * an address that the certificate lacks. Begins with the first `read`.
 */
export class RequestedCertificates implements CertificateSource {
  readonly comesLate = true;
  readonly #options: RequestedCertificatesOptions;
  readonly #requests: SigningRequests;
  readonly #folder: CertificateFolder | undefined;
  readonly #listeners: CertificateListeners;
  readonly #failures: FailureRun;
  readonly #wait: WakeableWait;
  readonly #stopping = new AbortController();
  #loaded: Promise<void> | undefined;
  #run: Promise<void> = Promise.resolve();
  #current: CheckedCertificate | undefined;
  /** When the next certificate is asked for, in milliseconds since the epoch. */
  #renewAt = 0;
  #pending: PendingRequest | undefined;
  #lastError: unknown;
  #retryAt: number | undefined;
  #withoutAddressSince: number | undefined;

  constructor(options: RequestedCertificatesOptions) {
    this.#options = options;
    const { clock, logger, folder, purpose, nodeName: node } = options;
    const { signerName: signer } = purpose;
    this.#requests = new SigningRequests(options);
    this.#folder = folder === undefined ? undefined : new CertificateFolder(folder, purpose.filePrefix);
    this.#listeners = new CertificateListeners((err) =>
      logger.error({ err, node, signer }, 'a listener of a certificate failed'),
    );
    this.#failures = new FailureRun(clock, (ended) =>
      logger.info({ ...ended, node, signer }, 'the node has its certificate again'),
    );
    this.#wait = new WakeableWait({ clock, logger });
  }

  /** Rejects while no certificate is signed, and once the one that there is has ended. */
  async read(): Promise<ServingCertificate> {
    this.#stopping.signal.throwIfAborted();
    this.#loaded ??= this.#start();
    await this.#loaded;
    const { pem } = this.#valid() ?? {};
    if (pem === undefined) throw new Error(this.problem()?.message ?? `${this.#options.purpose.lacking} yet`);
    return pem;
  }

  /** True while there is one that has not ended. */
  get hasCertificate(): boolean {
    return this.#valid() !== undefined;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  problem(): Problem | undefined {
    const { clock, purpose } = this.#options;
    const notAfter = this.#valid()?.notAfter;
    const { failing } = this.#failures;
    const pending = this.#pending;
    if (pending !== undefined && (notAfter === undefined || clock.now() - pending.since >= slowRenewalMs)) {
      return pendingProblem(pending, { purpose, notAfter });
    }
    if (failing !== undefined)
      return failedRequestProblem(this.#lastError, { purpose, failing, notAfter, retryAt: this.#retryAt });
    return this.#withoutAddressSince === undefined ? undefined : addressProblem(notAfter, this.#withoutAddressSince);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is closed'));
    this.#listeners.clear();
    this.#wait.close();
    await this.#loaded;
    await this.#run;
  }

  async #start(): Promise<void> {
    const { clock, random, initial } = this.#options;
    const kept = await this.#kept();
    if (kept?.isValid(clock.now())) this.#take(kept, kept.renewalAt(random()));
    else if (initial?.isValid(clock.now())) {
      await this.#keep(initial);
      this.#take(initial, clock.now());
    }
    this.#run = this.#steps();
  }

  async #kept(): Promise<CheckedCertificate | undefined> {
    const { logger, purpose, nodeName: node } = this.#options;
    try {
      return await this.#folder?.load();
    } catch (err) {
      logger.warn(
        { err, node, signer: purpose.signerName, path: this.#folder?.path },
        'the certificate that was kept cannot be used: a new one is asked for',
      );
      return undefined;
    }
  }

  #take(certificate: CheckedCertificate, renewAt: number): void {
    this.#current = certificate;
    this.#renewAt = renewAt;
  }

  #valid(): CheckedCertificate | undefined {
    return this.#current?.isValid(this.#options.clock.now()) ? this.#current : undefined;
  }

  async #steps(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) await this.#wait.wait(await this.#step(), signal);
  }

  /** Returns how long to wait for the next step, in milliseconds. */
  async #step(): Promise<number> {
    const { clock } = this.#options;
    const names = this.#names();
    if (names === undefined) return this.#noteNoAddress();
    this.#withoutAddressSince = undefined;
    const current = this.#valid();
    const isDue = current === undefined || clock.now() >= this.#renewAt || missingName(current.leaf, names) !== undefined;
    if (!isDue) return Math.min(lookMs, this.#renewAt - clock.now());
    try {
      await this.#renew(names);
      return lookMs;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #noteNoAddress(): number {
    const { clock, logger, nodeName: node } = this.#options;
    const now = clock.now();
    this.#withoutAddressSince ??= now;
    const passedMs = now - this.#withoutAddressSince;
    if (passedMs >= longWithoutMs && passedMs < longWithoutMs + firstLookMs) {
      logger.warn(
        { node, ...problemFields(addressProblem(this.#valid()?.notAfter, this.#withoutAddressSince), now) },
        'the node has no address to ask for a certificate with',
      );
    }
    return firstLookMs;
  }

  #failed(error: unknown): number {
    const { clock, logger, random, purpose, nodeName: node } = this.#options;
    const { signerName: signer } = purpose;
    if (this.#stopping.signal.aborted || error === addressesChanged) return 0;
    const failing = this.#failures.failed(error);
    const growth = error instanceof RequestRefused ? afterRefusal : afterFailure;
    const waitMs = nthDelayMs(failing.attempt, growth) * (1 + 0.1 * random());
    this.#lastError = error;
    this.#retryAt = clock.now() + waitMs;
    const problem = failedRequestProblem(error, { purpose, failing, notAfter: this.#valid()?.notAfter, retryAt: this.#retryAt });
    logger.warn({ err: error, node, signer, ...problemFields(problem, clock.now()) }, 'the node got no certificate');
    return waitMs;
  }

  /** Undefined where the node has no address. */
  #names(): CertificateNames | undefined {
    const { nodeName, names, logger } = this.#options;
    const failed = (err: unknown): void => logger.error({ err, node: nodeName }, 'the addresses of the node cannot be read');
    return callGuarded(names, failed);
  }

  async #renew(names: CertificateNames): Promise<void> {
    const { clock, random, logger, purpose, nodeName: node } = this.#options;
    const { signerName: signer } = purpose;
    // it takes less than a tenth of a millisecond
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const request = await this.#makeRequest(names, publicKey, privateKey);
    const { name, cert } = await this.#ask(names, request);
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const certificate = usable({ cert, key }, name, clock.now());
    await this.#keep(certificate);
    this.#take(certificate, Math.max(certificate.renewalAt(random()), clock.now() + shortestPauseMs));
    logger.info({ node, signer, request: name, notAfter: certificate.leaf.validTo }, 'the node has a new certificate');
    this.#listeners.tell();
    const lacks = missingName(certificate.leaf, names);
    if (lacks !== undefined) {
      throw new RequestRefused('certificate-unusable', name, `the certificate that was signed for ${name} lacks ${lacks}`);
    }
    this.#failures.succeeded();
  }

  async #makeRequest(names: CertificateNames, publicKey: KeyObject, privateKey: KeyObject): Promise<string> {
    const { clock, makeRequest } = this.#options;
    const contents = {
      ...names,
      publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      sign: (bytes: Uint8Array) => sign('sha256', bytes, privateKey),
    };
    const late = (): Error => new Error(`makeCertificateRequest gave no answer within ${makeTimeoutMs} ms`);
    const limits = { clock, timeoutMs: makeTimeoutMs, signal: this.#stopping.signal, late };
    const request: unknown = await callWithin(() => makeRequest(contents), limits);
    if (typeof request !== 'string' || !request.includes('-----BEGIN CERTIFICATE REQUEST-----')) {
      throw new Error('makeCertificateRequest answered no certificate request as PEM');
    }
    return request;
  }

  /** The wait ends as soon as the node has other addresses: nobody needs the certificate of the ones before. */
  async #ask(names: CertificateNames, request: string): Promise<{ name: string; cert: string }> {
    const { clock, logger, purpose, nodeName: node } = this.#options;
    const { signerName: signer } = purpose;
    const abort = new LinkedAbort(this.#stopping.signal);
    let name = '';
    const look = (): void => {
      cancel = clock.setTimer(look, lookMs);
      if (!areSameNames(this.#names(), names)) abort.abort(addressesChanged);
    };
    let cancel = clock.setTimer(look, lookMs);
    const pending = (told: PendingRequest): void => {
      if (name === '') logger.info({ node, signer, request: told.name }, 'asked for a certificate of the node');
      name = told.name;
      this.#pending = told;
    };
    try {
      const cert = await this.#requests.ask({ request, signal: abort.signal, pending });
      return { name, cert };
    } finally {
      cancel();
      abort.release();
      this.#pending = undefined;
    }
  }

  /** A disk that is full costs the next start a request, and this one nothing. */
  async #keep(certificate: CheckedCertificate): Promise<void> {
    const { logger, purpose, nodeName: node } = this.#options;
    await this.#folder?.save(certificate, this.#options.clock.now()).catch((err: unknown) => {
      logger.warn(
        { err, node, signer: purpose.signerName, path: this.#folder?.path },
        'the certificate of the node could not be kept',
      );
    });
  }
}

/** Throws a RequestRefused for what is not a certificate of this key that is valid now. */
function usable(pem: ServingCertificate, requestName: string, now: number): CheckedCertificate {
  const refused = (why: string): RequestRefused =>
    new RequestRefused('certificate-unusable', requestName, `what was signed for ${requestName} is of no use: ${why}`);
  let certificate: CheckedCertificate;
  try {
    certificate = new CheckedCertificate(pem);
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
  if (!certificate.isValid(now)) throw refused('it has ended already');
  return certificate;
}
