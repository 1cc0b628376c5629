// Behaviour of pkg/kubelet/images (EnsureImageExists) and of pkg/kubelet/images/pullmanager, v1.36.3.

import { formatTime } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { TokenBucket } from '../../base/concurrency/rate-limiter.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { SharedCalls } from '../../base/concurrency/shared-calls.ts';
import { errorText } from '../../base/errors.ts';
import type { EventType } from '../../client/events/event-recorder.ts';
import { containerFieldPath, durationText } from '../../node/workers/restart-backoff.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { PodSandboxConfig } from '../runtime/runtime-sandboxes.ts';
import type { PluginsAnswer } from './image-credential-plugins.ts';
import { imageText, parseImageName, untagged, withDefaultTag } from './image-name.ts';
import { ImageError, type ImagePullerOptions } from './image-puller-options.ts';
import { credentialsFor, hashOfAuth, type PullCredentialSource, type PullCredentials, type PullSecret } from './keyring.ts';
import { PullBackoff } from './pull-backoff.ts';
import { isSameOwner, type PulledWith, PullRecords } from './pull-records.ts';

/** Which image is needed, by whom. */
export interface ImageRequest {
  readonly pod: Pod;
  /** With an empty name the whole pod needs the image, as for a volume. */
  readonly container: {
    readonly name: string;
    readonly image?: string | undefined;
    readonly imagePullPolicy?: string | undefined;
  };
  /** The secrets that the pod may use, in their order. */
  readonly pullSecrets: readonly PullSecret[];
  /** The sandbox that the image is for; undefined: none in particular. */
  readonly sandbox?: PodSandboxConfig | undefined;
  /** The runtime handler that the image is for; empty: the default one. */
  readonly runtimeHandler?: string | undefined;
}

/** An image that the node has. */
export interface EnsuredImage {
  /** The reference that containers are made with. */
  readonly imageRef: string;
  readonly image: RuntimeImage;
}

/** The wait after the first pull of an image for a pod that failed, doubled by each further one, and the longest. */
const pullBackoff = { baseMs: 10_000, maxMs: 300_000 };

/** Credentials, and who may use what is pulled with them. */
interface TriedCredentials extends Pick<PullCredentials, 'auth'> {
  readonly pulledWith: PulledWith;
  /** Tells them from others without showing them. */
  readonly key: string;
}

/** What the plugins say of the pod and the image: asked when it is needed, and once. */
type AskPlugins = () => Promise<PluginsAnswer>;

/** An image that was pulled with what the node has is there for every pod. */
const everyPod: PulledWith = { nodePodsAccessible: true };

interface PullCall {
  readonly sandbox?: PodSandboxConfig | undefined;
  readonly runtimeHandler?: string | undefined;
  readonly signal: AbortSignal;
}

interface Pulled {
  readonly imageRef: string;
  readonly image: RuntimeImage;
  readonly pulledMs: number;
}

/** So much of what the runtime says of a pull is kept and told, in characters. */
const longestFailure = 4096;

