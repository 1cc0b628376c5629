import type { RequestOptions } from 'node:https';
import type { Cluster, User } from '@kubernetes/client-node';
import { readCredentialFile, readCredentialText } from './bounded-file.ts';
import type { ClientConfig } from './client-config.ts';
import { clientNodeConfig } from './client-node-config.ts';
import type { SelectedContext } from './kubeconfig.ts';

/** A {@link ClientConfig} of what is selected at the time of each call. */
export function clientConfigOf(selected: () => SelectedContext): ClientConfig {
  return {
    getCurrentContext: () => selected().context.name,
    getContextObject: (name) => (selected().context.name === name ? selected().context : null),
    getCurrentCluster: () => selected().cluster,
    getCurrentUser: () => selected().user,
    async applyToHTTPSOptions(options) {
      // asked for by `this`: who inherits from it may have another cluster or user
      const [cluster, user] = [this.getCurrentCluster(), this.getCurrentUser()];
      if (cluster === null) return;
      if (user !== null && isForClientNode(user)) {
        await (await clientNodeConfig(cluster, user)).applyToHTTPSOptions(options);
        return;
      }
      applyCluster(options, cluster);
      if (user !== null) applyUser(options, user);
    },
  };
}

function isForClientNode(user: User): boolean {
  return Boolean(user.exec) || (Boolean(user.authProvider) && tokenFileOf(user) === undefined);
}

/** A file with a user's token, and the token that counts while it cannot be read. */
export interface NamedTokenFile {
  readonly path: string;
  readonly spare: string | undefined;
}

/** Undefined for a user whose token stands in no file. */
export function tokenFileOf({ authProvider }: User): NamedTokenFile | undefined {
  const { tokenFile, token } = (authProvider?.config ?? {}) as Record<string, unknown>;
  if (!tokenFile) return undefined;
  const spare = authProvider.name === 'tokenFile' && typeof token === 'string' ? token : undefined;
  return { path: String(tokenFile), spare };
}

function applyCluster(options: RequestOptions, cluster: Cluster): void {
  if (cluster.skipTLSVerify) options.rejectUnauthorized = false;
  if (cluster.tlsServerName) options.servername = cluster.tlsServerName;
  const ca = partOf(cluster.caData, cluster.caFile);
  if (ca !== undefined) options.ca = ca;
}

function applyUser(options: RequestOptions, user: User): void {
  const [cert, key] = [partOf(user.certData, user.certFile), partOf(user.keyData, user.keyFile)];
  if (cert !== undefined) options.cert = cert;
  if (key !== undefined) options.key = key;
  const token = tokenOf(user);
  options.headers = {
    ...options.headers,
    ...(user.impersonateUser && { 'Impersonate-User': user.impersonateUser }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  if (user.username) options.auth = `${user.username}:${user.password ?? ''}`;
}

/** That of the file, or the one beside it where the file has none. */
function tokenOf(user: User): string | undefined {
  const file = tokenFileOf(user);
  if (file === undefined) return user.token;
  try {
    return readCredentialText(file.path) || file.spare;
  } catch (error) {
    if (file.spare !== undefined) return file.spare;
    throw error;
  }
}

/** Read anew for each request: files are replaced while the process runs. */
function partOf(data: string | undefined, file: string | undefined): Buffer | undefined {
  if (data) return Buffer.from(data, 'base64');
  return file ? readCredentialFile(file) : undefined;
}
