import { accessSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import { longestManifest } from '../../api/manifest/read-manifest.ts';
import { errorCodeOf, invalidOption, StatusManagerError } from '../../base/errors.ts';
import { requireKnownOptions } from '../../base/options.ts';
import { readBoundedFile } from './bounded-file.ts';
import type { ClientConfig } from './client-config.ts';
import { type Kubeconfig, mergeKubeconfigs, readKubeconfig, type SelectedContext, selectContext } from './kubeconfig.ts';
import { shownName, unusable } from './kubeconfig-fields.ts';
import { clientConfigOf } from './selected-config.ts';

export interface LoadClientConfigOptions {
  /** The kubeconfig to read. Default: see {@link loadClientConfig}. A `~` at its beginning means nothing here; a shell replaces it. */
  readonly file?: string | undefined;
  /** The context to use. Default: the `current-context` of the kubeconfig. */
  readonly context?: string | undefined;
  /** The variables of the environment. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Reads a kubeconfig, without loading `@kubernetes/client-node`. Without `file` it takes the first of these that is there:
 *
 * 1. the files of the variable `KUBECONFIG`, merged as kubectl does: the first file that has an entry of a name counts, and the first that has a
 *    `current-context`. Files that are missing are passed over, but not all of them;
 * 2. `.kube/config` in the home folder;
 * 3. the service account of the pod that the process runs in.
 *
 * Where nothing is there it throws: no server is guessed. Relative paths start from the folder of their kubeconfig, `exec` commands with a slash
 * too. What stands in the kubeconfig itself counts before a file (`certificate-authority-data` before `certificate-authority`), and `tokenFile`
 * before `token`. Certificates, keys and token files are read for every request. Of impersonation `as` is known; a user with `as-groups`,
 * `as-uid` or `as-user-extra` is refused. client-node is loaded once a request is sent as a user of the providers oidc, azure or gcp.
 *
 * Throws ERR_KUBECONFIG, which names the file and the rule and quotes no value, and ERR_INVALID_OPTION for an option that breaks a rule.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { loadClientConfig } from 'pod-status-manager';
 *
 * writeFileSync('kubeconfig.yaml', `
 * current-context: home
 * contexts: [{ name: home, context: { cluster: home, user: me } }]
 * clusters: [{ name: home, cluster: { server: 'https://192.0.2.1:6443', certificate-authority: ca.crt } }]
 * users: [{ name: me, user: { tokenFile: token } }]
 * `);
 * const kubeConfig = loadClientConfig({ file: 'kubeconfig.yaml' });
 * console.log(kubeConfig.getCurrentCluster()?.server); // https://192.0.2.1:6443
 * // new NodeFleet({ kubeConfig, ... }), new KubeTransport(kubeConfig), ...
 * ```
 */
export function loadClientConfig(options: LoadClientConfigOptions = {}): ClientConfig {
  return loadFrom(options, '/var/run/secrets/kubernetes.io/serviceaccount');
}

/** The same, with the folder that a pod has its service account in. */
export function loadFrom(options: LoadClientConfigOptions, serviceAccount: string): ClientConfig {
  requireKnownOptions('options', options, ['file', 'context', 'env']);
  const { file, context, env = process.env } = options;
  for (const [name, value] of Object.entries({ file, context })) {
    const given: unknown = value;
    if (given !== undefined && (typeof given !== 'string' || given === ''))
      throw invalidOption(name, 'text that is not empty', given);
  }
  if (typeof env !== 'object' || env === null) throw invalidOption('env', 'an object', env);
  const kubeconfig = file === undefined ? defaultKubeconfig(env) : readFile(file);
  const selected = kubeconfig === undefined ? podContext(env, serviceAccount, context) : selectContext(kubeconfig, context);
  return clientConfigOf(() => selected);
}

/** The kubeconfig in this text, which stands in the file of this path. */
export function clientConfigFromText(text: string, path: string): ClientConfig {
  const selected = selectContext(readKubeconfig(text, path));
  return clientConfigOf(() => selected);
}

/** Undefined where there is none. */
function defaultKubeconfig(env: Readonly<Record<string, string | undefined>>): Kubeconfig | undefined {
  const paths = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (paths.length > 0) {
    const files = paths.flatMap((path) => readIfThere(path) ?? []);
    if (files.length > 0) return mergeKubeconfigs(files);
    throw new StatusManagerError(
      'ERR_KUBECONFIG',
      `KUBECONFIG names no file that is there: ${JSON.stringify(paths.join(delimiter))}`,
    );
  }
  for (const home of homeFolders(env)) {
    const file = readIfThere(join(home, '.kube', 'config'));
    if (file !== undefined) return file;
  }
  return undefined;
}

/** client-go's order on Windows, as far as the file has to be there. */
function homeFolders({ HOME, HOMEDRIVE, HOMEPATH, USERPROFILE }: Readonly<Record<string, string | undefined>>): string[] {
  const ofDrive = HOMEDRIVE && HOMEPATH ? join(HOMEDRIVE, HOMEPATH) : undefined;
  return [HOME, ...(process.platform === 'win32' ? [ofDrive, USERPROFILE] : [])].filter(
    (home) => home !== undefined && home !== '',
  ) as string[];
}

function readIfThere(path: string): Kubeconfig | undefined {
  try {
    accessSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return undefined;
    throw unusable(path, `it cannot be read (${errorCodeOf(error)})`);
  }
  return readFile(path);
}

function readFile(path: string): Kubeconfig {
  let text: string;
  try {
    text = readBoundedFile(path, longestManifest).toString('utf8');
  } catch (error) {
    const code = errorCodeOf(error);
    throw unusable(path, code === 'EFBIG' ? `it has more than ${longestManifest} bytes` : `it cannot be read (${code})`);
  }
  return readKubeconfig(text, path);
}

const podNames = { context: 'inClusterContext', cluster: 'inCluster', user: 'inClusterUser' };

/** Who a process in a pod is. Its token is replaced while it runs, so that the file is named. */
function podContext(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  wanted: string | undefined,
): SelectedContext {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const tokenFile = join(folder, 'token');
  if (wanted !== undefined && wanted !== podNames.context)
    throw new StatusManagerError('ERR_KUBECONFIG', `There is no kubeconfig that could have the context ${shownName(wanted)}`);
  if (!host || !port || !isThere(tokenFile))
    throw new StatusManagerError(
      'ERR_KUBECONFIG',
      'No kubeconfig was found: KUBECONFIG is not set, the home folder has no .kube/config, and this is no pod with a service account',
    );
  const namespaceFile = join(folder, 'namespace');
  const namespace = isThere(namespaceFile) ? readBoundedFile(namespaceFile, longestManifest).toString('utf8') : undefined;
  const { context: name, cluster, user } = podNames;
  return {
    context: { name, cluster, user, ...(namespace !== undefined && { namespace }) },
    // always TLS, whatever the port: a token must not travel in the clear
    cluster: {
      name: cluster,
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      skipTLSVerify: false,
      caFile: join(folder, 'ca.crt'),
    },
    user: { name: user, authProvider: { name: 'tokenFile', config: { tokenFile } } },
  };
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
