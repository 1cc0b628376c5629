import type { RequestOptions } from 'node:https';
import type { Cluster, Context, User } from '@kubernetes/client-node';

/**
 * Where the apiserver is and who asks it: what every option `kubeConfig` takes. `loadClientConfig` reads one; the `KubeConfig` of
 * `@kubernetes/client-node` is one, too. It is looked at for every request, so it may change.
 *
 * For one of your own: the library calls `applyToHTTPSOptions` on an object that inherits from yours and answers for the cluster and the user
 * itself. So the method has to ask `this` for them, and may use no private field (`#`).
 */
export interface ClientConfig {
  /** The name of the context that is used. */
  getCurrentContext(): string;
  /** The context of this name; null where it is not known. One that was read by `loadClientConfig` knows its current context alone. */
  getContextObject(name: string): Context | null;
  /** The cluster of the current context; null where it is not known. */
  getCurrentCluster(): Cluster | null;
  /** The user of the current context; null where it has none: then nobody is named to the server. */
  getCurrentUser(): User | null;
  /** Adds TLS material, headers and credentials to a request. Reads the files that the kubeconfig names. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}
