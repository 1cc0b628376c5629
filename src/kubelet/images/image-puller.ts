// Behaviour of pkg/kubelet/images (EnsureImageExists) and of pkg/kubelet/images/pullmanager, v1.36.3.

import { formatTime } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { onAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { TokenBucket } from '../../base/concurrency/rate-limiter.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import type { EventType } from '../../client/events/event-recorder.ts';
import { containerFieldPath, durationText } from '../../node/workers/restart-backoff.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { PodSandboxConfig } from '../runtime/runtime-sandboxes.ts';
import { imageText, parseImageName, withDefaultTag } from './image-name.ts';
import { ImageError, type ImagePullerOptions } from './image-puller-options.ts';
import { credentialsFor, type PullCredentialSource, type PullCredentials, type PullSecret } from './keyring.ts';
import { PullBackoff } from './pull-backoff.ts';
import { PullRecords } from './pull-records.ts';

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

/** Undefined source: they are the node's own. */
interface TriedCredentials extends Pick<PullCredentials, 'auth'> {
  readonly source: PullCredentialSource | undefined;
}

interface PullCall {
  readonly sandbox?: PodSandboxConfig | undefined;
  readonly runtimeHandler?: string | undefined;
  readonly signal: AbortSignal;
}

interface Pulled {
  readonly imageRef: string;
  readonly image: RuntimeImage;
  /** Undefined: without credentials. */
  readonly source: PullCredentialSource | undefined;
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
    if (present !== undefined && (await this.#mayUse(request, image, present.id))) {
      const message = `Container image ${JSON.stringify(named)} already present on machine and can be accessed by the pod`;
      this.#event(request, 'Normal', 'Pulled', message);
      return { imageRef: present.id, image: present };
    }
    if (policy === 'Never') {
      const message = `Container image ${JSON.stringify(named)} is not present with pull policy of Never`;
      this.#event(request, 'Warning', 'ErrImageNeverPull', message);
      throw new ImageError('ErrImageNeverPull', message);
    }
    return this.#pull(request, image, signal);
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

  /** An image that was pulled with one pod's credentials is not there for pods without them. */
  async #mayUse({ container, pullSecrets }: ImageRequest, image: string, imageRef: string): Promise<boolean> {
    const { credentialVerification } = this.#options;
    if (credentialVerification === 'NeverVerify') return true;
    const named = container.image ?? '';
    if (credentialVerification !== 'AlwaysVerify' && !(await this.#records.isPulled(named, imageRef))) return true;
    const { repository } = parseImageName(image);
    const pulledWith = await this.#records.find(imageRef, repository);
    if (pulledWith?.nodePodsAccessible === true) return true;
    const known = pulledWith?.kubernetesSecrets ?? [];
    if (known.length === 0) return false;
    const match = credentialsFor(repository, pullSecrets).find(({ source }) => known.some((one) => isSameSource(one, source)));
    if (match === undefined) return false;
    await this.#records.add(imageRef, repository, match.source, this.#now());
    return true;
  }

  async #pull(request: ImageRequest, image: string, signal: AbortSignal): Promise<EnsuredImage> {
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
      const pulled = await this.#pullOnce(request, image, signal);
      this.#backoff.forgetImage(podUID, named);
      const waitedMs = clock.elapsed() - startedAt;
      const times = `${durationText(pulled.pulledMs)} (${durationText(waitedMs)} including waiting)`;
      const size = `Image size: ${pulled.image.sizeBytes} bytes.`;
      this.#event(request, 'Normal', 'Pulled', `Successfully pulled image ${text} in ${times}. ${size}`);
      return { imageRef: pulled.imageRef, image: pulled.image };
    } catch (error) {
      signal.throwIfAborted();
      this.#event(request, 'Warning', 'Failed', `Failed to pull image ${text}: ${failureText(error)}`);
      const failure = pullFailure(named, error);
      const until = this.#backoff.failed(podUID, named, `${failure.reason}: ${failure.message}`);
      throw new ImageError(failure.reason, failure.message, { until, cause: error });
    }
  }

  /** The same image with the same credentials is pulled once at a time. */
  async #pullOnce({ container, pullSecrets, ...request }: ImageRequest, image: string, signal: AbortSignal): Promise<Pulled> {
    const { repository } = parseImageName(image);
    const ofNode = (await this.#options.nodeCredentials?.for(repository)) ?? [];
    // an image that is pulled with what the node has is there for every pod
    const credentials = [
      ...credentialsFor(repository, pullSecrets).map(({ auth, source }) => ({ auth, source, key: source.credentialHash })),
      ...ofNode.map(({ auth, source }) => ({ auth, source: undefined, key: `node ${source.credentialHash}` })),
    ];
    const { runtimeHandler = '' } = request;
    const key = JSON.stringify([image, runtimeHandler, credentials.map((each) => each.key)]);
    const pull = (shared: AbortSignal): Promise<Pulled> =>
      this.#limit.run(() => this.#pullNow(container.image ?? '', image, credentials, { ...request, signal: shared }), shared);
    return this.#pulls.get(key, pull, signal);
  }

  async #pullNow(named: string, image: string, credentials: readonly TriedCredentials[], options: PullCall): Promise<Pulled> {
    const { runtime, clock } = this.#options;
    const { repository } = parseImageName(image);
    const startedAt = clock.elapsed();
    await this.#records.begin(named);
    try {
      const { imageRef, source } = await this.#tryEach(image, credentials, options);
      const found = (await runtime.imageStatus(imageRef, options)) ?? (await runtime.imageStatus(image, options));
      if (found === undefined) throw new Error(`the image ${JSON.stringify(image)} is gone right after it was pulled`);
      await this.#records.succeed(named, found.id, repository, source, this.#now());
      return { imageRef, image: found, source, pulledMs: clock.elapsed() - startedAt };
    } catch (error) {
      await this.#records.fail(named);
      throw error;
    }
  }

  async #tryEach(
    image: string,
    credentials: readonly TriedCredentials[],
    { sandbox, runtimeHandler, signal }: PullCall,
  ): Promise<{ readonly imageRef: string; readonly source: PullCredentialSource | undefined }> {
    const { runtime } = this.#options;
    const options = { sandbox, runtimeHandler, signal };
    if (credentials.length === 0) return { imageRef: await runtime.pullImage(image, options), source: undefined };
    const errors: unknown[] = [];
    for (const { auth, source } of credentials) {
      try {
        return { imageRef: await runtime.pullImage(image, { ...options, auth }), source };
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
  return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;
}

function pullFailure(image: string, error: unknown): ImageError {
  const text = failureText(error);
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

interface SharedCall<T> {
  readonly answer: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** Calls by key: who asks for a call that is under way gets that one's answer. It is aborted once nobody waits for it any more. */
class SharedCalls<T> {
  readonly #calls = new Map<string, SharedCall<T>>();

  async get(key: string, call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const shared = this.#calls.get(key) ?? this.#begin(key, call);
    shared.waiters += 1;
    const leave = onAbort(signal, () => {
      shared.waiters -= 1;
      if (shared.waiters > 0) return;
      if (this.#calls.get(key) === shared) this.#calls.delete(key);
      shared.controller.abort(signal.reason);
    });
    try {
      return await untilAborted(shared.answer, signal);
    } finally {
      leave();
    }
  }

  #begin(key: string, call: (signal: AbortSignal) => Promise<T>): SharedCall<T> {
    const controller = new AbortController();
    const answer = call(controller.signal);
    const shared: SharedCall<T> = { answer, controller, waiters: 0 };
    this.#calls.set(key, shared);
    const forget = (): void => {
      if (this.#calls.get(key) === shared) this.#calls.delete(key);
    };
    answer.then(forget, forget);
    return shared;
  }
}
