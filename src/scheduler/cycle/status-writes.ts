import type { Clock } from '../../seams/clock.ts';
import { sleep } from '../../seams/clock.ts';
import type { Logger } from '../../seams/logger.ts';
import type { WirePod } from '../../wire/types.ts';
import type { PodStatusChange, SchedulerClient } from '../framework/scheduler-client.ts';

interface Write {
  readonly pod: WirePod;
  readonly change: PodStatusChange;
}

/** So many writes are under way at once. */
const mostAtOnce = 16;
/** How long one may take, in milliseconds. */
const timeoutMs = 30_000;

/**
 * What the scheduler writes into the statuses of pods that it could not place. Of one pod there is one write at a time, and of
 * several that wait only the newest is written. Nobody waits for a write but the binding of the same pod: a status that says
 * "not scheduled" must not come after it.
 */
export class StatusWrites {
  readonly #client: Pick<SchedulerClient, 'patchStatus'>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting = new Map<string, Write>();
  /** By uid, the writes under way. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(client: Pick<SchedulerClient, 'patchStatus'>, clock: Clock, logger: Logger) {
    this.#client = client;
    this.#clock = clock;
    this.#logger = logger;
  }

  write(pod: WirePod, change: PodStatusChange): void {
    if (this.#stopping.signal.aborted) return;
    const uid = pod.metadata?.uid ?? '';
    const before = this.#waiting.get(uid);
    // what only the earlier one says is not lost
    this.#waiting.set(uid, { pod, change: { ...before?.change, ...change } });
    this.#begin();
  }

  /** Drops what waits for the pod, and resolves once the write under way has ended. */
  async finish(uid: string): Promise<void> {
    this.#waiting.delete(uid);
    await this.#writing.get(uid);
  }

  /** Drops what waits; the writes under way go on. */
  drop(): void {
    this.#waiting.clear();
  }

  /** How many writes wait or are under way. */
  get size(): number {
    return this.#waiting.size + this.#writing.size;
  }

  /** True where a write of the pod waits or is under way. */
  has(uid: string): boolean {
    return this.#waiting.has(uid) || this.#writing.has(uid);
  }

  /** Resolves once nothing waits and nothing is under way. */
  async flush(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing.values());
  }

  /** Drops what waits, and gives up what is under way. */
  async stop(): Promise<void> {
    this.#waiting.clear();
    this.#stopping.abort();
    await this.flush();
  }

  #begin(): void {
    for (const [uid, write] of this.#waiting) {
      if (this.#writing.size >= mostAtOnce) return;
      if (this.#writing.has(uid)) continue;
      this.#waiting.delete(uid);
      const written = this.#write(write).finally(() => {
        this.#writing.delete(uid);
        this.#begin();
      });
      this.#writing.set(uid, written);
    }
  }

  async #write({ pod, change }: Write): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, over.signal]);
    try {
      const limit = sleep(this.#clock, timeoutMs, signal).then(() => {
        if (!signal.aborted) throw new Error(`no answer within ${timeoutMs} ms`);
      });
      await Promise.race([this.#client.patchStatus(pod, change, signal), limit]);
    } catch (err) {
      const { namespace, name } = pod.metadata ?? {};
      if (!this.#stopping.signal.aborted) this.#logger.warn({ err, namespace, name }, 'the status of a pod could not be written');
    } finally {
      over.abort();
    }
  }
}
