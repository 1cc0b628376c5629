import { createHash } from 'node:crypto';
import { isJsonObject } from '../../api/json/json.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import { limitedCall } from '../resources/limited-call.ts';
import type { ResourceTransport } from '../resources/resource-client.ts';

const tokenReviewsPath = '/apis/authentication.k8s.io/v1/tokenreviews';
const reviewTimeoutMs = 10_000;

interface ReviewsOptions {
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  /** Told of each review that the apiserver gives. */
  readonly reviewed?: () => void;
}

export interface TokenReviewsOptions extends ReviewsOptions {
  /** How long an answer counts, in milliseconds. */
  readonly keepMs: number;
}

/** Asks the apiserver whose token a request carries. */
export class TokenReviews {
  readonly #transport: ResourceTransport;
  readonly #clock: SteadyClock;
  readonly #answers: ReviewCache<Identity | undefined>;

  readonly #reviewed: () => void;

  constructor({ transport, clock, keepMs, reviewed }: TokenReviewsOptions) {
    this.#transport = transport;
    this.#reviewed = reviewed ?? (() => {});
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
    const review: unknown = await call.answer;
    this.#reviewed();
    return identityIn(review);
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

const accessReviewsPath = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** What someone wants to do: with an object of the API, or with a path outside of it. */
export type ReviewedAccess =
  | { readonly resourceAttributes: Readonly<Record<string, string>> }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } };

export interface AccessReviewsOptions extends ReviewsOptions {
  /** How long a yes counts, in milliseconds. */
  readonly keepAllowedMs: number;
  /** How long a no counts, in milliseconds. */
  readonly keepForbiddenMs: number;
}

/** Asks the apiserver who may do what. */
export class AccessReviews {
  readonly #transport: ResourceTransport;
  readonly #clock: SteadyClock;
  readonly #answers: ReviewCache<boolean>;

  readonly #reviewed: () => void;

  constructor({ transport, clock, keepAllowedMs, keepForbiddenMs, reviewed }: AccessReviewsOptions) {
    this.#transport = transport;
    this.#reviewed = reviewed ?? (() => {});
    this.#clock = clock;
    const keepMs = (isAllowed: boolean): number => (isAllowed ? keepAllowedMs : keepForbiddenMs);
    this.#answers = new ReviewCache<boolean>({ clock, most: 4096, keepMs });
  }

  /** Rejects when nobody can say. */
  isAllowed(identity: Identity, access: ReviewedAccess): Promise<boolean> {
    const { username: user, uid, groups, extra } = identity;
    const spec = { user, uid, groups, extra, ...access };
    return this.#answers.answer(JSON.stringify(spec), () => this.#review(spec));
  }

  async #review(spec: object): Promise<boolean> {
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const limits = { clock: this.#clock, timeoutMs: reviewTimeoutMs };
    const call = limitedCall(
      'SubjectAccessReview',
      () => this.#transport.request({ method: 'POST', path: accessReviewsPath, body, timeoutMs: reviewTimeoutMs }),
      limits,
    );
    const review: unknown = await call.answer;
    this.#reviewed();
    const status = isJsonObject(review) ? review.status : undefined;
    // what is not said clearly counts as no
    return isJsonObject(status) && status.allowed === true && status.denied !== true;
  }
}

/** What a cache of reviews needs. */
export interface ReviewCacheOptions<T> {
  readonly clock: SteadyClock;
  /** So many answers are kept; the one that was used least lately goes. */
  readonly most: number;
  /** How long an answer counts, in milliseconds. */
  readonly keepMs: (answer: T) => number;
}

interface Entry<T> {
  readonly answer: T;
  readonly until: number;
}

/** So many questions are open at once: whoever makes up tokens must not flood the apiserver. */
const mostOpen = 64;

/** Keeps what the apiserver said, for a while. The same question at the same time is asked once. A failure is never kept. */
export class ReviewCache<T> {
  readonly #options: ReviewCacheOptions<T>;
  readonly #answers: BoundedMap<string, Entry<T>>;
  readonly #open = new Map<string, Promise<T>>();

  constructor(options: ReviewCacheOptions<T>) {
    this.#options = options;
    this.#answers = new BoundedMap(options.most);
  }

  /** The answer to a question, from here or from `ask`. Rejects as `ask` does, and when too much is being asked. */
  async answer(question: string, ask: () => Promise<T>): Promise<T> {
    // no token is kept, and no question costs more than another
    const key = createHash('sha256').update(question).digest('base64');
    const kept = this.#answers.get(key);
    if (kept !== undefined && this.#options.clock.elapsed() < kept.until) {
      this.#answers.set(key, kept);
      return kept.answer;
    }
    this.#answers.delete(key);
    return this.#open.get(key) ?? this.#ask(key, ask);
  }

  #ask(key: string, ask: () => Promise<T>): Promise<T> {
    if (this.#open.size >= mostOpen) return Promise.reject(new Error('too many reviews are under way'));
    const asked = ask()
      .then((answer) => {
        this.#keep(key, answer);
        return answer;
      })
      .finally(() => this.#open.delete(key));
    this.#open.set(key, asked);
    return asked;
  }

  #keep(key: string, answer: T): void {
    const { clock, keepMs } = this.#options;
    this.#answers.set(key, { answer, until: clock.elapsed() + keepMs(answer) });
  }
}

/** Who makes a request. */
export interface Identity {
  readonly username: string;
  /** Empty where there is none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const authenticatedGroup = 'system:authenticated';

/** Who makes a request without credentials, where that is allowed. */
export const anonymous: Identity = {
  username: 'system:anonymous',
  uid: '',
  extra: {},
  groups: ['system:unauthenticated'],
};

/** The same with the group of everyone who has shown credentials. */
export function authenticated(identity: Identity): Identity {
  if (identity.groups.includes(authenticatedGroup)) return identity;
  return { ...identity, groups: [...identity.groups, authenticatedGroup] };
}
