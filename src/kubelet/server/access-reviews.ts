import { isJsonObject } from '../../api/json/json.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { limitedCall } from '../../client/resources/limited-call.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import type { Identity } from './identity.ts';
import { ReviewCache } from './review-cache.ts';
import { reviewTimeoutMs } from './token-reviews.ts';

const accessReviewsPath = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
/** The kubelet's `authorization.webhook.cacheAuthorizedTTL` and `cacheUnauthorizedTTL`. */
const keepAllowedMs = 300_000;
const keepForbiddenMs = 30_000;

/** What someone wants to do with the node. */
export interface NodeAccess {
  /** `get`, `create` and the like; empty for a method that has no verb. */
  readonly verb: string;
  readonly subresource: string;
}

/** Asks the apiserver who may do what with the node. */
export class AccessReviews {
  readonly #transport: ResourceTransport;
  readonly #nodeName: string;
  readonly #clock: SteadyClock;
  readonly #answers: ReviewCache<boolean>;

  constructor(transport: ResourceTransport, nodeName: string, clock: SteadyClock) {
    this.#transport = transport;
    this.#nodeName = nodeName;
    this.#clock = clock;
    const keepMs = (isAllowed: boolean): number => (isAllowed ? keepAllowedMs : keepForbiddenMs);
    this.#answers = new ReviewCache<boolean>({ clock, most: 4096, keepMs });
  }

  /** Rejects when nobody can say. */
  isAllowed(identity: Identity, access: NodeAccess): Promise<boolean> {
    const { username: user, uid, groups, extra } = identity;
    const resourceAttributes = { ...access, group: '', version: 'v1', resource: 'nodes', name: this.#nodeName };
    const spec = { user, uid, groups, extra, resourceAttributes };
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
    const status = isJsonObject(review) ? review.status : undefined;
    // what is not said clearly counts as no
    return isJsonObject(status) && status.allowed === true && status.denied !== true;
  }
}
