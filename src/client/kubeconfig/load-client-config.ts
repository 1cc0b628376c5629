import { accessSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import { longestManifest } from '../../api/manifest/read-manifest.ts';
import { errorCodeOf, invalidOption, StatusManagerError } from '../../base/errors.ts';
import { requireKnownOptions } from '../../base/options.ts';
import { readBoundedFile, readCredentialText } from './bounded-file.ts';
import type { ClientConfig } from './client-config.ts';
import {
  isEmptyKubeconfig,
  type Kubeconfig,
  mergeKubeconfigs,
  readKubeconfig,
  type SelectedContext,
  selectContext,
} from './kubeconfig.ts';
import { shownName, shownPath, unusable } from './kubeconfig-fields.ts';
import { clientConfigOf } from './selected-config.ts';

/** Which kubeconfig {@link loadClientConfig} reads, and which of its contexts. All may be left out. */
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
 *    `current-context`. A file that is missing is passed over; one that cannot be read is an error;
 * 2. where `KUBECONFIG` is not set or empty, `.kube/config` in the home folder, unless the process may not look there;
 * 3. the service account of the pod that the process runs in.
 *
 * A file of these that names no context, cluster or user counts as missing.
 *
 * Where nothing is there it throws: no server is guessed. Relative paths start from the folder of their kubeconfig, `exec` commands with a slash
 * too. `tokenFile` counts before `token`, `exec` and `auth-provider`; while it cannot be read, the token that it held last counts, and before that
 * `token`. Certificates, keys and token files are read for every request; each is a regular file of at most 1 MiB. client-node is loaded once a
 * request is sent as a user of the providers oidc, azure or gcp.
 *
 * What could be meant in two ways is refused: `certificate-authority-data` beside `certificate-authority` (and the same of certificates and keys),
 * a CA beside `insecure-skip-tls-verify: true`, a flag that is another word than true or false, other providers, and `as-groups`, `as-uid` and
 * `as-user-extra`: of impersonation `as` is known.
 *
 * Throws ERR_KUBECONFIG, which names the file and the rule and quotes no value, and ERR_INVALID_OPTION for an option that breaks a rule. A path
 * that looks like the contents of a file is not quoted.
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

/** The same, with the folder that a pod has its service account in, and with how a file is looked for. */
export function loadFrom(options: LoadClientConfigOptions, serviceAccount: string, look: Look = accessSync): ClientConfig {
  requireKnownOptions('options', options, ['file', 'context', 'env']);
  const { file, context, env = process.env } = options;
  for (const [name, value] of Object.entries({ file, context })) {
    const given: unknown = value;
    if (given !== undefined && (typeof given !== 'string' || given === ''))
      throw invalidOption(name, 'text that is not empty', given);
  }
  if (typeof env !== 'object' || env === null) throw invalidOption('env', 'an object', env);
  const kubeconfig = file === undefined ? defaultKubeconfig(env, look) : readFile(file);
  const selected = kubeconfig === undefined ? podContext(env, serviceAccount, context) : selectContext(kubeconfig, context);
  return clientConfigOf(() => selected);
}

/** The kubeconfig in this text, which stands in the file of this path. */
export function clientConfigFromText(text: string, path: string): ClientConfig {
  const selected = selectContext(readKubeconfig(text, path));
  return clientConfigOf(() => selected);
}

/** Throws the system's error for a path where nothing is. */
type Look = (path: string) => void;

/** Undefined where there is none, or one that says nothing. */
function defaultKubeconfig(env: Readonly<Record<string, string | undefined>>, look: Look): Kubeconfig | undefined {
  const { KUBECONFIG: list = '' } = env;
  if (list !== '') {
    // before it is split: a part of a kubeconfig may look like a path
    if (/[\n\r]|^\s*\{/.test(list))
      throw new StatusManagerError('ERR_KUBECONFIG', `KUBECONFIG is no list of paths: it is ${shownPath(list)}`);
    const paths = list.split(delimiter).filter((path) => path !== '');
    const files = paths.flatMap((path) => readIfThere(path, look, ['ENOENT']) ?? []);
    return files.length > 0 ? mergeKubeconfigs(files) : undefined;
  }
  for (const home of homeFolders(env)) {
    const file = readIfThere(join(home, '.kube', 'config'), look, notHere);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** Nobody has named the file of the home folder, which may be another user's: in a pod HOME is that of the image. */
const notHere = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'];

/** client-go's order on Windows, as far as the file has to be there. */
function homeFolders({ HOME, HOMEDRIVE, HOMEPATH, USERPROFILE }: Readonly<Record<string, string | undefined>>): string[] {
  const ofDrive = HOMEDRIVE && HOMEPATH ? join(HOMEDRIVE, HOMEPATH) : undefined;
  return [HOME, ...(process.platform === 'win32' ? [ofDrive, USERPROFILE] : [])].filter(
    (home) => home !== undefined && home !== '',
  ) as string[];
}

/** Undefined where the file is not there, which these codes tell, or says nothing. */
function readIfThere(path: string, look: Look, codes: readonly string[]): Kubeconfig | undefined {
  try {
    look(path);
  } catch (error) {
    const code = errorCodeOf(error);
    if (codes.includes(code ?? '')) return undefined;
    throw unusable(path, `it cannot be read (${code})`);
  }
  const file = readFile(path);
  return isEmptyKubeconfig(file) ? undefined : file;
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
  if (!host || !port || !isThere(tokenFile)) throw nothingFound(env);
  const namespace = namespaceIn(folder);
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

function nothingFound({ KUBECONFIG: list = '' }: Readonly<Record<string, string | undefined>>): StatusManagerError {
  const why =
    list === ''
      ? 'No kubeconfig was found: KUBECONFIG is not set, the home folder has no .kube/config'
      : `KUBECONFIG names no file that is there: ${shownPath(list)}. Each of them is missing or says nothing`;
  return new StatusManagerError('ERR_KUBECONFIG', `${why}, and this is no pod with a service account`);
}

/** Only a default: a pod that cannot read it goes on without. */
function namespaceIn(folder: string): string | undefined {
  try {
    return readCredentialText(join(folder, 'namespace')) || undefined;
  } catch {
    return undefined;
  }
}

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
