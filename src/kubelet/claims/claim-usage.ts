// Behaviour of pkg/kubelet/server/stats/volume_stat_calculator.go and of pkg/volume/metrics_statfs.go, v1.36.3.

import type { CancelTimer, Clock, SteadyClock } from '../../base/clock.ts';
import { LinkedAbort, settlesWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import type { MountedVolume } from '../volumes/pod-folder.ts';
import type { BoundClaim } from './claim-reader.ts';
import type { PersistentVolumeKind, VolumeUsage } from './persistent-volume-kind.ts';

/** What a claimed volume of a pod takes. */
export interface ClaimedUsage extends VolumeUsage {
  /** The volume's name in the pod's spec. */
  readonly name: string;
  readonly claim: { readonly name: string; readonly namespace: string };
  /** When it was measured, in milliseconds since the epoch. */
  readonly at: number;
}

/** A claimed volume that a pod has. */
export interface MeasuredVolume {
  readonly bound: BoundClaim;
  readonly mounted: MountedVolume;
  readonly kind: PersistentVolumeKind;
}

interface Measured {
  usage?: ClaimedUsage | undefined;
  /** By the clock's elapsed time. */
  begunMs: number;
  /** While it goes on. */
  work?: Promise<void> | undefined;
}

/** A volume is measured at most so often, and an answer waits so long for it. */
const leastRestMs = 60_000;
const longestWaitMs = 1000;
const answerLimitMs = 10_000;

/** How full claimed volumes are. One that does not answer is asked by one call at a time, and delays nobody. */
export class ClaimUsages {
  readonly #clock: SteadyClock;
  readonly #measured = new WeakMap<MountedVolume, Measured>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** Of those that have been measured, the last values. */
  async of(volumes: readonly MeasuredVolume[]): Promise<readonly ClaimedUsage[]> {
    const all = volumes.map((volume) => this.#measure(volume));
    const work = all.flatMap(({ work }) => work ?? []);
    if (work.length > 0) await settlesWithin(Promise.all(work), { clock: this.#clock, timeoutMs: longestWaitMs });
    return all.flatMap(({ usage }) => usage ?? []);
  }

  #measure(volume: MeasuredVolume): Measured {
    const { bound, mounted, kind } = volume;
    const now = this.#clock.elapsed();
    const known = this.#measured.get(mounted) ?? { begunMs: Number.NEGATIVE_INFINITY };
    this.#measured.set(mounted, known);
    const { measure } = kind;
    if (measure === undefined || known.work !== undefined || now - known.begunMs < leastRestMs) return known;
    known.begunMs = now;
    const { name = '', namespace = '' } = bound.claim.metadata ?? {};
    const measured = async (): Promise<void> => {
      const usage = await measure.call(kind, { ...bound, mounted }).catch(() => undefined);
      known.usage = usage && { ...usage, name: mounted.name, claim: { name, namespace }, at: this.#clock.now() };
      known.work = undefined;
    };
    known.work = measured();
    return known;
  }
}

/** The time that a call has which asks a file system. It ends 10 s after the call was made, or has begun to ask. */
export interface AnswerTime {
  /** Nobody asks the file system yet: where the time ends so, the call rejects with `why`. */
  waits(why: Error): void;
  /** The file system is asked from now on. */
  begins(): void;
}

/** Makes the call that asks a file system, and gives it up after 10 s in which it asks, or in which it waits to ask. */
export async function answerInTime<T>(
  ask: (signal: AbortSignal, time: AnswerTime) => Promise<T>,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const own = new LinkedAbort(signal);
  const tooLong = new Error(`it took longer than ${answerLimitMs / 1000} s`);
  let late = tooLong;
  const limit = (): CancelTimer => clock.setTimer(() => own.abort(late), answerLimitMs, { keepAlive: true });
  let cancel = limit();
  const waits = (why: Error): void => {
    late = why;
  };
  const begins = (): void => {
    cancel();
    late = tooLong;
    if (!own.signal.aborted) cancel = limit();
  };
  try {
    return await untilAborted(ask(own.signal, { waits, begins }), own.signal);
  } finally {
    own.release();
    own.abort(new Error('the file system is asked no longer'));
    cancel();
  }
}
