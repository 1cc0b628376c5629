import { errorText } from '../../base/errors.ts';
import type { WaitingReason } from '../../node/pod-status/get-phase.ts';
import { BackoffError } from '../../node/workers/backoff-error.ts';

/** A container could not be started. `reason` and `message` are what its status says while it waits. */
export class ContainerStartError extends Error {
  /** One word, such as `RunContainerError`. */
  readonly reason: string;
  /** When the next try is due, in milliseconds since the epoch; undefined where nobody says. */
  readonly until: number | undefined;

  constructor(reason: string, message: string, options: { readonly until?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ContainerStartError';
    this.reason = reason;
    this.until = options.until;
  }
}

/** The same error with a reason: its own where it has one, else `reason`. */
export function asStartError(error: unknown, reason: string): ContainerStartError {
  if (error instanceof ContainerStartError) return error;
  const own = typeof error === 'object' && error !== null ? (error as { reason?: unknown; until?: unknown }) : {};
  return new ContainerStartError(typeof own.reason === 'string' && own.reason !== '' ? own.reason : reason, errorText(error), {
    until: typeof own.until === 'number' ? own.until : undefined,
    cause: error,
  });
}

/**
 * One error for all that failed in a sync: with the earliest time at which something is due again, where all that failed says
 * when.
 */
export function syncFailure(failures: readonly ContainerStartError[]): Error {
  const message = failures.map((failure) => `${failure.reason}: ${failure.message}`).join('; ');
  const times = failures.map(({ until }) => until);
  if (times.every((until) => until !== undefined)) return new BackoffError(message, Math.min(...times), { cause: failures[0] });
  return new Error(message, { cause: failures[0] });
}

/** Why containers could not be started last, by pod and container. */
export class StartFailures {
  readonly #pods = new Map<string, Map<string, WaitingReason>>();

  set(podUID: string, containerName: string, { reason, message }: WaitingReason): void {
    let ofPod = this.#pods.get(podUID);
    if (ofPod === undefined) {
      ofPod = new Map();
      this.#pods.set(podUID, ofPod);
    }
    ofPod.set(containerName, { reason, message });
  }

  clear(podUID: string, containerName: string): void {
    this.#pods.get(podUID)?.delete(containerName);
  }

  /** The reasons of one pod; undefined where none of its last starts has failed. */
  of(podUID: string): ReadonlyMap<string, WaitingReason> | undefined {
    return this.#pods.get(podUID);
  }

  forget(podUID: string): void {
    this.#pods.delete(podUID);
  }
}
