// Behaviour of k8s.io/client-go/tools/clientcmd loader.go and validation.go, v0.36.3.
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';
import { ManifestFault } from '../../api/manifest/invalid-manifest.ts';
import { type ManifestObject, type ManifestValue, readManifest } from '../../api/manifest/read-manifest.ts';
import { KubeconfigFields, type KubeconfigPlace, shownName, unusable, wrongKind } from './kubeconfig-fields.ts';

/** The entries of one list, by their names. What is in an entry is looked at once it is used. */
type Entries = ReadonlyMap<string, KubeconfigFields>;

/** What one kubeconfig says, or several that were merged. */
export interface Kubeconfig {
  /** The files, for messages. */
  readonly paths: readonly string[];
  readonly currentContext: string | undefined;
  readonly contexts: Entries;
  readonly clusters: Entries;
  readonly users: Entries;
}

/** What one context of a kubeconfig selects. */
export interface SelectedContext {
  readonly context: Context;
  readonly cluster: Cluster;
  /** Null where the context names none. */
  readonly user: User | null;
}

/** Reads the text of the kubeconfig at this path. Throws ERR_KUBECONFIG for what is none. No message quotes a value. */
export function readKubeconfig(text: string, path: string): Kubeconfig {
  const place = { path, folder: dirname(resolve(path)) };
  const root = rootOf(text, path) ?? new Map<string, ManifestValue>();
  if (!(root instanceof Map)) throw unusable(path, 'expected an object');
  const fields = new KubeconfigFields(place, 'kubeconfig', root);
  if ((fields.text('kind') ?? 'Config') !== 'Config') throw unusable(path, 'expected its kind to be Config');
  return {
    paths: [path],
    currentContext: fields.text('current-context'),
    contexts: entriesOf(place, root, 'contexts', 'context'),
    clusters: entriesOf(place, root, 'clusters', 'cluster'),
    users: entriesOf(place, root, 'users', 'user'),
  };
}

function rootOf(text: string, path: string): ManifestValue {
  try {
    return readManifest(text, { onlyTrueAndFalse: true });
  } catch (error) {
    // a fault of the whole text quotes nothing of it
    throw unusable(
      path,
      error instanceof ManifestFault ? error.message.replace('the manifest', 'it') : 'it is neither YAML nor JSON',
    );
  }
}

function entriesOf(place: KubeconfigPlace, root: ManifestObject, list: string, member: string): Entries {
  const { path } = place;
  const items = root.get(list) ?? [];
  if (!Array.isArray(items)) throw wrongKind(path, list, 'a list', items);
  const entries = new Map<string, KubeconfigFields>();
  for (const [index, item] of items.entries()) {
    if (!(item instanceof Map)) throw wrongKind(path, `${list}[${index}]`, 'an object', item);
    const name = item.get('name');
    if (typeof name !== 'string' || name === '') throw wrongKind(path, `${list}[${index}].name`, 'text that is not empty', name);
    if (entries.has(name)) throw unusable(path, `expected \`${list}\` to have one entry with the name ${shownName(name)}`);
    const where = `${list}[${shownName(name)}].${member}`;
    const members = item.get(member) ?? new Map<string, ManifestValue>();
    if (!(members instanceof Map)) throw wrongKind(path, where, 'an object', members);
    entries.set(name, new KubeconfigFields(place, where, members));
  }
  return entries;
}

/** Whether it says nothing at all, such as `/dev/null`. */
export function isEmptyKubeconfig({ currentContext, contexts, clusters, users }: Kubeconfig): boolean {
  return currentContext === undefined && contexts.size + clusters.size + users.size === 0;
}

/** The first file that has an entry of a name counts for it, and the first that names a current context. */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const first = (list: 'contexts' | 'clusters' | 'users'): Entries =>
    new Map(files.toReversed().flatMap((file) => [...file[list]]));
  return {
    paths: files.flatMap(({ paths }) => paths),
    currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: first('contexts'),
    clusters: first('clusters'),
    users: first('users'),
  };
}

