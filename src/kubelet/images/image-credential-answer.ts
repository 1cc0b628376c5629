// The request and response of credentialprovider.kubelet.k8s.io, and their checks in pkg/credentialprovider/plugin, v1.36.3.

import { goDurationMs } from '../../api/json/go-duration.ts';
import { isJsonObject } from '../../api/json/json.ts';
import type { JsonObject } from '../../api/json/types.ts';
import type { ImageAuth } from '../runtime/runtime-images.ts';
import { answerVersions } from './image-credential-config.ts';
import { mostPlaces, type PlacedCredentials } from './keyring.ts';

/** What a plugin is asked. */
export interface ImageCredentialQuestion {
  /** The repository, without tag and digest. */
  readonly image: string;
  /** Secret. Empty: none. */
  readonly token: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What a plugin has answered. */
export interface ImageCredentialAnswer {
  /** For what the credentials may be used again: the image, all of its registry, or every image that the plugin is asked about. */
  readonly cacheKeyType: 'Image' | 'Registry' | 'Global';
  /** Undefined: the plugin does not say. */
  readonly cacheMs: number | undefined;
  readonly placed: readonly PlacedCredentials<ImageAuth>[];
}

/** The request that a plugin reads. */
export function requestText(apiVersion: string, { image, token, annotations }: ImageCredentialQuestion): string {
  const ofAccount = {
    serviceAccountToken: token,
    ...(Object.keys(annotations).length > 0 && { serviceAccountAnnotations: annotations }),
  };
  return `${JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image, ...(token !== '' && ofAccount) })}\n`;
}

/** Throws an error that has nothing of the text, which holds credentials, for what is no answer. */
export function imageAnswerOf(text: string, apiVersion: string): ImageCredentialAnswer {
  const answer = objectIn(text);
  if (answer.apiVersion !== apiVersion) {
    const got = answerVersions.find((each) => each === answer.apiVersion) ?? 'another one';
    throw new Error(`its answer must be of apiVersion ${apiVersion}, and is of ${got}`);
  }
  if (answer.kind !== 'CredentialProviderResponse') throw new Error('its answer must be of kind CredentialProviderResponse');
  requireFields(answer, ['apiVersion', 'kind', 'cacheKeyType', 'cacheDuration', 'auth']);
  const { cacheKeyType, cacheDuration } = answer;
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global') {
    throw new Error('its answer has no cacheKeyType that is Image, Registry or Global');
  }
  const cacheMs = typeof cacheDuration === 'string' ? goDurationMs(cacheDuration) : undefined;
  if (cacheMs === undefined && (cacheDuration ?? undefined) !== undefined)
    throw new Error('its answer has a cacheDuration that is no time');
  return { cacheKeyType, cacheMs, placed: placedOf(answer.auth ?? {}) };
}

function placedOf(auth: unknown): PlacedCredentials<ImageAuth>[] {
  if (!isJsonObject(auth)) throw new Error('its answer has an auth that is no object');
  const places = Object.entries(auth);
  if (places.length > mostPlaces) throw new Error(`its answer has more than ${mostPlaces} places`);
  return places.map(([place, value]) => {
    if (value !== null && !isJsonObject(value)) throw new Error('its answer has credentials that are no object');
    if (value !== null) requireFields(value, ['username', 'password']);
    const { username, password } = value ?? {};
    return { place, credentials: { username: textOf(username), password: textOf(password) } };
  });
}

function textOf(value: unknown): string {
  if (typeof value === 'string' || value === null || value === undefined) return value ?? '';
  throw new Error('its answer has a username or a password that is no text');
}

function requireFields(object: JsonObject, known: readonly string[]): void {
  if (Object.keys(object).some((name) => !known.includes(name))) throw new Error('its answer has a field that is not known');
}

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // what the parser says quotes the text
  }
  throw new Error('its answer is no JSON object');
}
