// Behaviour of pkg/credentialprovider/plugin/config.go and of kubelet.config.k8s.io CredentialProviderConfig, v1.36.3.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { goDurationMs } from '../../api/json/go-duration.ts';
import { type ManifestObject, type ManifestValue, NumberText, readManifest } from '../../api/manifest/read-manifest.ts';
import { errorCodeOf, errorText, isStatusManagerError, StatusManagerError, shownValue } from '../../base/errors.ts';
import { isLabelKey } from '../../base/names.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import { placeOf } from './keyring.ts';

/** A program that gives credentials for images. */
export interface ImageCredentialProvider {
  /** The name of the program in the folder of plugins. */
  readonly name: string;
  /** Whose request and response it speaks. */
  readonly apiVersion: string;
  /** For which images it is asked: hosts, whose parts may have the wild card `*`, with a port and the beginning of a path. */
  readonly matchImages: readonly string[];
  /** How long credentials are kept where it does not say. 0: not at all. */
  readonly defaultCacheMs: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Undefined: it gets no token of the pod's service account. */
  readonly tokens: ImageTokenAttributes | undefined;
}

/** What the configuration of plugins for image credentials says. */
export interface ImageCredentialConfig {
  readonly providers: readonly ImageCredentialProvider[];
  /** `sha256:` and the hash of the files, each after its length, as the kubelet makes it. */
  readonly hash: string;
}

/** Which token of the pod's service account a plugin gets, and what it is told of the account. */
export interface ImageTokenAttributes {
  readonly audience: string;
  /** True: it is not asked for a pod without a service account. */
  readonly requireServiceAccount: boolean;
  /** `Token`: its credentials are kept for one token alone, and may be the token itself. */
  readonly cacheType: 'ServiceAccount' | 'Token';
  /** It is not asked for a pod whose account lacks one of these annotations. */
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

const group = 'kubelet.config.k8s.io';
const versions = ['v1', 'v1beta1', 'v1alpha1'];
const answerGroup = 'credentialprovider.kubelet.k8s.io';
export const answerVersions: readonly string[] = versions.map((version) => `${answerGroup}/${version}`);
/** More than the plugins of any node. */
const mostBytes = 1024 * 1024;
const endings = ['.json', '.yaml', '.yml'];

/**
 * The plugins that a file of kind CredentialProviderConfig names, or all such files of a folder, in the order of their names. Rejects with
 * ERR_INVALID_OPTION, naming the file, the field, the rule and the value, and for a plugin whose program is not in the folder of plugins. The
 * values of arguments and variables are never told.
 */
export async function readImageCredentialConfig(path: string, binDir: string): Promise<ImageCredentialConfig> {
  await stat(binDir).catch((error: unknown) => {
    throw configFault(`the folder of plugins for image credentials ${binDir} cannot be used: ${why(error)}`);
  });
  const found = new Map<string, ImageCredentialProvider>();
  const hash = createHash('sha256');
  for (const file of await configFiles(path)) {
    const { text, providers } = await readFileOf(file);
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    hash.update(length).update(bytes);
    for (const provider of providers) {
      if (found.has(provider.name)) throw configFault(`${file}: the plugin ${JSON.stringify(provider.name)} is there twice`);
      found.set(provider.name, provider);
    }
  }
  for (const name of found.keys()) await requireProgram(join(binDir, name));
  return { providers: [...found.values()], hash: `sha256:${hash.digest('hex')}` };
}

function configFault(message: string, options?: ErrorOptions): StatusManagerError {
  return new StatusManagerError('ERR_INVALID_OPTION', message, options);
}

async function configFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isDirectory() && endings.includes(extname(entry.name)))
      .map(({ name }) => name);
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (cause) {
    throw configFault(`the configuration of plugins for image credentials ${path} cannot be read: ${why(cause)}`, { cause });
  }
  throw configFault(`the folder ${path} has no configuration of plugins for image credentials: no file ${endings.join(', ')}`);
}

async function requireProgram(program: string): Promise<void> {
  try {
    await access(program, constants.X_OK);
    if ((await stat(program)).isFile()) return;
  } catch (cause) {
    throw configFault(`the plugin for image credentials ${program} cannot be run: ${why(cause)}`, { cause });
  }
  throw configFault(`the plugin for image credentials ${program} is no file`);
}

async function readFileOf(
  file: string,
): Promise<{ readonly text: string; readonly providers: readonly ImageCredentialProvider[] }> {
  try {
    const text = await readAtMost(file, mostBytes);
    const head = new Fields('', objectOf('the file', readManifest(text)), ['apiVersion', 'kind', 'providers']);
    const version = versions.find((each) => `${group}/${each}` === head.text('apiVersion'));
    if (version === undefined) head.refuse('apiVersion', `${group}/v1, v1beta1 or v1alpha1`);
    if (head.text('kind') !== 'CredentialProviderConfig') head.refuse('kind', 'CredentialProviderConfig');
    const providers = head.list('providers');
    if (providers.length === 0) head.refuse('providers', 'a list of at least one plugin');
    return { text, providers: providers.map((value, index) => providerOf(`providers[${index}]`, value, version === 'v1')) };
  } catch (cause) {
    throw configFault(`${file}: ${isStatusManagerError(cause) ? errorText(cause) : why(cause)}`, {
      cause,
    });
  }
}

