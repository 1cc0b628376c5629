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

/** What there is for one place: a registry with or without a path, in which `*` may stand for parts of the host's name. */
export interface PlacedCredentials<T> {
  readonly place: string;
  readonly credentials: T;
}

interface SecretEntry {
  readonly auth: ImageAuth;
  readonly secret: Omit<PullCredentialSource, 'credentialHash'>;
}

const defaultRegistry = 'index.docker.io';
/** So many places the secrets of a pod, or a plugin, may name. Each is looked at for each image. */
export const mostPlaces = 4096;
/** So many credentials are tried for one image. Each costs a request to a registry. */
const mostTried = 32;

/**
 * The credentials for a repository such as `quay.io/team/app`, in the order in which they are tried: the most specific place
 * first, 32 at most. Throws an error that names the secret, and nothing that is in it, for a secret that cannot be read, and for
 * secrets with more than 4,096 places.
 */
export function credentialsFor(repository: string, secrets: readonly PullSecret[]): PullCredentials[] {
  const placed: PlacedCredentials<SecretEntry>[] = [];
  for (const secret of secrets) placed.push(...entriesOf(secret, mostPlaces - placed.length));
  return lookUp(repository, placed).map(credentialsOf);
}

/** What is for the repository, the most specific place first, 32 at most. Places that are none count as not there. */
export function lookUp<T>(repository: string, placed: readonly PlacedCredentials<T>[]): T[] {
  const byKey = new Map<string, { readonly location: RegistryLocation; readonly found: T[] }>();
  for (const { place, credentials } of placed) {
    const location = registryLocation(place);
    if (location === undefined) continue;
    const { host, port, path } = location;
    const key = `${host}${port && `:${port}`}${path}`;
    const ofKey = byKey.get(key);
    if (ofKey === undefined) byKey.set(key, { location, found: [credentials] });
    else ofKey.found.push(credentials);
  }
  const image = registryLocation(repository);
  if (image === undefined) return [];
  const keys = [...byKey.keys()].sort().reverse();
  const found = keys
    .map((key) => byKey.get(key))
    .flatMap((ofKey) => (ofKey !== undefined && isLocationOf(ofKey.location, image) ? ofKey.found : []));
  const fallback = isOfDefaultRegistry(repository) ? byKey.get(defaultRegistry)?.found : undefined;
  return (found.length > 0 ? found : (fallback ?? [])).slice(0, mostTried);
}

function credentialsOf({ auth, secret }: SecretEntry): PullCredentials {
  return { auth, source: { ...secret, credentialHash: hashOfAuth(auth) } };
}

/** Tells credentials from others without showing them. */
export function hashOfAuth(auth: ImageAuth): string {
  return createHash('sha256').update(JSON.stringify(auth)).digest('hex');
}

function entriesOf({ metadata, ...secret }: PullSecret, most: number): PlacedCredentials<SecretEntry>[] {
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
    if (registryLocation(place) === undefined || typeof value !== 'object' || value === null) return [];
    const auth = authOf(value as Record<string, unknown>, `${namespace}/${name}`);
    return [{ place, credentials: { auth, secret: { uid, namespace, name } } }];
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

/**
 * True where the repository is at the place: a host with a port or without, whose parts may have the wild card `*`, and the beginning of a
 * path. A scheme is none.
 */
export function isPlaceOf(place: string, repository: string): boolean {
  const [glob, image] = [placeOf(place), placeOf(repository)];
  return glob !== undefined && image !== undefined && isLocationOf(glob, image);
}

/** Undefined for what is no place of images. */
export function placeOf(text: string): RegistryLocation | undefined {
  const [, host = '', port = '', path = ''] = /^([^\s/:?#@%\\[\]]+)(?::(\d*))?(\/[^\s?#%]*)?$/.exec(text) ?? [];
  return host === '' ? undefined : { host, port, path };
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
