import type { RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, User } from '@kubernetes/client-node';
import { invalidOption } from '../../base/errors.ts';
import { readCredentialText } from '../kubeconfig/bounded-file.ts';
import type { ClientConfig } from '../kubeconfig/client-config.ts';
import { shownPath } from '../kubeconfig/kubeconfig-fields.ts';
import { type NamedTokenFile, tokenFileOf } from '../kubeconfig/selected-config.ts';
import { clientNodeOptions } from './client-node-options.ts';
import {
  type CredentialSource,
  type Credentials,
  CredentialsFailure,
  kindOfError,
  type SourceOptions,
  type Waiter,
} from './credentials.ts';
import { type ExecConfig, ExecPlugin, readExecConfig } from './exec-plugin.ts';
import { IdToken } from './id-token.ts';

/** Who a request is sent as. */
export interface Authentication {
  readonly headers: Record<string, string>;
  /** The TLS material of the kubeconfig, with the client certificate of a plugin in it. */
  readonly tls: Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;
  /** What to name in {@link KubeCredentials.refuse}; undefined where the kubeconfig is asked for every request. */
  readonly credentials: Credentials | undefined;
}

/** How a user's credentials are had, where client-node alone does not do. */
type Way =
  | { readonly kind: 'exec'; readonly config: ExecConfig }
  | (NamedTokenFile & { readonly kind: 'file' })
  | { readonly kind: 'oidc'; readonly authProvider: unknown };

/**
 * The credentials of one transport. The kubeconfig is looked at for every request; what has to be fetched is fetched once
 * for all requests that need it.
 */
export class KubeCredentials {
  readonly #kubeConfig: ClientConfig;
  readonly #options: SourceOptions;
  #way: Way | undefined;
  #source: CredentialSource | undefined;
  /** Settles when nothing is left of the sources that were in use before. */
  #replaced: Promise<unknown> = Promise.resolve();

  /** Throws `ERR_INVALID_OPTION` for a user that cannot be used. */
  constructor(kubeConfig: ClientConfig, cluster: Cluster, options: SourceOptions) {
    this.#kubeConfig = kubeConfig;
    this.#options = options;
    this.#select(cluster, currentUser(kubeConfig));
  }

  /** For one more request to this cluster. Rejects with a {@link CredentialsFailure}, or with `ERR_INVALID_OPTION` for a user that cannot be used. */
  async authenticate(cluster: Cluster, waiter: Waiter): Promise<Authentication> {
    const kubeConfig = this.#kubeConfig;
    const user = currentUser(kubeConfig);
    const source = this.#select(cluster, user);
    if (source === undefined || user === undefined)
      return merged(await clientNodeOptions({ kubeConfig, cluster, user }), undefined);
    const credentials = await source.get(waiter);
    const others = { ...user, exec: undefined, authProvider: undefined };
    return merged(await clientNodeOptions({ kubeConfig, cluster, user: others, hideCustom: true }), credentials);
  }

  /** The apiserver refused these. Does nothing where they have been replaced since: one refusal, one renewal. */
  refuse(credentials: Credentials): void {
    this.#source?.refuse(credentials);
  }

