import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { type RetriedError, retriedError } from '../../client/resources/error-class.ts';
import type { PodSource } from '../sources/pod-source.ts';

/** What is known of one source of pods. It can be turned into JSON. */
export interface PodSourceReport {
  /** The name under which the source was added, such as `api`. */
  readonly name: string;
  /** True once a list of the source was merged. */
  readonly hasSent: boolean;
  /** True while a newer list of it waits until the consumer has made room. */
  readonly isWaiting: boolean;
  /** How many pods its last merged list has. */
  readonly pods: number;
  /** When it last heard from where its pods come from, in milliseconds since the epoch; undefined where it does not say. */
  readonly lastObservedAt: number | undefined;
  /** Why its pods could not be read last, while they were not read since; undefined where it does not say. */
  readonly lastError: RetriedError | undefined;
}

/** What the source says of itself. A source of somebody else's that throws, or says something else, says nothing. */
export function askSource(source: PodSource | undefined): Pick<PodSourceReport, 'lastObservedAt' | 'lastError'> {
  const observedAt: unknown = callGuarded(() => source?.lastObservedAt?.(), ignoreFailure);
  const failure: unknown = callGuarded(() => source?.lastFailure?.(), ignoreFailure);
  const lastError = isLastFailure(failure) ? retriedError(failure) : undefined;
  return { lastObservedAt: typeof observedAt === 'number' ? observedAt : undefined, lastError };
}

function isLastFailure(value: unknown): value is LastFailure {
  const { at, retryAt } = (callGuarded(() => ({ ...(value as object) }), ignoreFailure) ?? {}) as Partial<LastFailure>;
  return typeof at === 'number' && typeof retryAt === 'number';
}
