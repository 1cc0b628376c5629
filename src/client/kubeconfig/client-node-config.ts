import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';

/** No bundler can read it: whoever bundles a program does not get all of client-node for providers that few have. */
const clientNode = ['@kubernetes', 'client-node'].join('/');

/**
 * The same cluster and user for client-node, which alone knows the providers oidc, azure and gcp. Its import takes 44 MiB of memory, so only
 * who has such a user loads it.
 */
export async function clientNodeConfig(cluster: Cluster, user: User): Promise<KubeConfig> {
  const { KubeConfig }: typeof import('@kubernetes/client-node') = await import(
    /* webpackIgnore: true */ /* @vite-ignore */ clientNode
  );
  const config = new KubeConfig();
  config.loadFromClusterAndUser(cluster, user);
  // the library has agents of its own
  Object.defineProperty(config, 'createAgent', { value: () => undefined });
  return config;
}
