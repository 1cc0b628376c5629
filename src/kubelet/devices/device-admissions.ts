import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { DeviceAllocator, DeviceRequest } from './device-allocator.ts';

/** Why a pod gets no devices, as its status says it. */
export interface DeviceRefusal {
  readonly reason: string;
  readonly message: string;
}

/** What is known of the devices that a new pod is to get: `until` settles when there is more to say. */
export type DeviceAnswer =
  | { readonly state: 'given' }
  | { readonly state: 'refused'; readonly refusal: DeviceRefusal }
  | { readonly state: 'asked'; readonly until: Promise<unknown>; readonly message: string };

export interface DeviceAdmissionsOptions {
  readonly allocator: Pick<DeviceAllocator, 'resourcesOf' | 'allocatePod'>;
  /** False: pods may be those of an earlier agent, and run. */
  readonly sourcesReady: () => boolean;
  /** True where a container of the pod runs. Waits while the runtime does not say. */
  readonly runs: (podUID: string, signal: AbortSignal) => Promise<boolean>;
}

interface Asked {
  readonly resources: readonly string[];
  readonly ending: AbortController;
  readonly until: Promise<unknown>;
  /** Undefined until it is known. */
  answer: { readonly refusal: DeviceRefusal | undefined } | undefined;
}

/**
 * Has new pods given their devices, each on its own. The sync loop asks, and asks again when there is an answer: it never waits for
 * a plugin. Nothing is kept of a pod that asks for no devices.
 */
export class DeviceAdmissions {
  readonly #options: DeviceAdmissionsOptions;
  readonly #stopping = new AbortController();
  readonly #asked = new Map<string, Asked>();

  constructor(options: DeviceAdmissionsOptions) {
    this.#options = options;
  }

  /** Has the pod given its devices, when it is asked for the first time; gives the answer once. */
  admit(pod: Pod): DeviceAnswer {
    const podUID = podUIDOf(pod);
    const asked = this.#asked.get(podUID);
    if (asked === undefined) {
      const resources = this.#options.allocator.resourcesOf(pod);
      if (resources.length === 0 || this.#stopping.signal.aborted) return { state: 'given' };
      return this.#waits(this.#ask(pod, resources));
    }
    if (asked.answer === undefined) return this.#waits(asked);
    this.#asked.delete(podUID);
    const { refusal } = asked.answer;
    return refusal === undefined ? { state: 'given' } : { state: 'refused', refusal };
  }

  /** Gives up what is asked for pods that are gone. */
  retain(known: ReadonlySet<string>): void {
    for (const [podUID, { ending }] of this.#asked) {
      if (known.has(podUID)) continue;
      this.#asked.delete(podUID);
      ending.abort(new Error('the pod is gone'));
    }
  }

  /** Gives up all. Resolves once nothing is asked any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the agent stops'));
    await Promise.all(Array.from(this.#asked.values(), ({ until }) => until));
  }

  #waits({ until, resources }: Asked): DeviceAnswer {
    return { state: 'asked', until, message: `the device plugin of ${resources.join(', ')} has not given its devices yet` };
  }

  #ask(pod: Pod, resources: readonly string[]): Asked {
    const podUID = podUIDOf(pod);
    const ending = new AbortController();
    const until = this.#allocate(pod, ending.signal, (refusal) => {
      asked.answer = { refusal };
    });
    const asked: Asked = { resources, ending, until, answer: undefined };
    this.#asked.set(podUID, asked);
    return asked;
  }

  /** Never rejects. */
  async #allocate(pod: Pod, ending: AbortSignal, answer: (refusal: DeviceRefusal | undefined) => void): Promise<void> {
    const { allocator, sourcesReady, runs } = this.#options;
    const isRestart = !sourcesReady();
    const either = new LinkedAbort(ending, this.#stopping.signal);
    try {
      const request: DeviceRequest = { pod, isRestart, runs: isRestart && (await runs(podUIDOf(pod), either.signal)) };
      await allocator.allocatePod(request, either.signal);
      answer(undefined);
    } catch (error) {
      const message = `Allocate failed due to ${errorText(error)}, which is unexpected`;
      if (!either.signal.aborted) answer({ reason: 'UnexpectedAdmissionError', message });
    } finally {
      either.release();
    }
  }
}
