// Behaviour of k8s.io/client-go/util/certificate/csr, v0.36.3.
import { isJsonObject, membersOf } from '../../api/json/json.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { isPathSegment } from '../../base/options.ts';
import { withoutSecrets } from '../../base/secrets.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { type ApiObject, apiResource } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { limitedCall } from '../../client/resources/limited-call.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { CallOptions } from '../../client/resources/resource-requests.ts';
import type { CertificatePurpose } from './certificate-purpose.ts';

interface SigningRequest extends ApiObject {
  spec?: { request: string; signerName: string; usages: readonly string[] };
  status?: unknown;
}

const signingRequests = apiResource<SigningRequest>({
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
});

/** How long a request may wait for its certificate, as the kubelet's. */
const longestWaitMs = 15 * 60_000;
const requestTimeoutMs = 30_000;
/** How much longer a request may take before it is given up: a transport ends its requests itself. */
const graceMs = 1000;
/** Approved by a controller a request is signed within a second, and by a person in minutes. */
const looks = { firstMs: 500, longestMs: 15_000, factor: 1.5 };
/** So much of a condition's words is kept, in characters, and so many conditions are read. */
const longestWords = 500;
const mostConditions = 50;
/** A certificate with its chain, in the Base64 that it comes in. */
const longestCertificate = 256 * 1024;

/** Why a request has brought no certificate: whoever decides has said no, or has given what is of no use. */
export class RequestRefused extends Error {
  readonly kind: 'certificate-denied' | 'certificate-unusable';
  /** The request that it is about. */
  readonly requestName: string;

  constructor(kind: RequestRefused['kind'], requestName: string, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.kind = kind;
    this.requestName = requestName;
  }
}

/** A request that is neither signed nor refused yet. */
export interface PendingRequest {
  readonly name: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly since: number;
  readonly isApproved: boolean;
  /** Why the last look at it failed; undefined where it did not. */
  readonly lastError: unknown;
}

export interface SigningRequestsOptions {
  readonly purpose: CertificatePurpose;
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly random: () => number;
}

export interface AskOptions {
  /** The PKCS#10 request, as PEM. */
  readonly request: string;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called with the state of the request, again whenever it has changed. */
  readonly pending: (request: PendingRequest) => void;
}

/** Asks for certificates by CertificateSigningRequests. */
export class SigningRequests {
  readonly #options: SigningRequestsOptions;
  readonly #client: ResourceClient<SigningRequest>;

  constructor(options: SigningRequestsOptions) {
    this.#options = options;
    this.#client = new ResourceClient(options.transport, signingRequests);
  }

  /**
   * Makes a request, and waits until it is signed. Resolves with the certificate as PEM. Rejects with a RequestRefused where it is denied
   * or has failed, is gone, or waits for longer than 15 minutes; with the signal's reason; with an `ApiError` where it cannot be made.
   */
  async ask({ request, signal, pending }: AskOptions): Promise<string> {
    const { clock, purpose } = this.#options;
    const { signerName, usages } = purpose;
    const spec = { request: Buffer.from(request).toString('base64'), signerName, usages };
    const made = await this.#call('the request for a certificate', signal, (call) =>
      this.#client.create({ metadata: { generateName: 'csr-' }, spec }, call),
    );
    const { name, uid } = made.metadata ?? {};
    if (!isPathSegment(name) || name.length > 253) throw new Error('the apiserver gave the request for a certificate no name');
    const [since, startedAt] = [clock.now(), clock.elapsed()];
    let told: PendingRequest = { name, since, isApproved: false, lastError: undefined };
    pending(told);
    for (let look = 1; ; look++) {
      const leftMs = startedAt + longestWaitMs - clock.elapsed();
      if (leftMs <= 0)
        throw new RequestRefused(
          'certificate-unusable',
          name,
          `nobody has ${told.isApproved ? 'signed' : 'approved'} the request ${name} within 15 minutes`,
        );
      await sleep(clock, Math.min(leftMs, this.#delayMs(look)), signal, {});
      signal.throwIfAborted();
      const found = await this.#look(name, uid, signal);
      if ('certificate' in found) return found.certificate;
      if (found.isApproved !== told.isApproved || found.lastError !== told.lastError) {
        told = { name, since, isApproved: found.isApproved ?? told.isApproved, lastError: found.lastError };
        pending(told);
      }
    }
  }

  #delayMs(look: number): number {
    return nthDelayMs(look, looks) * (0.9 + 0.2 * this.#options.random());
  }

  /** An answer that does not come is no verdict. */
  async #look(name: string, uid: string | undefined, signal: AbortSignal): Promise<Look> {
    try {
      const request = await this.#call('the look at the request', signal, (call) => this.#client.get({ name }, call));
      if (request.metadata?.uid !== uid) throw gone(name);
      return verdictOf(name, request.status);
    } catch (error) {
      if (error instanceof RequestRefused || signal.aborted) throw error;
      if (classifyApiError(error) === 'gone') throw gone(name);
      return { isApproved: undefined, lastError: error };
    }
  }

  #call<T>(what: string, signal: AbortSignal, send: (call: CallOptions) => Promise<T>): Promise<T> {
    const limits = { clock: this.#options.clock, timeoutMs: requestTimeoutMs + graceMs, signal };
    return limitedCall(what, () => send({ signal, timeoutMs: requestTimeoutMs }), limits).answer;
  }
}

function gone(name: string): RequestRefused {
  return new RequestRefused('certificate-unusable', name, `the request ${name} was deleted before it was signed`);
}

/** What one look at a request has found. */
type Look = { readonly certificate: string } | { readonly isApproved: boolean | undefined; readonly lastError: unknown };

/** Throws a RequestRefused where somebody has said no. What is no condition counts for nothing. */
function verdictOf(name: string, given: unknown): Look {
  const status = isJsonObject(given) ? given : {};
  const conditions = Array.isArray(status.conditions) ? status.conditions.slice(0, mostConditions).filter(isJsonObject) : [];
  for (const condition of conditions) {
    if (condition.type === 'Denied') {
      throw new RequestRefused('certificate-denied', name, `the request ${name} was denied${wordsOf(condition)}`);
    }
    if (condition.type === 'Failed') {
      throw new RequestRefused('certificate-unusable', name, `the request ${name} has failed${wordsOf(condition)}`);
    }
  }
  const isApproved = conditions.some(({ type }) => type === 'Approved');
  const { certificate } = status;
  if (!isApproved || typeof certificate !== 'string' || certificate === '') return { isApproved, lastError: undefined };
  if (certificate.length > longestCertificate) {
    throw new RequestRefused('certificate-unusable', name, `the certificate of the request ${name} is too long`);
  }
  return { certificate: Buffer.from(certificate, 'base64').toString('utf8') };
}

/** ` (PolicyViolation): no node of ours`: in the words of whoever said no, on one line. */
function wordsOf(condition: object): string {
  const { reason, message } = membersOf(condition);
  const [why, words] = [reason, message].map((text) =>
    typeof text === 'string' ? withoutSecrets(textBeginning(text, longestWords)).replace(/\s+/g, ' ').trim() : '',
  );
  return `${why ? ` (${why})` : ''}${words ? `: ${words}` : ''}`;
}
