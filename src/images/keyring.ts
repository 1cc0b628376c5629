// Behaviour of BasicDockerKeyring and of the parsing of pull secrets in pkg/credentialprovider, v1.36.3.
import { createHash } from 'node:crypto';
import type { ImageAuth } from '../runtime/runtime-images.ts';
import { isLocationOf, isOfDefaultRegistry, type RegistryLocation, registryLocation } from './registry-match.ts';

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
export interface CredentialSource {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly credentialHash: string;
}

/** Credentials for one place. */
export interface Credentials {
  readonly auth: ImageAuth;
  readonly source: CredentialSource;
}

interface Entry extends Credentials {
  readonly key: string;
  readonly location: RegistryLocation;
}

const defaultRegistry = 'index.docker.io';

/**
 * The credentials for a repository such as `quay.io/team/app`, in the order in which they are tried: the most specific place
 * first. Throws an error that names the secret, and nothing that is in it, for a secret that cannot be read.
 */
export function credentialsFor(repository: string, secrets: readonly PullSecret[]): Credentials[] {
  const entries = secrets.flatMap(entriesOf);
  const image = registryLocation(repository);
  if (image === undefined) return [];
  const keys = [...new Set(entries.map(({ key }) => key))].sort().reverse();
  const found = keys.flatMap((key) => entries.filter((entry) => entry.key === key && isLocationOf(entry.location, image)));
  if (found.length > 0) return found;
  return isOfDefaultRegistry(repository) ? entries.filter(({ key }) => key === defaultRegistry) : [];
}

function entriesOf(secret: PullSecret): Entry[] {
  const { uid = '', namespace = '', name = '' } = secret.metadata ?? {};
  let config: unknown;
  try {
    config = registriesOf(secret);
  } catch {
    // what the error says could be a part of the secret
    throw new Error(`the pull secret ${namespace}/${name} cannot be read`);
  }
  if (typeof config !== 'object' || config === null) return [];
  return Object.entries(config).flatMap(([place, value]) => {
    const location = registryLocation(place);
    if (location === undefined || typeof value !== 'object' || value === null) return [];
    const auth = authOf(value as Record<string, unknown>, `${namespace}/${name}`);
    const { host, port, path } = location;
    const key = `${host}${port && `:${port}`}${path}`;
    const credentialHash = createHash('sha256').update(JSON.stringify(auth)).digest('hex');
    return [{ key, location, auth, source: { uid, namespace, name, credentialHash } }];
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
