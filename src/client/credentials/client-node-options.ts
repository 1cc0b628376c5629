import type { RequestOptions } from 'node:https';
import type { Cluster, User } from '@kubernetes/client-node';
import type { ClientConfig } from '../kubeconfig/client-config.ts';
import { shownPath } from '../kubeconfig/kubeconfig-fields.ts';
import { CredentialsFailure, kindOfError } from './credentials.ts';

/** client-node leaves out the CA, skip-tls and the server name where there is no user. This user has no credentials and serves only for that. */
const anonymous: User = { name: '' };

export interface ClientNodeInput {
  readonly kubeConfig: ClientConfig;
  readonly cluster: Cluster;
  /** The user as client-node is to see it. */
  readonly user: User | undefined;
  /** True: no authenticator that was added to the kubeconfig is asked. */
  readonly hideCustom?: boolean;
}

/**
 * What client-node makes of the kubeconfig for one request: TLS material, headers, basic credentials. It reads files and
 * asks its authenticators. The caller's kubeconfig stays as it is, but for the tokens that an authenticator renews in it.
 */
export async function clientNodeOptions(input: ClientNodeInput): Promise<RequestOptions> {
  const options: RequestOptions = {};
  try {
    await viewOf(input).applyToHTTPSOptions(options);
  } catch (error) {
    const what = `The kubeconfig's TLS files or authenticator could not be used (${causeOf(error, input)})`;
    throw new CredentialsFailure('NoCredentials', what);
  }
  return options;
}

/** For a file of the kubeconfig that cannot be read: the system's code and the path. Never an error's message: it can quote a token. */
function causeOf(error: unknown, { cluster, user }: ClientNodeInput): string {
  const { code, path } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  const isOfTheKubeconfig = path !== undefined && [cluster.caFile, user?.certFile, user?.keyFile].includes(path);
  return isOfTheKubeconfig && typeof code === 'string' ? `${code} ${shownPath(path)}` : kindOfError(error);
}

/**
 * The same kubeconfig, with this cluster and this user. client-node refuses plain http unless `skipTLSVerify` is set; the
 * transport has a rule of its own for that. The agent that client-node would make and keep is not made: the library does not use it.
 */
function viewOf({ kubeConfig, cluster, user: given = anonymous, hideCustom = false }: ClientNodeInput): ClientConfig {
  // client-node writes a missing password as the word undefined
  const user = given.username ? { ...given, password: given.password ?? '' } : given;
  const seen = cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster;
  return Object.create(kubeConfig, {
    getCurrentCluster: { value: () => seen },
    getCurrentUser: { value: () => user },
    createAgent: { value: () => undefined },
    ...(hideCustom && { custom_authenticators: { value: [] } }),
  });
}
