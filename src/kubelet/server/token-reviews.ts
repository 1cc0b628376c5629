import { isJsonObject } from '../../api/json/json.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { limitedCall } from '../../client/resources/limited-call.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { authenticated, type Identity } from './identity.ts';
import { ReviewCache } from './review-cache.ts';

const tokenReviewsPath = '/apis/authentication.k8s.io/v1/tokenreviews';
/** The kubelet's `authentication.webhook.cacheTTL`. */
const keepMs = 120_000;
export const reviewTimeoutMs = 10_000;

/** Asks the apiserver whose token a request carries. */
export class TokenReviews {
  readonly #transport: ResourceTransport;
  readonly #clock: SteadyClock;
  readonly #answers: ReviewCache<Identity | undefined>;

  constructor(transport: ResourceTransport, clock: SteadyClock) {
    this.#transport = transport;
    this.#clock = clock;
    this.#answers = new ReviewCache<Identity | undefined>({ clock, most: 1024, keepMs: () => keepMs });
  }

  /** Undefined for a token that the apiserver does not know. Rejects when nobody can say. */
  identityOf(token: string): Promise<Identity | undefined> {
    return this.#answers.answer(token, () => this.#review(token));
  }

  async #review(token: string): Promise<Identity | undefined> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const limits = { clock: this.#clock, timeoutMs: reviewTimeoutMs };
    const call = limitedCall(
      'TokenReview',
      () => this.#transport.request({ method: 'POST', path: tokenReviewsPath, body, timeoutMs: reviewTimeoutMs }),
      limits,
    );
    return identityIn(await call.answer);
  }
}

/** What is not said clearly counts as no. */
function identityIn(review: unknown): Identity | undefined {
  const status = isJsonObject(review) ? review.status : undefined;
  if (!isJsonObject(status) || status.authenticated !== true || !isJsonObject(status.user)) return undefined;
  const { username, uid, groups, extra } = status.user;
  if (typeof username !== 'string' || username === '') return undefined;
  return authenticated({ username, uid: typeof uid === 'string' ? uid : '', groups: textsOf(groups), extra: extraOf(extra) });
}

function extraOf(extra: unknown): Readonly<Record<string, readonly string[]>> {
  return isJsonObject(extra) ? Object.fromEntries(Object.entries(extra).map(([key, value]) => [key, textsOf(value)])) : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
