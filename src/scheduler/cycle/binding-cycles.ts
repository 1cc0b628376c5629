// Behaviour of pkg/scheduler/schedule_one.go bindingCycle, v1.36.3.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Plugin, PluginAt, PluginRejection } from '../framework/plugin.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { BindingProgress } from '../reports/pod-problem.ts';
import { type PlacedPod, refusedNode } from './scheduling-cycle.ts';
import type { StatusWrites } from './status-writes.ts';

/** The error of a binding that the scheduler gave up itself: it was stopped or suspended, or the pod was deleted. */
export class BindingGivenUp extends Error {
  override readonly name = 'BindingGivenUp';
}

/** The error of a binding that was taken back before it was sent, because a more important pod needs the place. The pod is tried again. */
export class BindingPreempted extends Error {
  override readonly name = 'BindingPreempted';
}

/** How the binding of a pod ended. */
export type BindingEnd =
  | { readonly isBound: true }
  /** `isRejected`: a plugin would not permit it. `mayBeBound`: the binding was sent, and its answer was not waited for. */
  | { readonly isBound: false; readonly isRejected: boolean; readonly mayBeBound?: boolean; readonly error: unknown };

export interface BindingCyclesOptions {
  readonly writes: StatusWrites;
  readonly clock: Clock;
  readonly time: SteadyTime;
  /** How many pods are bound at once. */
  readonly mostBindings: number;
  /** How long the binding of one pod may take, in milliseconds, and before that each plugin that says nothing else. */
  readonly bindTimeoutMs: number;
  /** Called once a pod is permitted: whatever fails from then on is an error, which no change in the cluster helps. */
  readonly onPermitted: (placed: PlacedPod) => void;
  /** Called once for each binding that has begun. */
  readonly onEnd: (placed: PlacedPod, end: BindingEnd) => void;
  /** Called when another binding may begin. */
  readonly onFree: () => void;
}

interface RunningBinding {
  readonly controller: AbortController;
  ended: Promise<void>;
  /** Since when it waits for permits, or after that is under way; by the time of the queue. */
  since: number;
  /** True once the plugins that bind are asked: from then on the pod may be on its node. */
  isSent: boolean;
  /** The plugin that does what it has to do before. */
  preBinder?: PluginAt<'preBind'> | undefined;
  readonly placed: PlacedPod;
}

/**
 * Binds pods beside the scheduling of others. Each waits until the plugins permit it and have done what they have to do before, then for a
 * free place, and is bound by its profile's plugins. A pod that waits for its volumes takes no place from another. A binding that takes too long, or that is given up, ends at once, whatever the plugins do.
 */
export class BindingCycles {
  readonly permits: WaitingPermits;
  readonly #options: BindingCyclesOptions;
  readonly #slots: Semaphore;
  /** By the pod's uid. */
  readonly #running = new Map<string, RunningBinding>();

  constructor(options: BindingCyclesOptions) {
    this.#options = options;
    this.#slots = new Semaphore(options.mostBindings);
    this.permits = new WaitingPermits(options.clock);
  }

  /** How many bindings have begun and not ended, those that wait for a permit included. */
  get size(): number {
    return this.#running.size;
  }

  /** True where another binding would have to wait. */
  get isFull(): boolean {
    return this.#slots.isFull;
  }

  has(uid: string): boolean {
    return this.#running.has(uid);
  }

  /** The uids of the pods whose binding has begun and not ended. */
  uids(): Iterable<string> {
    return this.#running.keys();
  }

  /** What a binding waits for, and since when; undefined for a pod without one. */
  progressOf(uid: string): BindingProgress | undefined {
    const binding = this.#running.get(uid);
    if (binding === undefined) return undefined;
    const { since, preBinder, placed } = binding;
    const waitsFor = preBinder && { plugin: preBinder.name, what: whatIsAwaited(preBinder, placed) };
    return { permits: this.permits.awaitedBy(uid), since, waitsFor };
  }

