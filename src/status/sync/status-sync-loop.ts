import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import type { BoundedChannel } from '../../base/concurrency/bounded-channel.ts';
import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { PodManager } from '../pods/pod-manager.ts';
import type { PodStatusReader } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiCopies } from './api-copies.ts';
import { orphanedUIDs } from './look.ts';
import type { StaleReads } from './pod-source-view.ts';
import { isWaitOnCopy } from './sync-context.ts';
import type { SyncRecords } from './sync-records.ts';
import type { SyncWorker } from './sync-worker.ts';

/** Pods looked at in one go; then the event loop gets its turn. */
const sliceSize = 200;

export interface StatusSyncLoopOptions {
  readonly worker: SyncWorker;
  readonly records: SyncRecords;
  readonly podStatusChannel: BoundedChannel<string>;
  readonly podManager: PodManager;
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  readonly copies: ApiCopies;
  readonly staleReads: StaleReads;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly syncPeriodMs: number;
}

/**
 * Gives the worker its work: hints from the channel, a batch over all pods every `syncPeriodMs`, and the changes that the pod
 * manager tells of. The batch finds everything, even when every hint was lost.
 */
export class StatusSyncLoop {
  readonly #options: StatusSyncLoopOptions;
  /** Pods with a change that the pod manager has told, and that were not looked at since. */
  readonly #changed = new FifoSet<string>();
  #looksAtChanged = false;
  #running = false;
  #batch: Promise<void> | undefined;
  #cancelTick: CancelTimer | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: StatusSyncLoopOptions) {
    this.#options = options;
  }

  start(): void {
    const { podManager, logger, staleReads } = this.#options;
    this.#running = true;
    staleReads.start();
    this.#armTick();
    this.#receive().catch((err: unknown) => logger.error({ err }, 'the sync loop no longer hears of new versions'));
    const failed = (err: unknown): void =>
      logger.error({ err }, 'the pod manager takes no subscription; each batch looks instead');
    this.#unsubscribe = callGuarded(() => podManager.subscribe?.((podUID) => this.#noteChange(podUID)), failed);
  }

  /** Resolves when no batch is under way. */
  async stop(): Promise<void> {
    const { podStatusChannel, logger } = this.#options;
    this.#running = false;
    this.#cancelTick?.();
    podStatusChannel.close();
    const unsubscribe: unknown = this.#unsubscribe;
    if (typeof unsubscribe === 'function') {
      callGuarded(
        () => unsubscribe(),
        (err) => logger.warn({ err }, 'the subscription to the pod manager could not be ended'),
      );
    }
    await this.#batch;
  }

  /** One look at every pod; in slices, so that the event loop is never held for long. */
  async syncBatch(): Promise<void> {
    const { worker, podStatuses, staleReads, clock, logger, metrics } = this.#options;
    const startedAt = clock.elapsed();
    worker.beginBatch();
    const failed = (err: unknown): void => logger.error({ err }, 'what is left of dropped pods stays until the next batch');
    callGuarded(() => this.#dropOrphans(), failed);
    const podUIDs = podStatuses.podUIDs();
    for (let i = 0; i < podUIDs.length; i++) {
      if (i > 0 && i % sliceSize === 0) {
        worker.pump();
        await nextTurn();
        if (!this.#running) return;
      }
      worker.look(podUIDs[i] ?? '');
    }
    for (const podUID of staleReads.next(podUIDs)) this.#readStale(podUID);
    worker.pump();
    metrics.observe('pod_status_manager_batch_duration_seconds', (clock.elapsed() - startedAt) / 1000);
  }

  /** Drops what is known of API pods that belong to no cached pod any more. */
  #dropOrphans(): void {
    const { records, copies, agent, podStatuses } = this.#options;
    records.tidyUp();
    for (const apiUID of orphanedUIDs(agent, podStatuses, records.apiStatusVersions.uids())) records.dropVersion(apiUID);
    for (const apiUID of orphanedUIDs(agent, podStatuses, copies.apiUIDs())) copies.forget(apiUID);
  }

  async #receive(): Promise<void> {
    const { podStatusChannel: channel, podStatuses, worker } = this.#options;
    while (await channel.readable()) {
      await this.#hint(received(channel));
      if (channel.takeOverflow()) await this.#hint(podStatuses.podUIDs());
      worker.pump();
    }
  }

  /** In slices, as a batch: there may be as many hints as pods. */
  async #hint(podUIDs: Iterable<string>): Promise<void> {
    const { worker } = this.#options;
    let hints = 0;
    for (const podUID of podUIDs) {
      worker.hint(podUID);
      hints += 1;
      if (hints % sliceSize !== 0) continue;
      worker.pump();
      await nextTurn();
      if (!this.#running) return;
    }
  }

  #armTick(): void {
    const { clock, logger, syncPeriodMs } = this.#options;
    this.#cancelTick = clock.setTimer(() => {
      if (!this.#running) return;
      this.#armTick();
      this.#batch ??= this.syncBatch()
        .catch((err: unknown) => logger.error({ err }, 'a batch failed'))
        .finally(() => {
          this.#batch = undefined;
        });
    }, syncPeriodMs);
  }

  /** A pod that waits on another copy is read, too: it learns of that copy in no other way. */
  #readStale(podUID: string): void {
    const { worker, records } = this.#options;
    const state = records.state(podUID);
    if (state?.underWay !== undefined || (state?.wait !== undefined && !isWaitOnCopy(state.wait))) return;
    worker.read(podUID);
  }

  /** The pod manager is in the middle of its own work: nothing is looked at before the next turn of the event loop. */
  #noteChange(podUID: string): void {
    if (!this.#running || typeof podUID !== 'string') return;
    this.#changed.add(podUID);
    if (this.#looksAtChanged) return;
    this.#looksAtChanged = true;
    this.#lookAtChanged().catch((err: unknown) =>
      this.#options.logger.error({ err }, 'changes of the pod manager were not looked at'),
    );
  }

  async #lookAtChanged(): Promise<void> {
    const { worker } = this.#options;
    try {
      do {
        await nextTurn();
        for (let i = 0; i < sliceSize && this.#running; i++) {
          const podUID = this.#changed.take();
          if (podUID === undefined) break;
          worker.lookAtChange(podUID);
        }
        worker.pump();
      } while (this.#running && this.#changed.size > 0);
    } finally {
      // with no `await` since the last look at `#changed`: a change told from now on begins another round
      this.#looksAtChanged = false;
    }
  }
}

function* received(channel: BoundedChannel<string>): Generator<string> {
  for (let podUID = channel.tryReceive(); podUID !== undefined; podUID = channel.tryReceive()) yield podUID;
}
