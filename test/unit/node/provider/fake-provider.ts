import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import { podUIDOf } from '../../../../src/api/pod/pod-identity.ts';
import type { Clock } from '../../../../src/base/clock.ts';
import type { DeletePodCall, NotifyPods, PodProvider, ProviderCall } from '../../../../src/node/provider/pod-provider.ts';

export type Method = 'createPod' | 'updatePod' | 'deletePod' | 'getPodStatus' | 'getPods';
/** What the next call of a method does instead. It may call `act` to have the effect all the same. */
export type Interference = (act: () => unknown, call: ProviderCall) => unknown;

/** Runs pods in a map. A pod runs at once, and ends `endsAfterMs` after it was deleted, at the latest after its grace period. */
export class FakeProvider implements PodProvider {
  /** `METHOD NAME`, with the grace period of a delete; calls of getPodStatus are only counted. */
  readonly calls: string[] = [];
  readonly pods = new Map<string, { pod: Pod; status: PodStatus }>();
  readonly questions = new Map<string, number>();
  readonly signals: AbortSignal[] = [];
  /** What the next calls of a method do, for a pod's name or for `*`. */
  readonly interferences = new Map<string, Interference[]>();
  endsAfterMs = 0;
  /** The status of a pod that was created. */
  begin: (pod: Pod) => PodStatus = () => ({ phase: 'Running', podIP: '10.0.0.1' });
  /** What a pod says once it has ended; undefined: nothing is left of it. */
  end: ((pod: Pod) => PodStatus) | undefined;
  notify: NotifyPods | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  createPod(pod: Pod, call: ProviderCall): unknown {
    return this.#do('createPod', pod, call, () => {
      this.pods.set(podUIDOf(pod), { pod, status: this.begin(pod) });
    });
  }

  updatePod(pod: Pod, call: ProviderCall): unknown {
    return this.#do('updatePod', pod, call, () => {
      const { status } = this.pods.get(podUIDOf(pod)) ?? { status: {} };
      this.pods.set(podUIDOf(pod), { pod, status });
    });
  }

  deletePod(pod: Pod, call: DeletePodCall): unknown {
    const seconds = call.gracePeriodSeconds;
    return this.#do(
      'deletePod',
      pod,
      call,
      () => {
        const delayMs = Math.min(this.endsAfterMs, seconds * 1000);
        if (delayMs === 0) this.#end(pod);
        else this.#clock.setTimer(() => this.#end(pod), delayMs);
      },
      ` ${seconds}`,
    );
  }

  getPodStatus(pod: Pod, call: ProviderCall): Promise<PodStatus | undefined> {
    const name = pod.metadata?.name ?? '';
    this.questions.set(name, (this.questions.get(name) ?? 0) + 1);
    return this.#run('getPodStatus', name, call, () => this.pods.get(podUIDOf(pod))?.status) as Promise<PodStatus | undefined>;
  }

  getPods(call: ProviderCall): Promise<Pod[]> {
    return this.#run('getPods', '', call, () => Array.from(this.pods.values(), ({ pod }) => pod)) as Promise<Pod[]>;
  }

  /** The next call of the method, for this pod or for any, does this instead. */
  next(method: Method, name: string, ...interferences: Interference[]): void {
    this.interferences.set(`${method} ${name}`, interferences);
  }

  set(name: string, status: PodStatus): void {
    for (const entry of this.pods.values()) if (entry.pod.metadata?.name === name) entry.status = status;
  }

  lose(name: string): void {
    for (const [uid, { pod }] of this.pods) if (pod.metadata?.name === name) this.pods.delete(uid);
  }

  took(): string[] {
    return this.calls.splice(0);
  }

  #end(pod: Pod): void {
    const status = this.end?.(pod);
    if (status === undefined) this.pods.delete(podUIDOf(pod));
    else this.pods.set(podUIDOf(pod), { pod, status });
  }

  #do(method: Method, pod: Pod, call: ProviderCall, act: () => void, detail = ''): unknown {
    const name = pod.metadata?.name ?? '';
    this.calls.push(`${method} ${name}${detail}`);
    return this.#run(method, name, call, act);
  }

  #run(method: Method, name: string, call: ProviderCall, act: () => unknown): unknown {
    this.signals.push(call.signal);
    const key = [`${method} ${name}`, `${method} *`].find((each) => (this.interferences.get(each)?.length ?? 0) > 0);
    const interfere = key === undefined ? undefined : this.interferences.get(key)?.shift();
    return interfere === undefined ? act() : interfere(act, call);
  }
}
