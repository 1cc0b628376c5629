// Behaviour of apiserver's delegating authenticator and authorizer, v0.36.3.

import type { IncomingMessage } from 'node:http';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { CertificateIdentities, showsCertificate } from '../../client/reviews/certificate-identities.ts';
import { AccessReviews, anonymous, type Identity, TokenReviews } from '../../client/reviews/reviews.ts';
import type { ResolvedSchedulerServerOptions } from './scheduler-server-options.ts';

/** Why a request is not answered. */
export interface Refusal {
  readonly status: 401 | 403 | 500;
  readonly text: string;
}

const bearer = /^bearer +([^\s]+)$/i;
const verbs: Readonly<Record<string, string>> = { GET: 'get', HEAD: 'head' };
/** As in kube-scheduler, whoever is in it may do everything. */
const privileged = 'system:masters';

/**
 * Lets requests through whose sender is known and allowed to read the path. A request that shows nothing is that of `system:anonymous`. Every answer
 * of the apiserver but a clear yes keeps a request out.
 */
export class PathGate {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  readonly #allowed: readonly string[];
  readonly #certificates = new CertificateIdentities();
  readonly #tokens: TokenReviews;
  readonly #accesses: AccessReviews;
  /** The log has told that no reviews are given. */
  #isTold = false;

  constructor(options: ResolvedSchedulerServerOptions) {
    const { transport, clock, logger, authenticationCacheMs, authorizedCacheMs, unauthorizedCacheMs } = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#allowed = options.alwaysAllowPaths;
    const reviewed = (): void => {
      this.#isTold = false;
    };
    this.#tokens = new TokenReviews({ transport, clock, keepMs: authenticationCacheMs, reviewed });
    const keep = { keepAllowedMs: authorizedCacheMs, keepForbiddenMs: unauthorizedCacheMs };
    this.#accesses = new AccessReviews({ transport, clock, ...keep, reviewed });
  }

  /** Undefined: the request may be answered. Never rejects. `hasCertificate`: false where what the client has shown must not count. */
  async refusal(request: IncomingMessage, path: string, hasCertificate: boolean): Promise<Refusal | undefined> {
    const identity = await this.#identityOf(request, hasCertificate);
    if (identity === undefined) return { status: 401, text: 'Unauthorized' };
    if (this.#isAlwaysAllowed(path) || identity.groups.includes(privileged)) return undefined;
    const verb = verbs[request.method ?? ''] ?? '';
    const asked = `User ${JSON.stringify(identity.username)} cannot ${verb} path ${JSON.stringify(path)}`;
    try {
      const isAllowed = await this.#accesses.isAllowed(identity, { nonResourceAttributes: { path, verb } });
      return isAllowed ? undefined : { status: 403, text: `forbidden: ${asked}` };
    } catch (err) {
      this.#failed(err);
      return { status: 500, text: 'nobody can say whether this is allowed' };
    }
  }

  #isAlwaysAllowed(path: string): boolean {
    return this.#allowed.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one));
  }

  /** Undefined for a sender that is not known, or that nobody can name. */
  async #identityOf({ socket, headers }: IncomingMessage, hasCertificate: boolean): Promise<Identity | undefined> {
    const named = hasCertificate ? this.#certificates.identityOf(socket, this.#clock.now()) : undefined;
    if (named !== undefined) return named;
    const { authorization } = headers;
    if (authorization === undefined) return showsCertificate(socket) ? undefined : anonymous;
    const token = bearer.exec(authorization.trim())?.[1];
    if (token === undefined) return undefined;
    try {
      return await this.#tokens.identityOf(token);
    } catch (err) {
      this.#failed(err);
      return undefined;
    }
  }

  #failed(err: unknown): void {
    if (!this.#isTold) this.#logger.warn({ err }, "the apiserver gives no review, which the scheduler's server needs");
    this.#isTold = true;
  }
}