/** What the context selects, by default the current one. Throws ERR_KUBECONFIG for one that cannot be used. */
export function selectContext(kubeconfig: Kubeconfig, contextName = kubeconfig.currentContext): SelectedContext {
  const { paths } = kubeconfig;
  if (contextName === undefined) throw unusable(paths, 'it has no current-context, and no context was named');
  const fields = kubeconfig.contexts.get(contextName);
  if (fields === undefined) throw unusable(paths, `it has no context ${shownName(contextName)}`);
  const [clusterName, userName, namespace] = [fields.required('cluster'), fields.text('user'), fields.text('namespace')];
  const cluster = kubeconfig.clusters.get(clusterName);
  if (cluster === undefined) throw unusable(paths, `it has no cluster ${shownName(clusterName)}, which the context names`);
  const user = userName === undefined ? undefined : kubeconfig.users.get(userName);
  if (userName !== undefined && user === undefined)
    throw unusable(paths, `it has no user ${shownName(userName)}, which the context names`);
  return {
    context: { name: contextName, cluster: clusterName, user: userName ?? '', ...(namespace !== undefined && { namespace }) },
    cluster: clusterOf(clusterName, cluster),
    user: userName === undefined || user === undefined ? null : userOf(userName, user),
  };
}

function clusterOf(name: string, fields: KubeconfigFields): Cluster {
  const { data: caData, file: caFile } = fields.dataOrFile('certificate-authority');
  const skipTLSVerify = fields.flag('insecure-skip-tls-verify');
  if (skipTLSVerify && (caData ?? caFile) !== undefined)
    throw fields.refuse('insecure-skip-tls-verify', 'absent or false beside a certificate authority');
  return withoutAbsent({
    name,
    server: fields.required('server').replace(/\/$/, ''),
    skipTLSVerify,
    caData,
    caFile,
    tlsServerName: fields.text('tls-server-name'),
    proxyUrl: fields.text('proxy-url'),
  });
}

function userOf(name: string, fields: KubeconfigFields): User {
  for (const unknown of ['as-groups', 'as-uid', 'as-user-extra']) {
    if (fields.hasMembers(unknown)) throw fields.refuse(unknown, 'absent: of impersonation only `as` is known');
  }
  const impersonateUser = fields.text('as');
  if (impersonateUser?.trim() === '') throw fields.refuse('as', 'text that is not blank');
  const { data: certData, file: certFile } = fields.dataOrFile('client-certificate');
  const { data: keyData, file: keyFile } = fields.dataOrFile('client-key');
  if ((certData ?? certFile) !== undefined && (keyData ?? keyFile) === undefined)
    throw fields.refuse('client-key', 'there, beside a client certificate');
  const token = fields.text('token');
  const tokenFile = fields.file('tokenFile') ?? (token === undefined ? fields.file('token-file') : undefined);
  return withoutAbsent({
    name,
    certData,
    certFile,
    keyData,
    keyFile,
    // a file counts before all else, as its token may be newer; the token is for when it cannot be read
    ...(tokenFile === undefined
      ? { token, authProvider: authProviderOf(fields), exec: execOf(fields) }
      : { authProvider: { name: 'tokenFile', config: withoutAbsent({ tokenFile, token }) } }),
    username: fields.text('username'),
    password: fields.text('password'),
    impersonateUser,
  });
}

/** Throws for a provider that nobody knows: the request would be sent as nobody. */
function authProviderOf(fields: KubeconfigFields): Record<string, unknown> | undefined {
  const provider = fields.object('auth-provider');
  if (provider === undefined) return undefined;
  const { name, config } = provider;
  const { tokenFile, exec } = (typeof config === 'object' ? (config ?? {}) : {}) as Record<string, unknown>;
  if (tokenFile || exec || ['oidc', 'azure', 'gcp'].includes(String(name))) return provider;
  const called = typeof name === 'string' ? shownName(name) : 'without a name';
  throw unusable(fields.place.path, `it has an auth-provider ${called}, and only oidc, azure and gcp are known`);
}

/** A command that is a relative path starts from the folder of the kubeconfig; a bare name is looked for in PATH. */
function execOf(fields: KubeconfigFields): Record<string, unknown> | undefined {
  const exec = fields.object('exec');
  const command = exec?.command;
  if (typeof (exec?.provideClusterInfo ?? false) !== 'boolean')
    throw fields.refuse('exec', 'one whose `provideClusterInfo` is the word true or false, without quotes');
  if (typeof command !== 'string' || !command.includes(sep) || isAbsolute(command)) return exec;
  return { ...exec, command: join(fields.place.folder, command) };
}

type Present<T> = { [Name in keyof T]: Exclude<T[Name], undefined> };

/** Without the members that are undefined. */
function withoutAbsent<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Present<T>;
}
