import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import {
  integerOption,
  isPathSegment,
  longestTimerMs,
  numberOption,
  oneOfOption,
  optionOfType,
  requireHandlers,
  requireKnownOptions,
  requireMethods,
} from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import type { ClientConfig } from '../kubeconfig/client-config.ts';
import { failureInWords } from '../resources/api-problem.ts';
import { type ApiObject, type ApiResource, apiResource } from '../resources/api-resource.ts';
import type { ResourceTransport } from '../resources/resource-client.ts';
import type { ReadEvent } from '../resources/watch-line.ts';
import type { ReflectorHandlers } from './handler-calls.ts';
import type { ObjectStore } from './object-store.ts';
import type { Transform } from './received-objects.ts';

/** What is read, from where, and how. */
export interface ReflectorOptions<T extends ApiObject> {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with others; `stop()` leaves it open. */
  readonly transport?: ResourceTransport;
  /** What to read: one of `resources`, or an `apiResource` of your own. */
  readonly resource: ApiResource<T>;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** Default: every object. */
  readonly fieldSelector?: string | undefined;
  /** Default: every object. */
  readonly labelSelector?: string | undefined;
  /** What to fill. Default: a store of the reflector's own. */
  readonly store?: ObjectStore<T>;
  /**
   * Called with each object as it comes, its managedFields already removed. It may change the object in place or return
   * another one, of the same name, namespace, uid and resourceVersion; with undefined the object is left out, and counts as
   * deleted. When it throws, or changes one of these, the error is logged and the copy held before stays.
   */
  readonly transform?: Transform<T>;
  /**
   * Reads each event of the watch in JSON.parse's place, so that parts of a large object that `transform` would drop are never made.
   * When it throws, the watch ends as one that brought no JSON.
   */
  readonly readEvent?: ReadEvent;
  /**
   * What is equal in two objects is kept once: in two versions of one, and in neighbours of a list. Ten thousand pods then
   * take half the memory or less. Shared parts are frozen. Default true.
   */
  readonly shareEqualParts?: boolean;
  /** Told of each change, after the store shows it. */
  readonly handlers?: ReflectorHandlers<T>;
  /** Asks for full lists as streams, and for ordinary lists where the server has none. Default true. */
  readonly streamLists?: boolean;
  /**
   * `latest`, the default: each full list is a consistent read, and the truth, also when it is older than what was known.
   * `cache`: as client-go's reflector, the first list is what the server has in its cache, later ones are not older than what
   * is known.
   */
  readonly listFrom?: 'latest' | 'cache';
  /** The most objects of a page. Default 500, and with `cache` as client-go: no limit for a list that names a version. */
  readonly pageSize?: number;
  /** A watch that brings nothing for this long counts as dead. Default 150 000: the first bookmark of a quiet watch takes the apiserver two minutes. */
  readonly idleTimeoutMs?: number;
  /** The server is asked to end each watch after this long at least, and twice as long at most. Default 300 000. */
  readonly watchTimeoutMs?: number;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** What a failure means to whoever reads the log: a word for it, and what would help. Default: what is said of an agent. */
  readonly explainFailure?: (error: unknown) => { readonly kind: string; readonly help?: string | undefined };
  /** Gets what `metricDefinitions` lists for the part Reflector. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
  /** What the metrics call this reflector: needed where several of one resource share a sink. Default: the resource's name in the path, such as `pods`. */
  readonly name?: string;
}

type WithDefault =
  | 'shareEqualParts'
  | 'handlers'
  | 'streamLists'
  | 'listFrom'
  | 'idleTimeoutMs'
  | 'watchTimeoutMs'
  | 'random'
  | 'explainFailure'
  | 'name';

/** The options, checked and complete. `kubeConfig` is left out where there is a transport. */
export type CheckedReflectorOptions<T extends ApiObject> = Omit<ReflectorOptions<T>, 'metrics' | 'logger' | 'clock'> &
  Required<Pick<ReflectorOptions<T>, WithDefault>> & {
    readonly metrics: Metrics;
    readonly logger: Logger;
    readonly clock: SteadyClock;
  };

const knownOptions = [
  ...['kubeConfig', 'transport', 'resource', 'namespace', 'fieldSelector', 'labelSelector', 'store', 'transform', 'readEvent'],
  ...['shareEqualParts', 'handlers'],
  ...['streamLists', 'listFrom', 'pageSize', 'idleTimeoutMs', 'watchTimeoutMs', 'random', 'clock', 'logger'],
  ...['explainFailure', 'metrics', 'name'],
];
const handlerNames = ['added', 'updated', 'deleted', 'synced', 'interrupted'] as const;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedOptions<T extends ApiObject>(options: ReflectorOptions<T>): CheckedReflectorOptions<T> {
  requireKnownOptions('options', options, knownOptions);
  const { kubeConfig, ...rest } = options;
  const { transport } = options;
  if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
  else if (kubeConfig === undefined) throw invalidOption('kubeConfig', 'given, where `transport` is not', kubeConfig);
  const { handlers = {}, streamLists = true, listFrom = 'latest', idleTimeoutMs = 150_000, watchTimeoutMs = 300_000 } = options;
  const { random = Math.random, clock = systemClock, logger, store, transform, readEvent, pageSize } = options;
  const { shareEqualParts = true, metrics, explainFailure = failureInWords } = options;
  checkSelection(options);
  const { name = options.resource.resource } = options;
  if (typeof name !== 'string' || name === '') throw invalidOption('name', 'a non-empty string', name);
  if (store !== undefined) requireMethods('store', store, ['get', 'list', 'set', 'delete', 'replace']);
  if (transform !== undefined) optionOfType('transform', transform, 'function');
  if (readEvent !== undefined) optionOfType('readEvent', readEvent, 'function');
  requireHandlers(handlers, handlerNames);
  if (pageSize !== undefined) integerOption('pageSize', pageSize, 1);
  numberOption('idleTimeoutMs', idleTimeoutMs, 1000, longestTimerMs);
  numberOption('watchTimeoutMs', watchTimeoutMs, 1000, longestTimerMs);
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    ...rest,
    ...(transport === undefined && { kubeConfig }),
    shareEqualParts: optionOfType('shareEqualParts', shareEqualParts, 'boolean'),
    handlers,
    streamLists: optionOfType('streamLists', streamLists, 'boolean'),
    listFrom: oneOfOption('listFrom', listFrom, ['latest', 'cache']),
    idleTimeoutMs,
    watchTimeoutMs,
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    explainFailure: guardedWords(optionOfType('explainFailure', explainFailure, 'function')),
    metrics: metricsOption(metrics),
    name,
  };
}

type FailureWords = Required<ReflectorOptions<ApiObject>>['explainFailure'];

/** What a function of the caller's says. Where it throws, or says nothing, what is said of an agent. */
function guardedWords(explain: FailureWords): FailureWords {
  return (error) => callGuarded(() => explain(error), ignoreFailure) ?? failureInWords(error);
}

function checkSelection<T extends ApiObject>({ resource, namespace, fieldSelector, labelSelector }: ReflectorOptions<T>): void {
  if (typeof resource !== 'object' || resource === null) throw invalidOption('resource', 'an ApiResource', resource);
  // throws for a member that is missing or of another type
  apiResource(resource);
  if (namespace !== undefined && !isPathSegment(namespace))
    throw invalidOption('namespace', 'the name of a namespace', namespace);
  for (const [name, selector] of Object.entries({ fieldSelector, labelSelector })) {
    if (selector !== undefined && typeof selector !== 'string') throw invalidOption(name, 'a text', selector);
  }
}