/**
 * Has images for containers: by their pull policies, with the pods' pull secrets, several at once, and after a pull that failed only
 * when its wait is over. Equal pulls that overlap are one. No credential is in an error, an event or a log.
 */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #limit: Semaphore;
  readonly #backoff: PullBackoff;
  readonly #records: PullRecords;
  readonly #pulls = new SharedCalls<Pulled>();

  constructor(options: ImagePullerOptions) {
    const { maxParallelImagePulls, clock, recordsDirectory } = options;
    this.#options = options;
    this.#limit = new Semaphore(maxParallelImagePulls);
    this.#backoff = new PullBackoff({ ...pullBackoff, clock });
    this.#records = new PullRecords(recordsDirectory);
  }

  /**
   * Resolves once the node has the image and the pod may use it. Rejects with an {@link ImageError}, after an event, or with the
   * signal's reason.
   */
  async ensureImage(request: ImageRequest, signal: AbortSignal): Promise<EnsuredImage> {
    const { container } = request;
    const named = container.image ?? '';
    let image: string;
    try {
      image = withDefaultTag(named);
    } catch (error) {
      const message = `Failed to apply default image tag ${imageText(named)}: ${errorText(error)}`;
      this.#event(request, 'Warning', 'InspectFailed', message);
      throw new ImageError('InvalidImageName', message, { cause: error });
    }
    const policy = container.imagePullPolicy || (parseImageName(image).tag === 'latest' ? 'Always' : 'IfNotPresent');
    const present = policy === 'Always' ? undefined : await this.#inspect(request, image, signal);
    const askPlugins = this.#pluginsOf(request, image, signal);
    if (present !== undefined && (await this.#mayUse(request, image, present.id, askPlugins))) {
      const message = `Container image ${JSON.stringify(named)} already present on machine and can be accessed by the pod`;
      this.#event(request, 'Normal', 'Pulled', message);
      return { imageRef: present.id, image: present };
    }
    if (policy === 'Never') {
      const message = `Container image ${JSON.stringify(named)} is not present with pull policy of Never`;
      this.#event(request, 'Warning', 'ErrImageNeverPull', message);
      throw new ImageError('ErrImageNeverPull', message);
    }
    return this.#pull(request, image, askPlugins, signal);
  }

  /** Forgets the waits of a pod that is over. */
  forgetPod(podUID: string): void {
    this.#backoff.forget(podUID);
  }

  /**
   * Forgets with whose credentials images were pulled that the runtime has no more. `list` gives the ids of those that it has; what
   * is pulled meanwhile is kept. Rejects as `list` does, and then forgets nothing.
   */
  async forgetImages(list: () => Promise<ReadonlySet<string>>): Promise<void> {
    await this.#records.prune(list);
  }

  /** Forgets the waits that would begin anew. */
  forgetWaits(): void {
    this.#backoff.gc();
  }

  async #inspect(request: ImageRequest, image: string, signal: AbortSignal): Promise<RuntimeImage | undefined> {
    try {
      return await this.#options.runtime.imageStatus(image, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const message = `Failed to inspect image ${JSON.stringify(image)}: ${errorText(error)}`;
      this.#event(request, 'Warning', 'InspectFailed', message);
      throw new ImageError('ImageInspectError', message, { cause: error });
    }
  }

  #pluginsOf({ pod }: ImageRequest, image: string, signal: AbortSignal): AskPlugins {
    const { credentialPlugins } = this.#options;
    let asked: Promise<PluginsAnswer> | undefined;
    return () => {
      asked ??= credentialPlugins?.for(parseImageName(image).repository, pod, signal);
      return asked ?? Promise.resolve({ credentials: [], failed: [] });
    };
  }

  /** An image that was pulled with one pod's credentials is not there for pods without them. */
  async #mayUse(request: ImageRequest, image: string, imageRef: string, askPlugins: AskPlugins): Promise<boolean> {
    const { credentialVerification } = this.#options;
    if (credentialVerification === 'NeverVerify') return true;
    const { pullSecrets } = request;
    const named = request.container.image ?? '';
    if (credentialVerification !== 'AlwaysVerify' && !(await this.#records.isPulled(named, imageRef))) return true;
    const { repository } = parseImageName(image);
    // earlier versions of the agent kept it under the name in full
    const pulledWith = (await this.#records.find(imageRef, untagged(named))) ?? (await this.#records.find(imageRef, repository));
    if (pulledWith?.nodePodsAccessible === true) return true;
    const { kubernetesSecrets: known = [], kubernetesServiceAccounts: accounts = [] } = pulledWith ?? {};
    const ofSecrets = known.length === 0 ? [] : credentialsFor(repository, pullSecrets);
    const match = ofSecrets.find(({ source }) => known.some((one) => isSameSource(one, source)));
    if (match !== undefined) {
      await this.#records.add(imageRef, untagged(named), { kubernetesSecrets: [match.source] }, this.#now());
      return true;
    }
    if (accounts.length === 0) return false;
    const { credentials } = await askPlugins();
    return credentials.some(({ account }) => account !== undefined && accounts.some((one) => isSameOwner(one, account)));
  }

  async #pull(request: ImageRequest, image: string, askPlugins: AskPlugins, signal: AbortSignal): Promise<EnsuredImage> {
    const { clock } = this.#options;
    const podUID = podUIDOf(request.pod);
    const named = request.container.image ?? '';
    const text = JSON.stringify(named);
    const waits = this.#backoff.waits(podUID, named);
    if (waits !== undefined) {
      const message = `Back-off pulling image ${text}`;
      this.#event(request, 'Normal', 'BackOff', message);
      throw new ImageError('ImagePullBackOff', `${message}: ${waits.message}`, { until: waits.until });
    }
    this.#event(request, 'Normal', 'Pulling', `Pulling image ${text}`);
    const startedAt = clock.elapsed();
    try {
      const pulled = await this.#pullOnce(request, image, askPlugins, signal);
      this.#backoff.forgetImage(podUID, named);
      const waitedMs = clock.elapsed() - startedAt;
      const times = `${durationText(pulled.pulledMs)} (${durationText(waitedMs)} including waiting)`;
      const size = `Image size: ${pulled.image.sizeBytes} bytes.`;
      this.#event(request, 'Normal', 'Pulled', `Successfully pulled image ${text} in ${times}. ${size}`);
      return { imageRef: pulled.imageRef, image: pulled.image };
    } catch (error) {
      signal.throwIfAborted();
      const { failed } = await askPlugins();
      const without =
        failed.length === 0 ? '' : `; no credentials came from ${pluginNames(failed)}: the log of the agent says why`;
      this.#event(request, 'Warning', 'Failed', `Failed to pull image ${text}: ${failureText(error)}${without}`);
      const failure = pullFailure(named, error, without);
      const until = this.#backoff.failed(podUID, named, `${failure.reason}: ${failure.message}`);
      throw new ImageError(failure.reason, failure.message, { until, cause: error });
    }
  }

  /** The same image with the same credentials is pulled once at a time. */
  async #pullOnce(
    { container, pullSecrets, ...request }: ImageRequest,
    image: string,
    askPlugins: AskPlugins,
    signal: AbortSignal,
  ): Promise<Pulled> {
    const { repository } = parseImageName(image);
    const ofPod = credentialsFor(repository, pullSecrets).map(ofSecret);
    const ofNode = (await this.#options.nodeCredentials?.for(repository)) ?? [];
    const ofPlugins = (await askPlugins()).credentials;
    const credentials: TriedCredentials[] = [
      ...ofPod,
      ...ofNode.map(({ auth, source }) => ({ auth, pulledWith: everyPod, key: `node ${source.credentialHash}` })),
      ...ofPlugins.map(ofPlugin),
    ];
    const { runtimeHandler = '' } = request;
    const key = JSON.stringify([image, runtimeHandler, credentials.map((each) => each.key)]);
    const pull = (shared: AbortSignal): Promise<Pulled> =>
      this.#limit.run(() => this.#pullNow(container.image ?? '', image, credentials, { ...request, signal: shared }), shared);
    return this.#pulls.get(key, pull, signal);
  }

  async #pullNow(named: string, image: string, credentials: readonly TriedCredentials[], options: PullCall): Promise<Pulled> {
    const { runtime, clock } = this.#options;
    const startedAt = clock.elapsed();
    await this.#records.begin(named);
    try {
      const { imageRef, pulledWith } = await this.#tryEach(image, credentials, options);
      const found = (await runtime.imageStatus(imageRef, options)) ?? (await runtime.imageStatus(image, options));
      if (found === undefined) throw new Error(`the image ${JSON.stringify(image)} is gone right after it was pulled`);
      await this.#records.succeed(named, found.id, untagged(named), pulledWith, this.#now());
      return { imageRef, image: found, pulledMs: clock.elapsed() - startedAt };
    } catch (error) {
      await this.#records.fail(named);
      throw error;
    }
  }

  async #tryEach(
    image: string,
    credentials: readonly TriedCredentials[],
    { sandbox, runtimeHandler, signal }: PullCall,
  ): Promise<{ readonly imageRef: string; readonly pulledWith: PulledWith }> {
    const { runtime } = this.#options;
    const options = { sandbox, runtimeHandler, signal };
    if (credentials.length === 0) return { imageRef: await runtime.pullImage(image, options), pulledWith: everyPod };
    const errors: unknown[] = [];
    for (const { auth, pulledWith } of credentials) {
      try {
        return { imageRef: await runtime.pullImage(image, { ...options, auth }), pulledWith };
      } catch (error) {
        signal.throwIfAborted();
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    throw new AggregateError(errors, `[${errors.map(errorText).join(', ')}]`);
  }

  #now(): string {
    return formatTime(this.#options.clock.now());
  }

  #event({ pod, container }: ImageRequest, type: EventType, reason: string, message: string): void {
    const fieldPath = container.name === '' ? undefined : containerFieldPath(pod, container.name);
    this.#options.eventRecorder.event(pod, type, reason, message, fieldPath);
  }
}

