import { BackoffError } from '../../../src/node/workers/backoff-error.ts';
import type { PodStatusFn, PodSyncer } from '../../../src/node/workers/pod-syncer.ts';
import type { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { CallPlan, RecordedCall, SyncerFunction } from './workers-case.ts';

/** A syncer that does what its plans say, and records its calls. Without a plan a call succeeds at once. */
export class PlannedSyncer {
  readonly #clock: FakeClock;
  readonly #startedAt: number;
  readonly #plans = new Map<string, CallPlan[]>();
  readonly #blocked = new Map<string, (() => void)[]>();
  #calls: RecordedCall[] = [];

  readonly podSyncer: PodSyncer = {
    syncPod: ({ updateType, pod, mirrorPod }, signal) => {
      const mirrorUID = mirrorPod?.metadata?.uid;
      const more = { updateType, version: pod.metadata?.labels?.v, ...(mirrorUID !== undefined && { mirrorUID }) };
      return this.#do('SyncPod', pod.metadata?.uid, more, signal);
    },
    syncTerminatingPod: async ({ pod, gracePeriodSeconds, podStatusFn }, signal) => {
      const version = pod.metadata?.labels?.v;
      const gracePeriod = gracePeriodSeconds === undefined ? {} : { gracePeriod: gracePeriodSeconds };
      const statusFn = reasonOf(podStatusFn);
      const more = { version, ...gracePeriod, ...(statusFn !== undefined && { statusFn }) };
      await this.#do('SyncTerminatingPod', pod.metadata?.uid, more, signal);
    },
    syncTerminatingRuntimePod: async ({ uid }, signal) => {
      await this.#do('SyncTerminatingRuntimePod', uid, {}, signal);
    },
    syncTerminatedPod: async ({ pod }, signal) => {
      await this.#do('SyncTerminatedPod', pod.metadata?.uid, { version: pod.metadata?.labels?.v }, signal);
    },
  };

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** Seconds since the case began. */
  at(): number {
    return (this.#clock.now() - this.#startedAt) / 1000;
  }

  plan(podUID: string, fn: SyncerFunction, plans: readonly CallPlan[]): void {
    const key = `${fn} ${podUID}`;
    this.#plans.set(key, [...(this.#plans.get(key) ?? []), ...plans]);
  }

  release(podUID: string): void {
    for (const release of this.#blocked.get(podUID) ?? []) release();
    this.#blocked.delete(podUID);
  }

  takeCalls(): readonly RecordedCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls.toSorted((a, b) => (a.podUID < b.podUID ? -1 : a.podUID > b.podUID ? 1 : 0));
  }

  async #do(fn: SyncerFunction, podUID = '', more: object, signal: AbortSignal): Promise<{ isTerminal: boolean }> {
    this.#calls.push({ event: 'start', fn, podUID, ...more, at: this.at() });
    const plan = this.#plans.get(`${fn} ${podUID}`)?.shift() ?? {};
    const failure = (await this.#wait(plan, podUID, signal)) ? canceled() : this.#failureOf(plan);
    const isCanceled = failure?.name === 'AbortError';
    const isTerminal = plan.terminal === true && fn === 'SyncPod' && !isCanceled;
    const result = isCanceled ? 'canceled' : failure !== undefined ? plan.error : isTerminal ? 'terminal' : 'ok';
    const both = failure !== undefined && isTerminal ? ' terminal' : '';
    this.#calls.push({ event: 'end', fn, podUID, result: `${result}${both}`, at: this.at() });
    if (failure !== undefined) throw failure;
    return { isTerminal };
  }

  /** Resolves to true when the signal has ended the wait. */
  async #wait({ delaySeconds = 0, block, ignoreCancel }: CallPlan, podUID: string, signal: AbortSignal): Promise<boolean> {
    const { promise: aborted, resolve: abort } = Promise.withResolvers<true>();
    if (!ignoreCancel) signal.addEventListener('abort', () => abort(true));
    if (signal.aborted && !ignoreCancel) abort(true);
    const isBlocked = block ? this.#nextRelease(podUID) : undefined;
    if (delaySeconds > 0) {
      const { promise, resolve } = Promise.withResolvers<false>();
      // as in Go, all timers of one instant fire before anything follows from one of them
      let cancel = this.#clock.setTimer(() => {
        cancel = this.#clock.setTimer(() => resolve(false), 0);
      }, delaySeconds * 1000);
      if (await Promise.race([aborted, promise])) {
        cancel();
        return true;
      }
    }
    if (isBlocked !== undefined && (await Promise.race([aborted, isBlocked]))) return true;
    return false;
  }

  #nextRelease(podUID: string): Promise<false> {
    const { promise, resolve } = Promise.withResolvers<false>();
    const waiting = this.#blocked.get(podUID) ?? [];
    waiting.push(() => resolve(false));
    this.#blocked.set(podUID, waiting);
    return promise;
  }

  #failureOf({ error, backoffSeconds = 0 }: CallPlan): Error | undefined {
    switch (error) {
      case undefined:
        return undefined;
      case 'network':
        return new Error('network is not ready: not yet');
      case 'canceled':
        return canceled();
      case 'backoff':
        return new BackoffError('crash loop', this.#clock.now() + backoffSeconds * 1000);
      default:
        return new Error(error);
    }
  }
}

function canceled(): Error {
  return new DOMException('canceled', 'AbortError');
}

function reasonOf(podStatusFn: PodStatusFn | undefined): string | undefined {
  const status: { reason?: string } = {};
  podStatusFn?.(status);
  return status.reason;
}
