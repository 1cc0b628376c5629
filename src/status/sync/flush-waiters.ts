import { StatusManagerError } from '../../errors.ts';
import type { CancelTimer, Clock } from '../../seams/clock.ts';

export interface FlushRequest {
  /** uid to the version that must settle. */
  readonly versions: ReadonlyMap<string, number>;
  readonly timeoutMs: number;
  readonly isSettled: (podUID: string, version: number) => boolean;
  /** Called once for each pod, at the moment it counts as settled: a moment later it may be under way again. */
  readonly onSettled: (podUID: string) => void;
  /** Why a pod has not settled, in words. */
  readonly reason: (podUID: string) => string;
}

interface Waiter {
  readonly pending: Map<string, number>;
  readonly request: FlushRequest;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: CancelTimer;
}

const namedAtMost = 20;

/** The callers of `flush`, each with the pods it still waits for. */
export class FlushWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves once every version has settled; rejects with ERR_FLUSH_TIMEOUT, naming the pods and each one's reason. */
  wait(request: FlushRequest): Promise<void> {
    const pending = new Map<string, number>();
    for (const [podUID, version] of request.versions) {
      if (request.isSettled(podUID, version)) request.onSettled(podUID);
      else pending.set(podUID, version);
    }
    if (pending.size === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const cancelTimer = this.#clock.setTimer(() => this.#end(waiter, timeoutError(request, pending)), request.timeoutMs, {
        keepAlive: true,
      });
      const waiter: Waiter = { pending, request, resolve, reject, cancelTimer };
      this.#waiters.add(waiter);
    });
  }

  /** Something about this pod has changed: whoever waits for it looks again. */
  look(podUID: string): void {
    for (const waiter of this.#waiters) {
      const version = waiter.pending.get(podUID);
      if (version === undefined || !waiter.request.isSettled(podUID, version)) continue;
      waiter.pending.delete(podUID);
      waiter.request.onSettled(podUID);
      if (waiter.pending.size === 0) this.#end(waiter, undefined);
    }
  }

  rejectAll(error: Error): void {
    for (const waiter of this.#waiters) this.#end(waiter, error);
  }

  #end(waiter: Waiter, error: Error | undefined): void {
    if (!this.#waiters.delete(waiter)) return;
    waiter.cancelTimer();
    if (error === undefined) waiter.resolve();
    else waiter.reject(error);
  }
}

function timeoutError(request: FlushRequest, pending: ReadonlyMap<string, number>): StatusManagerError {
  const named = [...pending.keys()].slice(0, namedAtMost).map((podUID) => `${podUID} (${request.reason(podUID)})`);
  const more = pending.size > namedAtMost ? ` and ${pending.size - namedAtMost} more` : '';
  const message = `${pending.size} pod(s) had not settled after ${request.timeoutMs} ms: ${named.join(', ')}${more}`;
  return new StatusManagerError('ERR_FLUSH_TIMEOUT', message);
}