  /** Rejects the requests that wait for credentials. Resolves when no plugin is left. */
  async close(): Promise<void> {
    await Promise.all([this.#replaced, this.#source?.close(new CredentialsFailure('Aborted', 'The client is closed'))]);
  }

  /** The source for this user: the one in use, unless the kubeconfig says something else by now. */
  #select(cluster: Cluster, user: User | undefined): CredentialSource | undefined {
    const way = user === undefined ? undefined : wayOf(user, cluster);
    if (isSameWay(way, this.#way)) return this.#source;
    const changed = new CredentialsFailure('NoCredentials', 'The kubeconfig has another user now');
    this.#replaced = Promise.all([this.#replaced, this.#source?.close(changed)]);
    this.#way = way;
    this.#source = way === undefined || user === undefined ? undefined : this.#open(way, cluster, user);
    return this.#source;
  }

  #open(way: Way, cluster: Cluster, user: User): CredentialSource {
    if (way.kind === 'exec') return new ExecPlugin(way.config, this.#options);
    if (way.kind === 'file') return new TokenFile(way.path, way.spare);
    return new IdToken({ ...this.#options, kubeConfig: this.#kubeConfig, cluster, user });
  }
}

/** The user of the current context; undefined where it names none. */
function currentUser(kubeConfig: ClientConfig): User | undefined {
  const user = kubeConfig.getCurrentUser();
  if (user !== null) return user;
  const name = kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.user;
  if (name) throw invalidOption('kubeConfig', 'one that has the user of its current context', name);
  return undefined;
}

/** The order is client-node's. The providers that it calls azure and gcp, and those added by the caller, stay its own. */
function wayOf(user: User, cluster: Cluster): Way | undefined {
  const { exec, authProvider } = user;
  if (authProvider?.name === 'azure' || authProvider?.name === 'gcp') return undefined;
  const config = authProvider?.config;
  if (exec || authProvider?.name === 'exec' || config?.exec)
    return { kind: 'exec', config: readExecConfig(exec || config?.exec, cluster) };
  const file = tokenFileOf(user);
  if (file !== undefined) return { kind: 'file', ...file };
  return authProvider?.name === 'oidc' ? { kind: 'oidc', authProvider } : undefined;
}

function isSameWay(a: Way | undefined, b: Way | undefined): boolean {
  if (a?.kind === 'oidc' && b?.kind === 'oidc') return a.authProvider === b.authProvider;
  return isDeepStrictEqual(a, b);
}

/** A bearer token in the kubeconfig itself comes before what was fetched, and that before a password: the order is client-node's. */
function merged(given: RequestOptions, credentials: Credentials | undefined): Authentication {
  const headers: Record<string, string> = {};
  if (typeof given.auth === 'string') headers.Authorization = `Basic ${Buffer.from(given.auth).toString('base64')}`;
  if (credentials?.authorization !== undefined) headers.Authorization = credentials.authorization;
  for (const [name, value] of Object.entries(given.headers ?? {})) headers[name] = String(value);
  for (const [name, value] of Object.entries(headers)) headers[name] = headerValue(name, value);
  const { ca, pfx, passphrase, servername } = given;
  const { cert = given.cert, key = given.key } = credentials ?? {};
  // verified unless the kubeconfig says otherwise, whatever NODE_TLS_REJECT_UNAUTHORIZED says
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized: given.rejectUnauthorized !== false };
  return { headers, tls, credentials };
}

/** A token that was read from a file may end in a newline. Inside a value no header takes one. */
function headerValue(name: string, value: string): string {
  const text = value.trim();
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new CredentialsFailure('NoCredentials', `The header ${name} of the kubeconfig holds a character that no header may hold`);
}

/**
 * A bearer token in a file. It is read for every request, so that a new token counts from the next one on. While the file cannot be read, the
 * last one that it held counts, and before that the spare one. Behaviour of k8s.io/client-go/transport token_source.go, v0.36.3.
 */
export class TokenFile implements CredentialSource {
  readonly #path: string;
  readonly #spare: Credentials | undefined;
  #current: Credentials | undefined;

  constructor(path: string, spare?: string) {
    this.#path = path;
    this.#spare = spare === undefined ? undefined : { authorization: `Bearer ${spare}` };
  }

  async get(): Promise<Credentials> {
    const token = this.#read();
    if (token instanceof CredentialsFailure) {
      const kept = this.#current ?? this.#spare;
      if (kept !== undefined) return kept;
      throw token;
    }
    const authorization = `Bearer ${token}`;
    if (this.#current?.authorization !== authorization) this.#current = { authorization };
    return this.#current;
  }

  refuse(): void {}

  async close(): Promise<void> {}

  #read(): string | CredentialsFailure {
    const file = `The token file ${shownPath(this.#path)}`;
    try {
      const token = readCredentialText(this.#path);
      return token === '' ? new CredentialsFailure('NoCredentials', `${file} is empty`) : token;
    } catch (error) {
      return new CredentialsFailure('NoCredentials', `${file} could not be read (${kindOfError(error)})`);
    }
  }
}
