// Behaviour of GenerateExpandInUseVolumeFunc in
// pkg/volume/util/operationexecutor, and of the waits in pkg/util/goroutinemap/exponentialbackoff, v1.36.3.

import { goQuote } from '../../api/json/go-quote.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { PersistentVolumeRequest } from '../claims/persistent-volume-kind.ts';
import type { VolumeExpansion } from './volume-expansion.ts';
import { type CsiVolumeID, uniqueVolumeName } from './volume-ids.ts';

export interface MountedExpansionsOptions {
  readonly expansion: Pick<VolumeExpansion, 'isDue'>;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

interface Run {
  readonly podUID: string;
  readonly ending: AbortController;
  readonly settled: Promise<void>;
}

interface Wait {
  readonly tries: number;
  /** By the clock's elapsed time. */
  readonly endMs: number;
}

/** Those of the kubelet's between two tries. */
const waits = { firstMs: 500, longestMs: 122_000 };

/**
 * Has volumes grow that pods have: beside the syncs of the pods, which never wait for it. Of one volume one try is under way, and after one that has
 * not made it as large as it is to be, the next comes with the first sync after a wait.
 */
export class MountedExpansions {
  readonly #options: MountedExpansionsOptions;
  /** By the unique name of the volume. */
  readonly #runs = new Map<string, Run>();
  readonly #waits = new Map<string, Wait>();
  #isStopped = false;

  constructor(options: MountedExpansionsOptions) {
    this.#options = options;
  }

  /** Begins to make the volume of a pod larger, if that is due. `grow` gets the request with a signal of its own. */
  begin(request: PersistentVolumeRequest, id: CsiVolumeID, grow: (request: PersistentVolumeRequest) => Promise<void>): void {
    const { expansion, clock } = this.#options;
    const name = uniqueVolumeName(id);
    if (this.#isStopped || this.#runs.has(name) || !expansion.isDue(request, id)) return;
    if ((this.#waits.get(name)?.endMs ?? 0) > clock.elapsed()) return;
    const ending = new AbortController();
    // the sync that began it may be over long before
    const settled = this.#run({ ...request, signal: ending.signal }, id, grow).finally(() => this.#runs.delete(name));
    this.#runs.set(name, { podUID: podUIDOf(request.pod), ending, settled });
  }

  /** The pod is to end. Resolves once nothing is under way for it; what waits for its turn is given up. */
  async end(podUID: string): Promise<void> {
    const runs = [...this.#runs.values()].filter((run) => run.podUID === podUID);
    for (const { ending } of runs) ending.abort();
    await Promise.all(runs.map(({ settled }) => settled));
  }

  /** The node has the volume no more. */
  forget(id: CsiVolumeID): void {
    this.#waits.delete(uniqueVolumeName(id));
  }

  /** Begins nothing more. What a driver was asked for goes on, and nobody waits for that. */
  stop(): void {
    this.#isStopped = true;
    for (const { ending } of this.#runs.values()) ending.abort();
  }

  async #run(
    request: PersistentVolumeRequest,
    id: CsiVolumeID,
    grow: (request: PersistentVolumeRequest) => Promise<void>,
  ): Promise<void> {
    const { expansion, clock } = this.#options;
    const name = uniqueVolumeName(id);
    const tries = (this.#waits.get(name)?.tries ?? 0) + 1;
    const retryInMs = nthDelayMs(tries, waits);
    try {
      await grow(request);
    } catch (error) {
      if (!request.signal.aborted) this.#tellOfFailure(request, id, { error, tries, retryInMs });
    }
    if (expansion.isDue(request, id)) this.#waits.set(name, { tries, endMs: clock.elapsed() + retryInMs });
    else this.#waits.delete(name);
  }

  #tellOfFailure(
    { pod, persistentVolume }: PersistentVolumeRequest,
    { driverName: driver }: CsiVolumeID,
    { error: err, tries: attempt, retryInMs }: { readonly error: unknown; readonly tries: number; readonly retryInMs: number },
  ): void {
    const { eventRecorder, logger } = this.#options;
    const { name } = persistentVolume.metadata;
    const message = `NodeExpandVolume.NodeExpandVolume failed for volume ${goQuote(name)} : ${errorText(err)}`;
    eventRecorder.event(pod, 'Warning', 'VolumeResizeFailed', message);
    logger.warn(
      { err, name, driver, attempt, retryInMs, ...podFields(pod.metadata) },
      'a volume could not be made larger; the pod goes on with it as it is, and the first sync after the wait tries again',
    );
  }
}
