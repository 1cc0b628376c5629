import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SteadyClock } from '../../base/clock.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Problem } from '../../base/problem.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { CertificateIdentities, showsCertificate } from '../../client/reviews/certificate-identities.ts';
import { AccessReviews, anonymous, type Identity, TokenReviews } from '../../client/reviews/reviews.ts';
import { KubeletApiRefusal } from './exchange.ts';
import { ReviewFailures } from './review-failures.ts';
import type { ServingSettings } from './serving-settings.ts';
import { UnknownSenders } from './unknown-senders.ts';

/** Who decides over requests. */
export interface GateOptions
  extends Pick<ServingSettings, 'authenticationCacheMs' | 'authorizedCacheMs' | 'unauthorizedCacheMs'> {
  readonly nodeName: string;
  /** Reviews are written over it. */
  readonly transport: ResourceTransport;
  /** True: a request without credentials is that of `system:anonymous`. */
  readonly allowsAnonymous: boolean;
  /** True: clients are asked for certificates. */
  readonly asksForCertificates: boolean;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
/** As Go's bearer token authenticator reads it. */
const bearer = /^bearer +([^\s]+)$/i;

/**
 * Lets requests through whose sender is known and allowed. Every answer but a clear yes keeps them out: 401 for a sender that is not
 * known or that nobody can name, 403 for what is not allowed, 500 where nobody can say whether it is.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #tokens: TokenReviews;
  readonly #accesses: AccessReviews;
  readonly #failures: ReviewFailures;
  readonly #unknown: UnknownSenders;
  readonly #certificates = new CertificateIdentities();

  constructor(options: GateOptions) {
    const { transport, clock } = options;
    this.#options = options;
    this.#failures = new ReviewFailures(options);
    this.#unknown = new UnknownSenders(options);
    const { authenticationCacheMs: keepMs, authorizedCacheMs: keepAllowedMs, unauthorizedCacheMs: keepForbiddenMs } = options;
    this.#tokens = new TokenReviews({ transport, clock, keepMs, reviewed: () => this.#failures.succeeded('sender') });
    const reviewed = (): void => this.#failures.succeeded('right');
    this.#accesses = new AccessReviews({ transport, clock, keepAllowedMs, keepForbiddenMs, reviewed });
  }

  /** Reviews that the apiserver does not give. Empty once it gives one, and five minutes after the last failure. */
  problems(): Problem[] {
    return this.#failures.problems();
  }

  /** Who sends the request, once it is allowed. Rejects with a `KubeletApiRefusal`. `hasCertificate`: false where it must not count. */
  async admit(request: IncomingMessage, subresources: readonly string[], hasCertificate: boolean): Promise<Identity> {
    const identity = await this.#authenticate(request, hasCertificate);
    if (identity === undefined) throw new KubeletApiRefusal(401, 'Unauthorized');
    const verb = (Object.hasOwn(verbs, request.method ?? '') && verbs[request.method ?? '']) || '';
    for (const subresource of subresources) {
      if (await this.#isAllowed(identity, { verb, subresource })) return identity;
    }
    const asked = `user=${identity.username}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}]`;
    throw new KubeletApiRefusal(403, `Forbidden (${asked})`);
  }

  async #authenticate(request: IncomingMessage, hasCertificate: boolean): Promise<Identity | undefined> {
    const { allowsAnonymous, clock } = this.#options;
    const named = hasCertificate ? this.#certificates.identityOf(request.socket, clock.now()) : undefined;
    if (named !== undefined) return named;
    const { authorization } = request.headers;
    if (authorization === undefined) {
      if (allowsAnonymous && !showsCertificate(request.socket)) return anonymous;
      return this.#isUnknown(request, this.#whyNoCertificate(request.socket, hasCertificate));
    }
    const token = bearer.exec(authorization.trim())?.[1];
    if (token === undefined) return this.#isUnknown(request, 'the header Authorization has no bearer token');
    try {
      const identity = await this.#tokens.identityOf(token);
      return identity ?? this.#isUnknown(request, 'the apiserver does not know the token');
    } catch (err) {
      this.#failures.failed('sender', err, {});
      return undefined;
    }
  }

  #isUnknown({ method, url }: IncomingMessage, reason: string): undefined {
    this.#unknown.note({ method, url, reason });
  }

  /** Why the client's certificate says nothing of a request without a token. */
  #whyNoCertificate(socket: Socket, hasCertificate: boolean): string {
    if (!this.#options.asksForCertificates) {
      return 'the client shows no token, and without `clientCAFile` the server asks for no certificate';
    }
    if (!(socket instanceof TLSSocket) || !showsCertificate(socket)) return 'the client shows neither a certificate nor a token';
    if (!hasCertificate) return 'the connection is older than the authorities that count now; the client has to connect again';
    if (socket.authorized) return 'the certificate of the client names nobody, or its time is not now';
    return `no authority of \`clientCAFile\` has signed the certificate of the client for clients: ${codeOf(socket.authorizationError)}`;
  }

  async #isAllowed(identity: Identity, access: { readonly verb: string; readonly subresource: string }): Promise<boolean> {
    try {
      const node = { group: '', version: 'v1', resource: 'nodes', name: this.#options.nodeName };
      return await this.#accesses.isAllowed(identity, { resourceAttributes: { ...access, ...node } });
    } catch (err) {
      const { username } = identity;
      this.#failures.failed('right', err, { username, ...access });
      const asked = `user=${username}, verb=${access.verb}, resource=nodes, subresource=${access.subresource}`;
      throw new KubeletApiRefusal(500, `Authorization error (${asked})`);
    }
  }
}

/** The word of OpenSSL, such as `CERT_HAS_EXPIRED`. */
function codeOf(error: unknown): string {
  return errorCodeOf(error) ?? errorText(error);
}
