// Behaviour of pluginProvider in pkg/credentialprovider/plugin/plugin.go, v1.36.3.

import { createHash } from 'node:crypto';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { SharedCalls } from '../../base/concurrency/shared-calls.ts';
import { errorText } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { ProgramFailure } from '../../base/run-program.ts';
import { withoutSecrets } from '../../base/secrets.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import type { ImageAuth } from '../runtime/runtime-images.ts';
import {
  type ImageCredentialAnswer,
  type ImageCredentialQuestion,
  imageAnswerOf,
  requestText,
} from './image-credential-answer.ts';
import type { ImageCredentialProvider, ImageTokenAttributes } from './image-credential-config.ts';
import { isPlaceOf, type PlacedCredentials } from './keyring.ts';

/** Which service account credentials are for. */
export interface PullServiceAccount {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A plugin that is run once. */
export interface ImageCredentialRun {
  /** The path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  /** Beside the variables of the agent. */
  readonly env: Readonly<Record<string, string>>;
  /** The request: it may hold a token. */
  readonly input: string;
  readonly mostOutputBytes: number;
  readonly signal: AbortSignal;
}

/** What the agent knows of service accounts. */
export interface ServiceAccountSource {
  /** Rejects where there is none of the name. */
  account(namespace: string, name: string, signal: AbortSignal): Promise<ServiceAccountData>;
  /** A token of the account for the audience, bound to the pod. Rejects where another account has the name meanwhile. */
  token(pod: Pod, account: PullServiceAccount, audience: string, signal: AbortSignal): Promise<string>;
}

export interface ServiceAccountData {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ImageCredentialPluginOptions {
  readonly provider: ImageCredentialProvider;
  readonly program: string;
  /** Runs the program; what it resolves to is the program's standard output. */
  readonly run: (run: ImageCredentialRun) => Promise<string>;
  readonly accounts: ServiceAccountSource;
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
}

/** What a plugin gives for one image and one pod. */
export interface GivenCredentials {
  readonly placed: readonly PlacedCredentials<ImageAuth>[];
  /** Undefined: they are for every pod of the node. */
  readonly account: PullServiceAccount | undefined;
}

interface Kept {
  readonly placed: readonly PlacedCredentials<ImageAuth>[];
  readonly until: number;
  readonly size: number;
}

interface OfAccount {
  readonly question: Pick<ImageCredentialQuestion, 'token' | 'annotations'>;
  readonly account: PullServiceAccount | undefined;
  /** What credentials that were kept are told apart by. */
  readonly cacheKey: string;
}

const longestRunMs = 60_000;
/** More than the credentials of any registries. */
const mostOutputBytes = 1024 * 1024;
/** So many characters of answers are kept of one plugin, and so many answers: those that were kept longest ago go first. */
const mostKept = { size: 4 * 1024 * 1024, answers: 1000 };
const longestWords = 500;

/** One plugin for credentials of images: asked about the images that it is for, and not again while its last answer counts. */
export class ImageCredentialPlugin {
  readonly #options: ImageCredentialPluginOptions;
  readonly #kept = new Map<string, Kept>();
  #size = 0;
  readonly #runs = new SharedCalls<ImageCredentialAnswer>();
  /** A pod with many images has one program run at a time. */
  readonly #turns = new OneAtATime();

  constructor(options: ImageCredentialPluginOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.provider.name;
  }

  /**
   * Undefined where the plugin is not for this image or this pod. Rejects with the signal's reason, and with an error that has no secret where
   * the plugin gives no answer, or none that can be used.
   */
  async give(image: string, pod: Pod, signal: AbortSignal): Promise<GivenCredentials | undefined> {
    const { matchImages } = this.#options.provider;
    if (!matchImages.some((place) => isPlaceOf(place, image))) return undefined;
    const ofAccount = await this.#ofAccount(pod, signal);
    if (ofAccount === undefined) return undefined;
    const { account, cacheKey } = ofAccount;
    const kept = (): readonly PlacedCredentials<ImageAuth>[] | undefined => this.#find(image, cacheKey);
    const placed =
      kept() ??
      (await untilAborted(
        this.#turns.run(podUIDOf(pod), async () => kept() ?? (await this.#ask(image, ofAccount, signal))),
        signal,
      ));
    return { placed, account };
  }

  async #ofAccount(pod: Pod, signal: AbortSignal): Promise<OfAccount | undefined> {
    const { provider, accounts } = this.#options;
    const nobody = { question: { token: '', annotations: {} }, account: undefined, cacheKey: '' };
    const { tokens } = provider;
    if (tokens === undefined) return nobody;
    const name = pod.spec?.serviceAccountName || '';
    if (name === '') return tokens.requireServiceAccount ? undefined : nobody;
    const namespace = pod.metadata?.namespace ?? '';
    const { uid, annotations: all } = await accounts.account(namespace, name, signal).catch(failing(signal, 'service account'));
    const annotations = annotationsFor(tokens, all);
    if (annotations === undefined) return undefined;
    const account = { uid, namespace, name };
    const token = await accounts.token(pod, account, tokens.audience, signal).catch(failing(signal, 'service account token'));
    const told = tokens.cacheType === 'Token' ? createHash('sha256').update(token).digest('hex') : '';
    const cacheKey = JSON.stringify([namespace, name, uid, annotations, told]);
    return { question: { token, annotations }, account, cacheKey };
  }

