import type { RunningPod, RuntimePodStatus, RuntimeStatusCache } from '../../../../../src/node.ts';
import type { Prng } from '../../../chaos/prng.ts';
import type { SimulatedClock } from '../../simulated-clock.ts';
import type { Life } from '../runtime/lives.ts';
import type { PodIdentity } from '../runtime/records.ts';
import type { RuntimeWeather } from '../runtime/runtime-weather.ts';
import type { ContainerRequest, SimulatedRuntime } from '../runtime/simulated-runtime.ts';
import { type Lifeline, never } from './lifeline.ts';

export interface RuntimePortParts {
  readonly clock: SimulatedClock;
  readonly runtime: SimulatedRuntime;
  readonly weather: Readonly<RuntimeWeather>;
  readonly prng: Prng;
  readonly lifeline: Lifeline;
  readonly count: (what: string) => void;
  /** A call for this pod (undefined: for all) fails, and may take until then. */
  readonly faultUntil: (podUID: string | undefined, untilMs: number) => void;
}

interface CallOptions {
  /** What the runtime has to do first. */
  readonly takesMs?: number;
  /** Called when the call ends because its signal aborts. */
  readonly heeded?: () => void;
  /** How long a call may go on that does not heed its signal. */
  readonly goesOnMs?: number;
}

/** One agent's way to the runtime: calls take their time, fail, hang, and do not always heed their signal. */
export class RuntimePort implements RuntimeStatusCache {
  readonly #parts: RuntimePortParts;

  constructor(parts: RuntimePortParts) {
    this.#parts = parts;
  }

  get(podUID: string): RuntimePodStatus {
    return this.#parts.runtime.podStatus(podUID);
  }

  getNewerThan(podUID: string, _time: number, signal: AbortSignal): Promise<RuntimePodStatus> {
    return this.podStatus(podUID, signal);
  }

  podStatus(podUID: string, signal: AbortSignal): Promise<RuntimePodStatus> {
    return this.#call('status', podUID, signal, () => this.#parts.runtime.podStatus(podUID));
  }

  getPods(signal: AbortSignal): Promise<readonly RunningPod[]> {
    return this.#call('list', undefined, signal, () => this.#parts.runtime.runningPods());
  }

  runSandbox(pod: PodIdentity, attempt: number, signal: AbortSignal): Promise<void> {
    return this.#call('run sandbox', pod.uid, signal, () => this.#parts.runtime.runSandbox(pod, attempt));
  }

  stopSandboxes(podUID: string, signal: AbortSignal): Promise<void> {
    return this.#call('stop sandbox', podUID, signal, () => this.#parts.runtime.stopSandboxes(podUID));
  }

  /** An image may have to be fetched first. The call names its sandbox, as a call of the runtime's API does. */
  startContainer(podUID: string, container: Omit<ContainerRequest, 'sandboxID'>, life: Life, signal: AbortSignal): Promise<void> {
    const { prng, runtime } = this.#parts;
    const request = { ...container, sandboxID: runtime.sandboxInUse(podUID) };
    const fetchMs = prng.chance(0.3) ? prng.between(100, 6000) : 0;
    return this.#call('start container', podUID, signal, () => runtime.startContainer(podUID, request, life), {
      takesMs: fetchMs,
    });
  }

  /** Resolves when the container has ended. */
  stopContainer(podUID: string, id: string, gracePeriodSeconds: number, signal: AbortSignal): Promise<void> {
    const { runtime, prng } = this.#parts;
    const isAbandoned = prng.chance(0.3);
    return this.#call('stop container', podUID, signal, () => runtime.stopContainer(id, gracePeriodSeconds), {
      heeded: () => {
        if (isAbandoned) runtime.abandonStop(id);
      },
      goesOnMs: gracePeriodSeconds * 1000,
    });
  }

  /** The uids of the pods of which nothing but records is left. */
  finishedPods(): string[] {
    return this.#parts.runtime.finishedPods();
  }

  forget(podUID: string, signal: AbortSignal): Promise<void> {
    return this.#call('forget', podUID, signal, () => this.#parts.runtime.forget(podUID));
  }

  async #call<T>(
    what: string,
    podUID: string | undefined,
    signal: AbortSignal,
    act: () => T | Promise<T>,
    { takesMs = 0, heeded, goesOnMs = 60_000 }: CallOptions = {},
  ): Promise<T> {
    const { lifeline, prng, clock } = this.#parts;
    signal.throwIfAborted();
    if (!lifeline.admits(`runtime: ${what}`)) return never();
    const heedsAfterMs = prng.chance(0.7) ? prng.between(0, 20) : undefined;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const abort = (): void => {
      if (heedsAfterMs === undefined) {
        if (!lifeline.isDead) this.#parts.faultUntil(podUID, clock.elapsedMs + goesOnMs);
        return;
      }
      heeded?.();
      clock.schedule(() => reject(signal.reason), heedsAfterMs);
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#carryOut(what, podUID, act, takesMs).then(resolve, reject);
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
      if (lifeline.isDead) await never();
    }
  }

  /** What the runtime makes of a call: it goes on when nobody waits for it any more. */
  async #carryOut<T>(what: string, podUID: string | undefined, act: () => T | Promise<T>, takesMs: number): Promise<T> {
    const { weather, prng, count, faultUntil, clock } = this.#parts;
    const fails = prng.chance(weather.failing);
    const hangMs = prng.chance(weather.hanging) ? prng.between(1000, 40_000) : 0;
    const wayMs = takesMs + prng.between(0, weather.latencyMs);
    if (fails || hangMs > 0 || weather.latencyMs > 100) faultUntil(podUID, clock.elapsedMs + wayMs + hangMs + weather.latencyMs);
    await this.#pause(wayMs);
    // what an agent that is gone has asked to end was on its way still; what it has asked to begin may come
    if (!this.#parts.lifeline.isAlive && what.startsWith('stop')) return never();
    const takesEffect = (!fails && hangMs === 0) || prng.chance(0.4);
    const effect = takesEffect ? Promise.resolve(act()) : undefined;
    effect?.catch(() => {});
    if (hangMs > 0) {
      count(`runtime hangs: ${what}`);
      await this.#pause(hangMs);
    }
    if (fails || effect === undefined) {
      count(`runtime fails: ${what}`);
      throw new Error(`the runtime fails: ${what}`);
    }
    const answer = await effect;
    await this.#pause(prng.between(0, weather.latencyMs));
    return answer;
  }

  #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#parts.clock.schedule(resolve, ms);
    return promise;
  }
}
