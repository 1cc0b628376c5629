import type { Cluster, User } from '@kubernetes/client-node';
import { isJsonObject } from '../../api/json/json.ts';
import type { JsonObject } from '../../api/json/types.ts';
import type { ClientConfig } from '../kubeconfig/client-config.ts';
import { clientNodeConfig } from '../kubeconfig/client-node-config.ts';
import { clientNodeOptions } from './client-node-options.ts';
import { type CredentialSource, type Credentials, CredentialsFailure, type SourceOptions, type Waiter } from './credentials.ts';
import { SharedRun } from './shared-run.ts';

export interface IdTokenOptions extends SourceOptions {
  readonly kubeConfig: ClientConfig;
  readonly cluster: Cluster;
  /** One whose `authProvider` is `oidc`. */
  readonly user: User;
}

/**
 * The id token of an OpenID Connect user, kept in the kubeconfig by client-node, which renews it with the refresh token.
 * One renewal at a time, for a refresh token may serve once only. A renewal cannot be ended, only left: requests that come
 * while it still runs wait for it, too.
 */
export class IdToken implements CredentialSource {
  readonly #options: IdTokenOptions;
  #current: Credentials | undefined;
  #refused: string | undefined;
  #run: SharedRun<void> | undefined;
  /** Set until the issuer has answered, also when no request waits any longer. */
  #renewal: Promise<void> | undefined;

  constructor(options: IdTokenOptions) {
    this.#options = options;
  }

  async get(waiter: Waiter): Promise<Credentials> {
    if (!this.#isGood() && this.#canRenew()) {
      if (this.#run === undefined || this.#run.isOver) this.#run = this.#startRun();
      await this.#run.join(waiter);
    }
    const token = this.#token;
    if (token === undefined) throw new CredentialsFailure('NoCredentials', 'The kubeconfig has no id token for its oidc user');
    if (this.#hasExpired(token)) throw new CredentialsFailure('NoCredentials', 'The id token has expired and was not renewed');
    const authorization = `Bearer ${token}`;
    if (this.#current?.authorization !== authorization) this.#current = { authorization };
    return this.#current;
  }

  refuse(credentials: Credentials): void {
    if (credentials === this.#current) this.#refused = this.#token;
  }

  async close(reason: CredentialsFailure): Promise<void> {
    this.#run?.end(reason);
  }

  /** The settings in the kubeconfig: what client-node renews is written back there. */
  get #settings(): JsonObject {
    const config: unknown = this.#options.user.authProvider?.config;
    return isJsonObject(config) ? config : {};
  }

  get #token(): string | undefined {
    const token = this.#settings['id-token'];
    return typeof token === 'string' && token !== '' ? token : undefined;
  }

  #isGood(): boolean {
    const token = this.#token;
    return token !== undefined && token !== this.#refused && !this.#hasExpired(token);
  }

  #hasExpired(token: string): boolean {
    return expiryOf(token) <= this.#options.clock.now();
  }

  /** client-node renews what is there, and sends no token at all where one of these is missing. */
  #canRenew(): boolean {
    const settings = this.#settings;
    const issuer = settings['idp-issuer-url'];
    const hasAll = ['id-token', 'client-id', 'refresh-token'].every((name) => Boolean(settings[name]));
    return hasAll && typeof issuer === 'string' && URL.canParse(issuer);
  }

  #startRun(): SharedRun<void> {
    const { clock } = this.#options;
    return new SharedRun({ clock, name: 'the renewal of the id token', start: () => this.#pendingRenewal() });
  }

  #pendingRenewal(): Promise<void> {
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** client-node hands the issuer on as text where a URL is needed, and drops a refresh token that stays the same. */
  async #renew(): Promise<void> {
    const { kubeConfig, cluster, user } = this.#options;
    const settings = this.#settings;
    const config: Record<string, unknown> = { ...settings, 'idp-issuer-url': new URL(String(settings['idp-issuer-url'])) };
    const renewer = await renewerOf(kubeConfig, cluster, user);
    countAsExpired(renewer);
    await clientNodeOptions({ kubeConfig: renewer, cluster, user: { ...user, authProvider: { ...user.authProvider, config } } });
    for (const name of ['id-token', 'refresh-token']) {
      const renewed = config[name];
      if (typeof renewed === 'string' && renewed !== '') settings[name] = renewed;
    }
  }
}

/** client-node's own kubeconfig, whose authenticators renew the token; one is made where another reader has read the file. */
async function renewerOf(kubeConfig: ClientConfig, cluster: Cluster, user: User): Promise<ClientConfig> {
  return Array.isArray(Reflect.get(kubeConfig, 'authenticators')) ? kubeConfig : clientNodeConfig(cluster, user);
}

/**
 * client-node renews an id token that it takes for expired only. It notes when that will be in its authenticator, and
 * after a renewal notes a duration in place of the time, so it cannot be left to judge.
 */
function countAsExpired(kubeConfig: ClientConfig): void {
  const authenticators: unknown = Reflect.get(kubeConfig, 'authenticators');
  for (const authenticator of Array.isArray(authenticators) ? authenticators : []) {
    if (typeof authenticator?.currentTokenExpiration === 'number') authenticator.currentTokenExpiration = 1;
  }
}

/** When a token expires, in milliseconds since the epoch. One that does not say so serves for ever; one that cannot be read has expired. */
function expiryOf(token: string): number {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const seconds = isJsonObject(payload) ? (payload.exp ?? Number.POSITIVE_INFINITY) : 0;
    return typeof seconds === 'number' ? seconds * 1000 : 0;
  } catch {
    return 0;
  }
}
