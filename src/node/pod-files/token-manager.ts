// Behaviour of pkg/kubelet/token, v1.36.3.

import { membersOf } from '../../api/json/json.ts';
import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type Clock, type SteadyClock, safeClock, sleep, systemClock } from '../../base/clock.ts';
import { whileGoing } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorText, invalidArgument, StatusManagerError } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { integerOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

/** Who asks for tokens. `transport` is needed. */
export interface TokenManagerOptions {
  /** Reaches the apiserver, such as a `KubeTransport`. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** So many tokens may one pod have; one more is refused. Default 100. */
  readonly maxTokensPerPod?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Uniform in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

/** Times are by `elapsed`, from when the request was sent: a token lives on whatever clocks are set to. */
interface KeptToken extends ServiceAccountToken {
  /** From when on a new one is asked for. */
  renewAt: number;
  readonly validUntil: number;
  /** How often in a row a new one could not be had. */
  failures: number;
}

interface TokensOfPod {
  readonly kept: Map<string, KeptToken>;
  /** The requests under way. */
  readonly asked: Map<string, Promise<ServiceAccountToken>>;
}

interface SentRequest {
  readonly answer: unknown;
  readonly sentAt: number;
}

const oldestMs = 24 * 3_600_000;
const mostJitterMs = 10_000;
const renewedAfterShare = 0.8;
/** A renewal that failed is tried again after this time. */
const renewalPauseMs = 10_000;
/** The waits after a 403: the apiserver learns a moment after the binding that the pod is this node's. */
const afterForbidden = { firstMs: 50, tries: 6 };

/**
 * The service account tokens of a node's pods, each bound to its pod. A token is kept until 80 % of its life are over, or 24
 * hours, a little earlier by chance, and then renewed; while that fails, the old one serves as long as it is valid. Requests for
 * the same token are one. No token is in a log or an error.
 *
 * @example
 * ```ts
 * import { TokenManager } from 'pod-status-manager/kubelet';
 *
 * const status = { token: 'a.b.c', expirationTimestamp: '2126-01-01T00:00:00Z' };
 * const transport = { request: async () => ({ spec: { expirationSeconds: 3607 }, status }), stream: async () => {} };
 * const tokens = new TokenManager({ transport });
 * const pod = { metadata: { name: 'web', namespace: 'default', uid: '1' } };
 * const request = { serviceAccountName: 'default', audience: '', expirationSeconds: 3607 };
 * console.log((await tokens.getToken(pod, request, AbortSignal.timeout(5000))).expiresAt > Date.now()); // true
 * await tokens.stop();
 * ```
 */
export class TokenManager {
  readonly #accounts: ResourceClient;
  readonly #clock: SteadyClock;
  readonly #maxTokensPerPod: number;
  readonly #random: () => number;
  readonly #logger: Logger;
  readonly #pods = new Map<string, TokensOfPod>();
  readonly #stopping = new AbortController();

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: TokenManagerOptions) {
    requireKnownOptions('options', options, ['transport', 'maxTokensPerPod', 'clock', 'random', 'logger']);
    const { transport, maxTokensPerPod = 100, clock = systemClock, random = Math.random, logger } = options;
    this.#accounts = new ResourceClient(transport, resources.serviceAccounts);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#clock = safeClock(clock);
    this.#maxTokensPerPod = integerOption('maxTokensPerPod', maxTokensPerPod, 1);
    this.#random = safeRandom(optionOfType('random', random, 'function'));
    this.#logger = loggerOption(logger);
  }

  /** The number of pods that tokens are kept of. */
  get size(): number {
    return this.#pods.size;
  }

  /**
   * A token that is valid. Rejects with the `ApiError` of the request that failed (a 403 was repeated for about one and a half
   * seconds), with the signal's reason once it aborts, with ERR_OVER_BUDGET for a pod that has as many tokens as it may, with
   * ERR_INVALID_ARGUMENT for a pod without a namespace, name or uid, and with ERR_STOPPED after `stop()`.
   */
  async getToken(pod: Pod, request: TokenRequest, signal: AbortSignal): Promise<ServiceAccountToken> {
    if (this.#stopping.signal.aborted) throw stopped();
    const target = tokenPodOf(pod);
    const ofPod = this.#tokensOf(target.uid);
    const { serviceAccountName, serviceAccountUID = '', audience, expirationSeconds } = request;
    const key = JSON.stringify([target.namespace, serviceAccountName, serviceAccountUID, audience, expirationSeconds]);
    const kept = ofPod.kept.get(key);
    const now = this.#clock.elapsed();
    if (kept !== undefined && now < kept.renewAt && now < kept.validUntil) return kept;
    if (kept === undefined && !ofPod.asked.has(key)) this.#requireRoom(ofPod, target);
    try {
      return await whileGoing(() => this.#asked(ofPod, key, target, request), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (this.#stopping.signal.aborted) throw stopped();
      if (kept === undefined || this.#clock.elapsed() >= kept.validUntil) throw error;
      kept.renewAt = this.#clock.elapsed() + renewalPauseMs;
      kept.failures += 1;
      this.#logger.warn(
        { err: error, ...podFields(target), attempt: kept.failures, retryInMs: renewalPauseMs },
        'a service account token could not be renewed; the old one is used',
      );
      return kept;
    }
  }

  /** Forgets the tokens of a pod. */
  deletePod(podUID: string): void {
    this.#pods.delete(podUID);
  }

  /** Gives up the requests under way, and forgets all tokens. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const asked = [...this.#pods.values()].flatMap((ofPod) => [...ofPod.asked.values()]);
    this.#pods.clear();
    await Promise.allSettled(asked);
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #tokensOf(podUID: string): TokensOfPod {
    const before = this.#pods.get(podUID);
    if (before !== undefined) return before;
    const ofPod: TokensOfPod = { kept: new Map(), asked: new Map() };
    this.#pods.set(podUID, ofPod);
    return ofPod;
  }

  /** What is no longer valid makes room. */
  #requireRoom({ kept, asked }: TokensOfPod, { namespace, name }: TokenPod): void {
    const most = this.#maxTokensPerPod;
    if (kept.size + asked.size < most) return;
    const now = this.#clock.elapsed();
    for (const [key, { validUntil }] of kept) if (now >= validUntil) kept.delete(key);
    if (kept.size + asked.size < most) return;
    const rule = `and this node keeps ${most} for one pod`;
    const message = `pod ${namespace}/${name} has ${most} service account tokens and asks for more, ${rule}. Let the pod ask for fewer`;
    throw new StatusManagerError('ERR_OVER_BUDGET', message);
  }

  /** One request for all who ask for the same token meanwhile. */
  #asked(ofPod: TokensOfPod, key: string, target: TokenPod, request: TokenRequest): Promise<ServiceAccountToken> {
    const before = ofPod.asked.get(key);
    if (before !== undefined) return before;
    const asked = this.#ask(target, request)
      .then((token) => {
        ofPod.kept.set(key, token);
        return token;
      })
      .finally(() => ofPod.asked.delete(key));
    // whoever asked may have gone
    asked.catch(() => {});
    ofPod.asked.set(key, asked);
    return asked;
  }

  async #ask(target: TokenPod, request: TokenRequest): Promise<KeptToken> {
    const { answer, sentAt } = await this.#send(target, request);
    const { token, expiresAt, lifeMs } = tokenOfAnswer(answer, request.expirationSeconds);
    const jitterMs = this.#random() * mostJitterMs;
    const renewAt = sentAt + Math.min(lifeMs * renewedAfterShare, oldestMs) - jitterMs;
    return { token, expiresAt, renewAt, validUntil: sentAt + lifeMs, failures: 0 };
  }

  async #send({ namespace, name, uid }: TokenPod, request: TokenRequest): Promise<SentRequest> {
    const { signal } = this.#stopping;
    const account = { namespace, name: request.serviceAccountName };
    const body = tokenRequestBody({ namespace, name, uid }, request);
    for (let tries = 1; ; tries += 1) {
      const sentAt = this.#clock.elapsed();
      try {
        return { sentAt, answer: await this.#accounts.createSubresource(account, 'token', body, { signal }) };
      } catch (error) {
        if (tries === afterForbidden.tries || classifyApiError(error) !== 'forbidden') {
          throw new Error(`failed to fetch token: ${errorText(error)}`, { cause: error });
        }
        await sleep(this.#clock, nthDelayMs(tries, afterForbidden), signal);
        if (signal.aborted) throw error;
      }
    }
  }
}

function stopped(): StatusManagerError {
  return new StatusManagerError('ERR_STOPPED', 'The token manager is stopping or stopped');
}

/** Which token is asked for. */
export interface TokenRequest {
  /** The service account, in the pod's namespace. */
  readonly serviceAccountName: string;
  /**
   * The uid that the account must have: the apiserver refuses a token of another account of the same name, and a token that is kept for
   * another one does not serve. Default: whichever account has the name.
   */
  readonly serviceAccountUID?: string | undefined;
  /** Whom the token is for; empty: the apiserver. */
  readonly audience: string;
  /** How long the token is to be valid, in seconds. */
  readonly expirationSeconds: number;
}

/** A token of a service account that is bound to one pod. */
export interface ServiceAccountToken {
  /** The token itself. Secret. */
  readonly token: string;
  /** When it ends to be valid, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The pod that a token is bound to. */
interface TokenPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Throws ERR_INVALID_ARGUMENT for a pod that lacks its namespace, name or uid. */
function tokenPodOf({ metadata }: Pod): TokenPod {
  const { namespace, name, uid } = metadata ?? {};
  if (!namespace) throw invalidArgument('pod.metadata.namespace', 'a non-empty string', namespace);
  if (!name) throw invalidArgument('pod.metadata.name', 'a non-empty string', name);
  if (!uid) throw invalidArgument('pod.metadata.uid', 'a non-empty string', uid);
  return { namespace, name, uid };
}

/** The body of a TokenRequest, as the kubelet sends it. */
function tokenRequestBody(
  { name, uid }: TokenPod,
  { serviceAccountUID = '', audience, expirationSeconds }: TokenRequest,
): object {
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    ...(serviceAccountUID !== '' && { metadata: { uid: serviceAccountUID } }),
    spec: {
      audiences: audience === '' ? [] : [audience],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
}

/** What the server answers a TokenRequest with. `lifeMs` is how long the token is valid from its beginning. Throws for anything else. */
function tokenOfAnswer(answer: unknown, askedSeconds: number): ServiceAccountToken & { readonly lifeMs: number } {
  const { spec, status } = membersOf(answer);
  const { token, expirationTimestamp } = membersOf(status);
  const expiresAt = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN;
  if (typeof token !== 'string' || token === '' || !Number.isFinite(expiresAt)) {
    throw new Error('the answer to a TokenRequest holds no token');
  }
  const { expirationSeconds } = membersOf(spec);
  const seconds = typeof expirationSeconds === 'number' && expirationSeconds > 0 ? expirationSeconds : askedSeconds;
  return { token, expiresAt, lifeMs: seconds * 1000 };
}
