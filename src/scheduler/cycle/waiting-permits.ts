import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { PluginRejection } from '../framework/status.ts';

interface WaitingPod {
  /** The plugins that have yet to allow it, each with the end of its time. */
  readonly timers: Map<string, CancelTimer>;
  readonly settle: (rejection: PluginRejection | undefined) => void;
}

/** The pods that have a node and wait until plugins allow them to be bound. Behaviour of framework/runtime/waiting_pods_map.go, v1.36.3. */
export class WaitingPermits {
  readonly #clock: Clock;
  readonly #pods = new Map<string, WaitingPod>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The uids of the pods, and which plugins have yet to allow each. */
  list(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#pods].map(([uid, { timers }]) => [uid, [...timers.keys()]]));
  }

  /** Resolves to undefined once each of these plugins has allowed the pod, and to a rejection once one has refused it or its time is over. */
  wait(uid: string, waits: ReadonlyMap<string, number>): Promise<PluginRejection | undefined> {
    const { promise, resolve } = Promise.withResolvers<PluginRejection | undefined>();
    const settle = (rejection: PluginRejection | undefined): void => {
      for (const cancel of pod.timers.values()) cancel();
      this.#pods.delete(uid);
      resolve(rejection);
    };
    const pod: WaitingPod = { timers: new Map(), settle };
    this.#pods.set(uid, pod);
    for (const [plugin, waitMs] of waits) {
      const text = `rejected due to timeout after waiting ${waitMs / 1000}s at plugin ${plugin}`;
      pod.timers.set(
        plugin,
        this.#clock.setTimer(() => this.reject(uid, plugin, text), waitMs),
      );
    }
    if (pod.timers.size === 0) settle(undefined);
    return promise;
  }

  /** False where the pod does not wait. */
  allow(uid: string, plugin: string): boolean {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return false;
    pod.timers.get(plugin)?.();
    pod.timers.delete(plugin);
    if (pod.timers.size === 0) pod.settle(undefined);
    return true;
  }

  /** False where the pod does not wait. */
  reject(uid: string, plugin: string, reason: string): boolean {
    const pod = this.#pods.get(uid);
    pod?.settle({ plugin, code: 'Unschedulable', reasons: [reason] });
    return pod !== undefined;
  }
}
