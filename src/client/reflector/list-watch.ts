import { isOlderVersion } from '../../api/json/resource-version.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ProblemFields, problemFields } from '../../base/problem.ts';
import type { ApiObject, ApiResource } from '../resources/api-resource.ts';
import { classifyApiError, type ErrorClass } from '../resources/error-class.ts';
import type { ResourceClient } from '../resources/resource-client.ts';
import type { SelectionOptions } from '../resources/resource-requests.ts';
import type { ReadEvent } from '../resources/watch-line.ts';
import { type EndedWatch, isAnswerTooLong, isLastingRefusal, isUnknownParameter, StaleListError } from './failures.ts';
import { listPages } from './list-pages.ts';
import { objectKeyOf } from './object-store.ts';
import type { ReceivedObjects } from './received-objects.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import type { CheckedReflectorOptions } from './reflector-options.ts';
import { type CompleteList, StreamPatience, WatchSession } from './watch-session.ts';

/** A full list, and what is known of how it was read. */
export interface ReadList<T> extends CompleteList<T> {
  /** When the request for it was made, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** True: it shows every write that was acknowledged before. */
  readonly isConsistent: boolean;
}

/** Where a {@link ListWatch} puts what it reads. */
export interface ListWatchHost<T> {
  /** The server was heard from. */
  observed(): void;
  /** What has failed works again, or has not failed. */
  works(): void;
  /** Throws a `StaleListError` for a list that shows an object older than it was. */
  list(list: ReadList<T>): void;
  /** The copy that is held of this object. */
  held(object: T): T | undefined;
  set(object: T): void;
  remove(namespace: string, name: string, last: T | undefined): void;
  /** `failing`: the failures in a row. */
  interrupted(error: unknown, delayMs: number, failing: Failing): void;
}

export interface ListWatchOptions<T extends ApiObject> extends Pick<CheckedReflectorOptions<T>, 'explainFailure'> {
  readonly resource: Pick<ApiResource<T>, 'resource'>;
  readonly client: ResourceClient<T>;
  readonly path: string;
  readonly selection: SelectionOptions;
  readonly plan: ReadPlan;
  readonly received: ReceivedObjects<T>;
  readonly host: ListWatchHost<T>;
  readonly metrics: ReflectorMetrics;
  readonly readEvent?: ReadEvent | undefined;
  readonly streamLists: boolean;
  readonly idleTimeoutMs: number;
  /** The least time after which the server is to end a watch; the most is twice that. */
  readonly watchTimeoutMs: number;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

interface WatchRequest {
  readonly resourceVersion: string | undefined;
  readonly sendInitialEvents?: true;
  readonly resourceVersionMatch?: 'NotOlderThan';
}

/** The fields of a line about a list or a watch that failed. */
interface FailureFields extends ProblemFields {
  readonly err: unknown;
  readonly errorClass: ErrorClass;
  readonly resource: string;
  readonly path: string;
}

/** A server that has refused a streamed list is not asked for another one for so long. */
const refusedStreamsMs = 3_600_000;
/** A watch that was not refused by then works. */
const refusedWithinMs = 5000;

/** The requests of a reflector, one after the other: a full list, then watches, then a list again where that is needed. */
export class ListWatch<T extends ApiObject> {
  readonly #options: ListWatchOptions<T>;
  /** In a row. A step that ends without an error, and brings nothing, is no end of an outage. */
  readonly #failures: FailureRun;
  /** The server has refused a watch, and none has worked since: a list that it answers does not change that. */
  #isWatchRefused = false;
  #resourceVersion: string | undefined;
  #streamsRefusedAt: number | undefined;

  constructor(options: ListWatchOptions<T>) {
    this.#options = options;
    const { path, clock, logger } = options;
    const told = { resource: options.resource.resource, path };
    this.#failures = new FailureRun(clock, (ended) => logger.info({ ...told, ...ended }, 'listing and watching work again'));
  }

  /** The last version that was reached. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Resolves once `signal` has aborted and no request is left. */
  async run(signal: AbortSignal): Promise<void> {
    const { host, clock, logger, path } = this.#options;
    let step: ListWatchStep['step'] = 'fill';
    while (!signal.aborted) {
      const next = await this.#perform(step, signal);
      if (signal.aborted) return;
      const { delayMs: retryInMs } = next;
      if (next.error === undefined) {
        logger.debug({ path, next: next.step, retryInMs }, 'a list or a watch has ended; the next request follows');
      } else {
        const failing = this.#failures.failed(next.error);
        logger.warn({ ...this.#failureFields(next.error, failing), retryInMs }, 'listing or watching failed');
        host.interrupted(next.error, retryInMs, failing);
      }
      if (retryInMs > 0) await sleep(clock, retryInMs, signal);
      step = next.step;
    }
  }

  #failureFields(err: unknown, failing: Failing): FailureFields {
    const { path, resource, explainFailure, clock } = this.#options;
    const told = { err, errorClass: classifyApiError(err), resource: resource.resource, path };
    return { ...told, ...problemFields({ ...explainFailure(err), ...failing }, clock.now()) };
  }

  #heard(from: 'list' | 'watch'): void {
    this.#options.host.observed();
    if (from === 'watch' || !this.#isWatchRefused) this.#works();
  }

  #works(): void {
    this.#isWatchRefused = false;
    this.#failures.succeeded();
    this.#options.host.works();
  }

