// Behaviour of BasicDockerKeyring and of the parsing of pull secrets in pkg/credentialprovider, v1.36.3.
import { createHash } from 'node:crypto';
import type { ImageAuth } from '../runtime/runtime-images.ts';

/** A secret with credentials, as the apiserver has it. */
export interface PullSecret {
  readonly metadata?: {
    readonly name?: string | undefined;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
  };
  readonly type?: string | undefined;
  /** Base64 by name. */
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** Which secret credentials are from, and what tells them from others without showing them. */
export interface PullCredentialSource {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

/** Credentials for one place. */
export interface PullCredentials {
  readonly auth: ImageAuth;
  readonly source: PullCredentialSource;
}

interface Entry {
  readonly key: string;
  readonly location: RegistryLocation;
  readonly auth: ImageAuth;
  readonly secret: Omit<PullCredentialSource, 'credentialHash'>;
}

const defaultRegistry = 'index.docker.io';
/** So many places the secrets of a pod may name. Each is looked at for each image. */
const mostPlaces = 4096;
/** So many credentials are tried for one image. Each costs a request to a registry. */
const mostTried = 32;

/**
 * The credentials for a repository such as `quay.io/team/app`, in the order in which they are tried: the most specific place
 * first, 32 at most. Throws an error that names the secret, and nothing that is in it, for a secret that cannot be read, and for
 * secrets with more than 4,096 places.
 */
export function credentialsFor(repository: string, secrets: readonly PullSecret[]): PullCredentials[] {
  const byKey = new Map<string, Entry[]>();
  let places = 0;
  for (const secret of secrets) {
    for (const entry of entriesOf(secret, mostPlaces - places)) {
      places += 1;
      const ofKey = byKey.get(entry.key);
      if (ofKey === undefined) byKey.set(entry.key, [entry]);
      else ofKey.push(entry);
    }
  }
  const image = registryLocation(repository);
  if (image === undefined) return [];
  const keys = [...byKey.keys()].sort().reverse();
  const found = keys.flatMap((key) => (byKey.get(key) ?? []).filter(({ location }) => isLocationOf(location, image)));
  const fallback = isOfDefaultRegistry(repository) ? byKey.get(defaultRegistry) : undefined;
  return (found.length > 0 ? found : (fallback ?? [])).slice(0, mostTried).map(credentialsOf);
}

function credentialsOf({ auth, secret }: Entry): PullCredentials {
  const credentialHash = createHash('sha256').update(JSON.stringify(auth)).digest('hex');
  return { auth, source: { ...secret, credentialHash } };
}

function entriesOf({ metadata, ...secret }: PullSecret, most: number): Entry[] {
  const { uid = '', namespace = '', name = '' } = metadata ?? {};
  let config: unknown;
  try {
    config = registriesOf(secret);
  } catch {
    // what the error says could be a part of the secret
    throw new Error(`the pull secret ${namespace}/${name} cannot be read`);
  }
  if (typeof config !== 'object' || config === null) return [];
  const places = Object.entries(config);
  if (places.length > most)
    throw new Error(`the pull secret ${namespace}/${name}: more than ${mostPlaces} places in one pod's secrets`);
  return places.flatMap(([place, value]) => {
    const location = registryLocation(place);
    if (location === undefined || typeof value !== 'object' || value === null) return [];
    const auth = authOf(value as Record<string, unknown>, `${namespace}/${name}`);
    const { host, port, path } = location;
    return [{ key: `${host}${port && `:${port}`}${path}`, location, auth, secret: { uid, namespace, name } }];
  });
}

function registriesOf({ type, data }: PullSecret): unknown {
  const json = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  const modern = data?.['.dockerconfigjson'];
  if (type === 'kubernetes.io/dockerconfigjson' && modern) return (json(modern) as { auths?: unknown }).auths;
  const old = data?.['.dockercfg'];
  return type === 'kubernetes.io/dockercfg' && old ? json(old) : undefined;
}

function authOf({ username, password, auth }: Record<string, unknown>, secret: string): ImageAuth {
  if (typeof auth === 'string' && auth !== '') {
    const text = Buffer.from(auth, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    if (colon < 0) throw new Error(`the pull secret ${secret} cannot be read`);
    return { username: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  return {
    username: typeof username === 'string' ? username : '',
    password: typeof password === 'string' ? password : '',
  };
}

// Behaviour of URLsMatch and isDefaultRegistryMatch in pkg/credentialprovider, v1.36.3.

/** Where credentials are for: a host with a port or without, and a path that image names begin with. */
interface RegistryLocation {
  /** Its parts may have the wild card `*`. */
  readonly host: string;
  readonly port: string;
  /** Empty, or with a slash before it. */
  readonly path: string;
}

/** Reads `quay.io:443/team`; a scheme before it does not count, nor does `/v1/` or `/v2/`. Undefined for what is none. */
function registryLocation(text: string): RegistryLocation | undefined {
  const found = /^(?:https?:\/\/)?(\[[^\]/]*\]|[^/:?#@]*)(?::(\d*))?(\/[^?#]*)?$/.exec(text);
  if (found === null) return undefined;
  const [, host = '', port = '', path = ''] = found;
  if (host === '') return undefined;
  const own = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return { host, port, path: own === '/' ? '' : own };
}

/** True when the image's repository is at the place that the credentials are for. */
function isLocationOf({ host, port, path }: RegistryLocation, image: RegistryLocation): boolean {
  if (port !== image.port || !image.path.startsWith(path)) return false;
  const parts = host.split('.');
  const others = image.host.split('.');
  return parts.length === others.length && parts.every((part, index) => matches(part, others[index] ?? ''));
}

/** True for a repository of Docker Hub. */
function isOfDefaultRegistry(repository: string): boolean {
  const [first = '', ...rest] = repository.split('/');
  if (first === '') return false;
  if (rest.length === 0 || first === 'docker.io' || first === 'index.docker.io') return true;
  return !/[.:]/.test(first);
}

/** `*` stands for any text. What stands between two stars is taken where it comes first: a later place could never help. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (first.length + last.length > text.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const between of others) {
    const found = text.indexOf(between, at);
    if (found < 0) return false;
    at = found + between.length;
  }
  return at <= end;
}
