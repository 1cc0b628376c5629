import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { CredentialsFailure, kindOfError } from './credentials.ts';

/** client-node leaves out the CA, skip-tls and the server name where there is no user; this one has nothing else to say. */
const anonymous: User = { name: '' };

export interface ClientNodeInput {
  readonly kubeConfig: KubeConfig;
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
    throw new CredentialsFailure('NoCredentials', `The kubeconfig's authenticator failed (${kindOfError(error)})`);
  }
  return options;
}

/**
 * The same kubeconfig, with this cluster and this user. client-node refuses plain http unless `skipTLSVerify` is set; the
 * transport has a rule of its own for that. The agent that client-node would make and keep is not made: the library does not use it.
 */
function viewOf({ kubeConfig, cluster, user = anonymous, hideCustom = false }: ClientNodeInput): KubeConfig {
  const seen = cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster;
  return Object.create(kubeConfig, {
    getCurrentCluster: { value: () => seen },
    getCurrentUser: { value: () => user },
    createAgent: { value: () => undefined },
    ...(hideCustom && { custom_authenticators: { value: [] } }),
  });
}