  #perform(step: ListWatchStep['step'], signal: AbortSignal): Promise<ListWatchStep> {
    if (step === 'watch' && this.#resourceVersion !== undefined) return this.#watch(this.#resourceVersion, signal);
    return step === 'fill' && this.#streamsLists() ? this.#stream(signal) : this.#list(signal);
  }

  #streamsLists(): boolean {
    const { streamLists, clock } = this.#options;
    const refusedAt = this.#streamsRefusedAt;
    return streamLists && (refusedAt === undefined || clock.elapsed() - refusedAt >= refusedStreamsMs);
  }

  async #stream(signal: AbortSignal): Promise<ListWatchStep> {
    const { plan, clock, logger, path } = this.#options;
    const from = plan.streamFrom(this.#resourceVersion);
    logger.debug({ path, from: from ?? 'newest' }, 'a full list is asked for as a stream');
    const startedAt = clock.now();
    const patience = plan.streamPatienceMs === undefined ? undefined : new StreamPatience(clock, plan.streamPatienceMs, signal);
    const session = this.#session(undefined, (list) => {
      patience?.rest();
      this.#deliver({ ...list, startedAt, isConsistent: plan.isConsistent(from) });
      plan.listed({ from, isPaginated: false });
    });
    const request = { resourceVersion: from, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;
    const ended = await this.#failureOfWatch(request, session, patience?.signal ?? signal, patience);
    patience?.end();
    const failure = patience?.failure(path) ?? ended;
    if (!signal.aborted) this.#options.metrics.ended(failure);
    if (!session.isFilling) return this.#afterWatch(session, failure);
    if (isUnknownParameter(failure)) this.#streamsRefusedAt = clock.elapsed();
    if (!signal.aborted) logger.debug({ err: failure, path }, 'a streamed list failed');
    return plan.afterStream({ failure, lastedMs: session.lastedMs });
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<ListWatchStep> {
    const { logger, path } = this.#options;
    logger.debug({ path, from: resourceVersion }, 'a watch is asked for');
    const session = this.#session(resourceVersion, () => {});
    // a quiet one brings nothing for minutes
    const cancel = this.#isWatchRefused ? this.#options.clock.setTimer(() => this.#works(), refusedWithinMs) : undefined;
    const failure = await this.#failureOfWatch({ resourceVersion }, session, signal);
    cancel?.();
    if (!signal.aborted) this.#options.metrics.ended(failure);
    return this.#afterWatch(session, failure);
  }

  #afterWatch({ hasBroughtSomething, lastedMs }: WatchSession<T>, failure: unknown): ListWatchStep {
    if (!hasBroughtSomething && isLastingRefusal(failure)) this.#isWatchRefused = true;
    return this.#options.plan.afterWatch({ failure, hasBroughtSomething, lastedMs });
  }

  async #list(signal: AbortSignal): Promise<ListWatchStep> {
    const { plan } = this.#options;
    const from = plan.listFrom(this.#resourceVersion);
    const limit = plan.pageLimit(from);
    try {
      try {
        await this.#readList(from, limit, signal);
      } catch (error) {
        if (signal.aborted || !plan.listsAgainAfter(error)) throw error;
        const newFrom = plan.listFrom(this.#resourceVersion);
        await this.#readList(newFrom, isAnswerTooLong(error) ? plan.pageLimit(newFrom) : limit, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#options.metrics.ended(error);
      return plan.afterList(error);
    }
    return { step: 'watch', delayMs: 0 };
  }

  async #readList(from: string | undefined, limit: number | undefined, signal: AbortSignal): Promise<void> {
    const { client, selection, plan, received, clock, logger, path } = this.#options;
    logger.debug({ path, from: from ?? 'newest', limit }, 'a full list is asked for');
    const startedAt = clock.now();
    const failedKeys = new Set<string>();
    let latest: T | undefined;
    const receive = (raw: T): T | undefined => {
      const key = objectKeyOf(raw);
      const answer = received.receive(raw, latest);
      if (answer === 'failed') failedKeys.add(key);
      else failedKeys.delete(key);
      if (typeof answer !== 'object') return undefined;
      latest = answer.object;
      return latest;
    };
    const onPage = (): void => this.#heard('list');
    const onRestart = (): void => failedKeys.clear();
    const request = { ...selection, resourceVersion: from, limit, signal, receive, onPage, onRestart };
    const { objects, resourceVersion, isPaginated } = await listPages(client, request);
    if (signal.aborted) return;
    this.#deliver({ objects, resourceVersion, failedKeys, startedAt, isConsistent: plan.isConsistent(from) });
    plan.listed({ from, isPaginated });
  }

  #deliver(list: ReadList<T>): void {
    const { host, path, logger, metrics } = this.#options;
    const known = this.#resourceVersion;
    if (!list.isConsistent && known !== undefined && isOlderVersion(list.resourceVersion, known))
      throw new StaleListError(`GET ${path}: the list is of resourceVersion ${list.resourceVersion}, known is ${known}`);
    const { objects, resourceVersion } = list;
    logger.debug({ path, objects: objects.length, resourceVersion }, 'a full list has come');
    // the host tells of changes that the version includes
    this.#resourceVersion = list.resourceVersion;
    try {
      host.list(list);
      metrics.listed();
    } catch (error) {
      this.#resourceVersion = known;
      throw error;
    }
  }

  #session(from: string | undefined, list: (list: CompleteList<T>) => void): WatchSession<T> {
    const { path, received, host, clock } = this.#options;
    const reached = (resourceVersion: string): void => {
      this.#resourceVersion = resourceVersion;
    };
    const { held, set, remove } = host;
    return new WatchSession({ path, received, held, list, set, remove, reached, elapsed: () => clock.elapsed() }, from);
  }

  /** Resolves when the watch has ended: to undefined when the server ended it in good order. */
  async #failureOfWatch(
    request: WatchRequest,
    session: WatchSession<T>,
    signal: AbortSignal,
    patience?: StreamPatience,
  ): Promise<unknown> {
    const { client, selection, readEvent, idleTimeoutMs, watchTimeoutMs, random } = this.#options;
    const timeoutSeconds = Math.floor((watchTimeoutMs / 1000) * (1 + random()));
    const onEvent = (event: Parameters<typeof session.take>[0]): void => {
      this.#heard('watch');
      patience?.heard();
      session.take(event);
    };
    try {
      const watch = {
        ...selection,
        ...request,
        allowWatchBookmarks: true,
        timeoutSeconds,
        idleTimeoutMs,
        signal,
        readEvent,
        onEvent,
      };
      await client.watch(watch);
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

/** A watch after the list, or after the list part of a stream. */
export interface FinishedWatch extends EndedWatch {
  /** From the request, or from the end of the list part. */
  readonly lastedMs: number;
}

/** A streamed list that ended before its last object. */
export interface BrokenStream {
  /** What ended it; undefined when the server ended it in good order. */
  readonly failure: unknown;
  readonly lastedMs: number;
}

/** What comes next, after a pause. */
export interface ListWatchStep {
  /** `fill`: a full list, streamed where that works. `list`: an ordinary list. `watch`: go on from the last version. */
  readonly step: 'fill' | 'list' | 'watch';
  readonly delayMs: number;
  /** What the handlers are told of; undefined when nothing went wrong. */
  readonly error?: unknown;
}

/**
 * How a reflector reads: from which version, in which pages, and what follows when a request fails. `known` is the last
 * version that the reflector has reached; undefined before its first list.
 */
export interface ReadPlan {
  /** True: a list shows every write that was acknowledged before it began, also when that is less than was known before. */
  isConsistent(from: string | undefined): boolean;
  /** How long a streamed list may be silent, in milliseconds; undefined: as long as any watch. */
  readonly streamPatienceMs: number | undefined;
  /** The version of a streamed list; undefined: the newest. */
  streamFrom(known: string | undefined): string | undefined;
  /** The version of a list; undefined: the newest. */
  listFrom(known: string | undefined): string | undefined;
  /** The most objects of a page; undefined: all of them in one. */
  pageLimit(from: string | undefined): number | undefined;
  /** True: the list is to be asked for once more, at once, from where `listFrom` then says. */
  listsAgainAfter(failure: unknown): boolean;
  /** A full list was delivered. */
  listed(list: { readonly from: string | undefined; readonly isPaginated: boolean }): void;
  afterList(failure: unknown): ListWatchStep;
  afterStream(stream: BrokenStream): ListWatchStep;
  afterWatch(watch: FinishedWatch): ListWatchStep;
}