  begin(placed: PlacedPod, waits: ReadonlyMap<string, number>): void {
    const { podInfo, framework, nodeName, state } = placed;
    const { uid, pod } = podInfo;
    let preBinders: readonly PluginAt<'preBind'>[];
    try {
      preBinders = framework.binding.preBindersOf(state, podInfo, nodeName);
    } catch (error) {
      // the place is given back
      this.#options.onEnd(placed, { isBound: false, isRejected: false, error });
      return;
    }
    const since = this.#options.time.time();
    const binding: RunningBinding = { controller: new AbortController(), ended: Promise.resolve(), since, isSent: false, placed };
    this.#running.set(uid, binding);
    // what scales the cluster is to know which node a pod waits for
    if (waits.size > 0 || preBinders.length > 0) this.#options.writes.write(pod, { nominatedNodeName: nodeName });
    binding.ended = this.#run(placed, { waits, preBinders }, binding).then((end) => {
      this.#running.delete(uid);
      this.#options.onEnd(placed, end);
    });
  }

  /** Takes the node back from a pod whose binding has not been sent yet; it is to be tried again. False for any other pod. */
  preempt(uid: string): boolean {
    const binding = this.#running.get(uid);
    if (binding === undefined || binding.isSent) return false;
    this.#end(uid, binding, new BindingPreempted('the pod was preempted before it was bound'));
    return true;
  }

  /** Ends the binding of one pod. False where there is none. */
  abort(uid: string, reason: string): boolean {
    const binding = this.#running.get(uid);
    if (binding === undefined) return false;
    this.#end(uid, binding, new BindingGivenUp(reason));
    return true;
  }

  abortAll(reason: string): void {
    for (const uid of [...this.#running.keys()]) this.abort(uid, reason);
  }

  /** Resolves once no binding is under way. */
  async flush(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #end(uid: string, { controller }: RunningBinding, reason: Error): void {
    controller.abort(reason);
    this.permits.reject(uid, '', reason.message);
  }

  /** Never rejects. */
  async #run(placed: PlacedPod, { waits, preBinders }: BindingSteps, binding: RunningBinding): Promise<BindingEnd> {
    const { signal } = binding.controller;
    try {
      const refused = waits.size === 0 ? undefined : await this.permits.wait(placed.podInfo.uid, waits);
      if (refused !== undefined) return this.#refused(placed, refused, signal);
      if (waits.size > 0) binding.since = this.#options.time.time();
      this.#options.onPermitted(placed);
      for (const plugin of preBinders) {
        const rejection = await this.#preBind(plugin, placed, binding);
        if (rejection !== undefined) return this.#refused(placed, rejection, signal);
      }
      await this.#slots.run(() => this.#bind(placed, binding), signal).finally(() => this.#freed());
      return { isBound: true };
    } catch (error) {
      const { reason } = signal;
      const isOwn = reason instanceof BindingGivenUp || reason instanceof BindingPreempted;
      return { isBound: false, isRejected: false, mayBeBound: binding.isSent && signal.aborted, error: isOwn ? reason : error };
    }
  }

  #freed(): void {
    if (!this.isFull) this.#options.onFree();
  }

  #refused(placed: PlacedPod, refused: PluginRejection, { aborted, reason }: AbortSignal): BindingEnd {
    if (aborted) return { isBound: false, isRejected: false, error: reason };
    return { isBound: false, isRejected: true, error: refusedNode(placed, placed.nodeName, refused) };
  }

  async #preBind(plugin: PluginAt<'preBind'>, placed: PlacedPod, binding: RunningBinding): Promise<PluginRejection | undefined> {
    const { clock, bindTimeoutMs } = this.#options;
    const { controller } = binding;
    const { preBindTimeoutMs = bindTimeoutMs } = plugin;
    const tooLate = (): void => {
      const what = whatIsAwaited(plugin, placed) ?? 'what it does before a pod is bound';
      controller.abort(new Error(`${what} took longer than ${preBindTimeoutMs / 1000} s`));
    };
    const cancel = clock.setTimer(tooLate, preBindTimeoutMs);
    binding.preBinder = plugin;
    try {
      return await placed.framework.binding.preBind(plugin, placed, controller.signal);
    } finally {
      cancel();
      binding.preBinder = undefined;
    }
  }

  async #bind({ framework, state, podInfo, nodeName }: PlacedPod, binding: RunningBinding): Promise<void> {
    const { clock, bindTimeoutMs, writes } = this.#options;
    const { controller } = binding;
    const { signal } = controller;
    const tooLate = (): void => controller.abort(new Error(`the pod was not bound within ${bindTimeoutMs} ms`));
    const cancel = clock.setTimer(tooLate, bindTimeoutMs);
    try {
      // "not scheduled" must not be written over "scheduled"
      if (writes.has(podInfo.uid)) await untilAborted(writes.finish(podInfo.uid), signal);
      binding.isSent = true;
      const { extenders } = framework;
      if (extenders.size > 0 && (await extenders.bind(podInfo, nodeName, signal))) return;
      await framework.binding.bind(state, podInfo, nodeName, signal);
    } finally {
      cancel();
    }
  }
}

interface BindingSteps {
  /** The plugins that let it wait, with the milliseconds that each does at most. */
  readonly waits: ReadonlyMap<string, number>;
  readonly preBinders: readonly PluginAt<'preBind'>[];
}

/** Undefined where the plugin does not say, or fails to. */
function whatIsAwaited(plugin: Plugin, { state, podInfo, nodeName }: PlacedPod): string | undefined {
  const what: unknown = callGuarded(() => plugin.preBindWaitsFor?.(state, podInfo, nodeName), ignoreFailure);
  return typeof what === 'string' ? what : undefined;
}

interface WaitingPod {
  /** The plugins that have yet to allow it, each with the end of its time. */
  readonly timers: Map<string, CancelTimer>;
  readonly settle: (rejection: PluginRejection | undefined) => void;
}

/** The pods that have a node and wait until plugins allow them to be bound. Behaviour of framework/runtime/waiting_pods_map.go, v1.36.3. */
class WaitingPermits {
  readonly #clock: Clock;
  readonly #pods = new Map<string, WaitingPod>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The uids of the pods, and which plugins have yet to allow each. */
  list(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#pods].map(([uid, { timers }]) => [uid, [...timers.keys()]]));
  }

  /** The plugins that have yet to allow the pod; none for one that does not wait. */
  awaitedBy(uid: string): readonly string[] {
    return [...(this.#pods.get(uid)?.timers.keys() ?? [])];
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
