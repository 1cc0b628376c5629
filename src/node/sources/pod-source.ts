import type { Pod } from '../../api/json/types.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';

/**
 * Takes the full list of a source's pods, and takes the place of the list before. Never throws and never waits. A pod that was
 * sent must not be changed afterwards: one that has changed is another object, and the same object says that nothing has.
 */
export type SendPods = (pods: readonly Pod[]) => void;

/**
 * Where pods come from: a file, a URL, an apiserver, or the embedder. A source sends its full list at its start, once it knows
 * it, and again whenever the list has changed; the same list again does no harm.
 */
export interface PodSource {
  /** Called once. A promise that it returns is not waited for; what it rejects with is logged. */
  start(send: SendPods): unknown;
  /** Called once, after `start`. When it has settled, `send` is called no more. */
  stop(): unknown;
  /** When the source last heard from where its pods come from, in milliseconds since the epoch; undefined before the first time. */
  lastObservedAt?(): number | undefined;
  /** Why the pods could not be read last; undefined once they were read again, and before any failure. */
  lastFailure?(): LastFailure | undefined;
}