/** What a registry says is of its own making. */
function failureText(error: unknown): string {
  const text = errorText(error);
  return text.length > longestFailure ? `${text.slice(0, longestFailure)}…` : text;
}

/** The same credentials, or the same secret with others by now. */
function isSameSource(a: PullCredentialSource, b: PullCredentialSource): boolean {
  if (a.credentialHash === b.credentialHash) return true;
  return isSameOwner(a, b);
}

function ofSecret({ auth, source }: PullCredentials): TriedCredentials {
  return { auth, pulledWith: { kubernetesSecrets: [source] }, key: source.credentialHash };
}

function ofPlugin({ auth, account }: PluginsAnswer['credentials'][number]): TriedCredentials {
  const pulledWith = account === undefined ? everyPod : { kubernetesServiceAccounts: [account] };
  return { auth, pulledWith, key: JSON.stringify(['plugin', hashOfAuth(auth), account]) };
}

function pluginNames(names: readonly string[]): string {
  return `the credential plugin${names.length === 1 ? '' : 's'} ${names.map((name) => JSON.stringify(name)).join(', ')}`;
}

/** `without`: which plugins gave no credentials, in words. */
function pullFailure(image: string, error: unknown, without: string): ImageError {
  const text = `${failureText(error)}${without}`;
  for (const [reason, says] of [
    ['RegistryUnavailable', 'the registry is unavailable'],
    ['SignatureValidationFailed', 'the signature validation failed'],
  ] as const) {
    if (text.startsWith(reason)) {
      return new ImageError(reason, `image pull failed for ${image} because ${says}${text.slice(reason.length)}`, {
        cause: error,
      });
    }
  }
  return new ImageError('ErrImagePull', text, { cause: error });
}

// Behaviour of pkg/kubelet/images/helpers.go throttledImageService, v1.36.3.

type Images = Pick<ContainerRuntime, 'imageStatus' | 'pullImage'>;

export interface PullRate {
  /** So many pulls may begin in a second; 0: no limit. */
  readonly perSecond: number;
  /** So many pulls may begin at once. */
  readonly burst: number;
  readonly clock: SteadyClock;
}

/** The images of a runtime, whose pulls fail at once where more begin than may. The back-off of the image then waits. */
export function limitedPulls(runtime: Images, { perSecond, burst, clock }: PullRate): Images {
  const bucket = new TokenBucket({ burst, tokens: perSecond, perMs: 1000 }, clock);
  return {
    imageStatus: (image, call) => runtime.imageStatus(image, call),
    pullImage: async (image, call) => {
      if (perSecond > 0 && !bucket.tryTake()) throw new Error('pull QPS exceeded');
      return runtime.pullImage(image, call);
    },
  };
}