  async #ask(image: string, { question, cacheKey }: OfAccount, signal: AbortSignal): Promise<Kept['placed']> {
    const { provider } = this.#options;
    const { token } = question;
    const sameFor = JSON.stringify([image, token, question.annotations]);
    const answer = await this.#runs.get(sameFor, (shared) => this.#run({ image, ...question }, shared), signal);
    if (token !== '' && provider.tokens?.cacheType !== 'Token') {
      const isEcho = answer.placed.some(({ credentials: { password } }) => password === token);
      if (isEcho) throw new Error('it answered with the service account token as password, which only cacheType Token allows');
    }
    this.#keep(image, cacheKey, answer);
    return answer.placed;
  }

  async #run(question: ImageCredentialQuestion, shared: AbortSignal): Promise<ImageCredentialAnswer> {
    const { provider, program, run, clock } = this.#options;
    const { apiVersion, args, env } = provider;
    const input = requestText(apiVersion, question);
    const late = (): Error => new Error(`it gave no answer within ${longestRunMs / 1000} s`);
    const limits = { clock, timeoutMs: longestRunMs, late, signal: shared };
    try {
      const work = (): Promise<string> =>
        callWithin((signal) => run({ program, args, env, input, mostOutputBytes, signal }), limits);
      const text = await this.#measured(work, shared);
      return imageAnswerOf(text, apiVersion);
    } catch (error) {
      shared.throwIfAborted();
      throw error instanceof ProgramFailure ? new Error(wordsOf(error, [question.token, ...Object.values(env), ...args])) : error;
    }
  }

  /** A run that nobody waits for any more says nothing of the plugin. */
  async #measured(work: () => Promise<string>, shared: AbortSignal): Promise<string> {
    const { clock, metrics } = this.#options;
    const ofPlugin = { plugin_name: this.name };
    const begunMs = clock.elapsed();
    const ended = (): void =>
      metrics.observe('kubelet_credential_provider_plugin_duration', (clock.elapsed() - begunMs) / 1000, ofPlugin);
    try {
      const text = await work();
      ended();
      return text;
    } catch (error) {
      shared.throwIfAborted();
      ended();
      metrics.increment('kubelet_credential_provider_plugin_errors_total', ofPlugin);
      throw error;
    }
  }

  #find(image: string, ofAccount: string): Kept['placed'] | undefined {
    for (const base of [image, registryOf(image), global]) {
      const key = JSON.stringify([base, ofAccount]);
      const kept = this.#kept.get(key);
      if (kept !== undefined && this.#options.clock.elapsed() <= kept.until) return kept.placed;
      this.#drop(key);
    }
    return undefined;
  }

  #keep(image: string, ofAccount: string, { cacheKeyType, cacheMs, placed }: ImageCredentialAnswer): void {
    const keptMs = cacheMs ?? this.#options.provider.defaultCacheMs;
    if (keptMs <= 0) return;
    const base = { Image: image, Registry: registryOf(image), Global: global }[cacheKeyType];
    const key = JSON.stringify([base, ofAccount]);
    const size = key.length + placed.reduce((sum, each) => sum + sizeOf(each), 0);
    this.#drop(key);
    this.#kept.set(key, { placed, until: this.#options.clock.elapsed() + keptMs, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= mostKept.size && this.#kept.size <= mostKept.answers) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}

/** No image and no registry has this name. */
const global = '<global>';

function registryOf(image: string): string {
  return image.split('/', 1)[0] ?? '';
}

/** A place without a long path is an object of its own, too. */
function sizeOf({ place, credentials: { username = '', password = '' } }: PlacedCredentials<ImageAuth>): number {
  return 100 + place.length + username.length + password.length;
}

/** Undefined where one is missing that the plugin needs. */
function annotationsFor(
  { requiredAnnotations, optionalAnnotations }: ImageTokenAttributes,
  all: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  if (!requiredAnnotations.every((key) => Object.hasOwn(all, key))) return undefined;
  const told = [...requiredAnnotations, ...optionalAnnotations].filter((key) => Object.hasOwn(all, key)).sort();
  return Object.fromEntries(told.map((key) => [key, all[key] ?? '']));
}

function failing(signal: AbortSignal, what: string): (error: unknown) => never {
  return (cause) => {
    signal.throwIfAborted();
    throw new Error(`the ${what} of the pod could not be had: ${errorText(cause)}`, { cause });
  };
}

/** What the plugin complained about, without what it was given in confidence. */
function wordsOf({ message, stderr, isCut }: ProgramFailure, confidences: readonly string[]): string {
  // a short value is a word of everybody's; one secret may begin with another
  const secrets = confidences.filter(({ length }) => length >= 8).sort((a, b) => b.length - a.length);
  let words = isCut ? withoutCutEnd(stderr, secrets) : stderr;
  for (const secret of secrets) words = words.replaceAll(secret, '(hidden)');
  words = textBeginning(withoutSecrets(words).trim().replaceAll(/\s+/g, ' '), longestWords);
  return words === '' ? message : `${message}: ${words}`;
}

/** Text that was cut, without what may be the beginning of a secret at its end: nobody knows one by its beginning alone. */
function withoutCutEnd(text: string, secrets: readonly string[]): string {
  for (let at = 0; at < text.length; at += 1) {
    const end = text.slice(at);
    if (secrets.some((secret) => secret.startsWith(end))) return withoutCutEnd(text.slice(0, at), secrets);
  }
  // nor the beginning of a URL with a password
  return text.replace(/(?:^|\s)\S*$/, ' ');
}