function providerOf(path: string, value: ManifestValue, hasTokens: boolean): ImageCredentialProvider {
  const names = [
    'name',
    'matchImages',
    'defaultCacheDuration',
    'apiVersion',
    'args',
    'env',
    ...(hasTokens ? ['tokenAttributes'] : []),
  ];
  const fields = new Fields(path, objectOf(path, value), names);
  const name = fields.text('name');
  if (name === '' || /[/ ]/.test(name) || name === '.' || name === '..') {
    fields.refuse('name', 'the name of a program, without "/" and spaces, neither "." nor ".."');
  }
  const apiVersion = fields.text('apiVersion');
  if (!answerVersions.includes(apiVersion)) fields.refuse('apiVersion', answerVersions.join(', '));
  const matchImages = fields.texts('matchImages');
  if (matchImages.length === 0) fields.refuse('matchImages', 'a list of at least one place');
  for (const image of matchImages)
    if (placeOf(image) === undefined) fault(`${path}.matchImages`, 'places such as *.example.com/team', image);
  const defaultCacheMs = goDurationMs(fields.text('defaultCacheDuration'));
  if (defaultCacheMs === undefined || defaultCacheMs < 0)
    fields.refuse('defaultCacheDuration', 'a time of 0 or more, such as 12h');
  const env = fields.list('env').map((each, index) => {
    const variable = new Fields(`${path}.env[${index}]`, objectOf(`${path}.env[${index}]`, each), ['name', 'value']);
    return [variable.text('name'), variable.text('value')] as const;
  });
  return {
    ...{ name, apiVersion, matchImages, defaultCacheMs: defaultCacheMs ?? 0, args: fields.texts('args') },
    env: Object.fromEntries(env),
    tokens: tokensOf(`${path}.tokenAttributes`, fields, apiVersion),
  };
}

function tokensOf(path: string, provider: Fields, apiVersion: string): ImageTokenAttributes | undefined {
  const value = provider.value('tokenAttributes');
  if (value === undefined) return undefined;
  const names = ['serviceAccountTokenAudience', 'cacheType', 'requireServiceAccount'];
  const keys = ['requiredServiceAccountAnnotationKeys', 'optionalServiceAccountAnnotationKeys'] as const;
  const fields = new Fields(path, objectOf(path, value), [...names, ...keys]);
  if (apiVersion !== answerVersions[0]) fault(path, `left out, unless apiVersion is ${answerVersions[0]}`, apiVersion);
  const audience = fields.text('serviceAccountTokenAudience');
  if (audience === '') fields.refuse('serviceAccountTokenAudience', 'the audience of the tokens');
  const requireServiceAccount = fields.value('requireServiceAccount');
  if (typeof requireServiceAccount !== 'boolean') fault(`${path}.requireServiceAccount`, 'true or false', requireServiceAccount);
  const cacheType = fields.text('cacheType');
  if (cacheType !== 'ServiceAccount' && cacheType !== 'Token') fault(`${path}.cacheType`, 'ServiceAccount or Token', cacheType);
  const [required = [], optional = []] = keys.map((key) => annotationKeys(fields, key));
  if (required.length > 0 && !requireServiceAccount) fields.refuse(keys[0], 'left out, unless requireServiceAccount is true');
  const both = required.find((key) => optional.includes(key));
  if (both !== undefined) fault(path, 'without a key that is both required and optional', both);
  return { audience, requireServiceAccount, cacheType, requiredAnnotations: required, optionalAnnotations: optional };
}

function annotationKeys(fields: Fields, name: string): string[] {
  const keys = fields.texts(name);
  for (const [index, key] of keys.entries()) {
    if (!isLabelKey(key.toLowerCase())) fault(`${fields.path}.${name}`, 'keys of annotations', key);
    if (keys.indexOf(key) !== index) fault(`${fields.path}.${name}`, 'different keys', key);
  }
  return keys;
}

/** The fields of an object, by their types. What is null counts as left out. */
class Fields {
  readonly path: string;
  readonly #given: ManifestObject;

  /** Refuses a field that the kubelet does not know. */
  constructor(path: string, given: ManifestObject, known: readonly string[]) {
    this.path = path;
    this.#given = given;
    for (const name of given.keys())
      if (!known.includes(name)) throw configFault(`${this.#of(name)} is no field of CredentialProviderConfig`);
  }

  value(name: string): ManifestValue | undefined {
    return this.#given.get(name) ?? undefined;
  }

  /** Empty where it is left out. */
  text(name: string): string {
    const value = this.value(name) ?? '';
    return typeof value === 'string' ? value : fault(this.#of(name), 'a text', value);
  }

  list(name: string): ManifestValue[] {
    const value = this.value(name) ?? [];
    return Array.isArray(value) ? value : fault(this.#of(name), 'a list', value);
  }

  texts(name: string): string[] {
    return this.list(name).map((value) => (typeof value === 'string' ? value : fault(this.#of(name), 'a list of texts', value)));
  }

  refuse(name: string, rule: string): never {
    return fault(this.#of(name), rule, this.value(name));
  }

  #of(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

/** Arguments and variables may be secret. */
function fault(path: string, rule: string, value: unknown): never {
  const plain = value instanceof NumberText ? Number(value.text) : value instanceof Map ? {} : value;
  const got = /\.(?:args|env)\b/.test(path) ? typeof plain : shownValue(plain);
  throw configFault(`Expected \`${path}\` to be ${rule}, got ${got}`);
}

function objectOf(path: string, value: ManifestValue): ManifestObject {
  return value instanceof Map ? value : fault(path, 'an object', value);
}

function why(error: unknown): string {
  return errorCodeOf(error) ?? errorText(error);
}
