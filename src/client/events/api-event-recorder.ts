import type { CoreV1Event, V1ObjectReference } from '@kubernetes/client-node';
import { formatTime } from '../../api/json/time.ts';
import type { Pod, Wire } from '../../api/json/types.ts';
import { objectFields } from '../../api/pod/pod-log-fields.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { backoffMs } from '../../base/concurrency/backoff.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import { TokenBucket } from '../../base/concurrency/rate-limiter.ts';
import type { Failing } from '../../base/failure-run.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { safeRandom } from '../../base/random.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { resources } from '../resources/api-resource.ts';
import { askedWaitMs, classifyApiError, readApiFailure } from '../resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../resources/resource-client.ts';
import { EventFailures, eventsProblem, isOfGoneNamespace } from './event-failures.ts';
import { type EventRecorder, type EventType, podObjectReference } from './event-recorder.ts';
import { EventSender, eventRetryMs, mostEventTries } from './event-sender.ts';

/** Where events go, and who writes them. `transport` and `nodeName` are needed. */
export interface ApiEventRecorderOptions {
  /** Reaches the apiserver, such as a `KubeTransport`. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** The node that the events come from. */
  readonly nodeName: string;
  /** Who writes the events. Default `pod-status-manager`. */
  readonly component?: string;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

/** What is kept of an event that waits: not its object, which may be gone and large. */
interface WaitingEvent {
  /** Equal for events that say the same. */
  readonly key: string;
  readonly involvedObject: Wire<V1ObjectReference>;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly at: string;
}

/** What is kept of an event that the apiserver has. */
type WrittenEvent = { readonly name: string; readonly firstTimestamp: string };

/** So many events wait; one more is dropped. Events of nodes may take as many places more as a node has events at once. */
const mostWaiting = 500;
const sameForMs = 600_000;
const mostRemembered = 4096;
const longestMessage = 1000;
/** As client-go's spam filter: so many events of an object at once, and then one in five minutes. */
const ofObject = { burst: 25, tokens: 1, perMs: 300_000 };
const defaultComponent = 'pod-status-manager';

/**
 * Writes events to the apiserver, one after another, as client-go does. An event that gets no answer is sent again, twelve times
 * in all and ten seconds apart, and those after it wait meanwhile; 500 wait at most, and 25 more of nodes. What the server refuses is
 * lost. A pod or a node has 25 events at once and then one in five minutes, as client-go's spam filter allows; what is more is
 * dropped.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { ApiEventRecorder } from 'pod-status-manager/node';
 * import { resources } from 'pod-status-manager/reflector';
 *
 * const pod = server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } });
 * const { promise: written, resolve } = Promise.withResolvers<void>();
 * const endWatch = server.objects(resources.events).watch(() => resolve());
 *
 * const transport = new KubeTransport(kubeConfig);
 * const recorder = new ApiEventRecorder({ transport, nodeName: 'node-1' });
 * recorder.event(pod, 'Normal', 'Started', 'The container runs'); // never waits
 * await written;
 * console.log(server.objects(resources.events).list()[0]?.reason); // Started
 * endWatch();
 * await recorder.stop();
 * await transport.close();
 * ```
 */
export class ApiEventRecorder implements EventRecorder {
  readonly #options: ApiEventRecorderOptions;
  readonly #sender: EventSender<WaitingEvent, Wire<CoreV1Event>, WrittenEvent>;
  readonly #clock: SteadyClock;
  readonly #random: () => number;
  readonly #logger: Logger;
  readonly #failures: EventFailures;
  /** What is left of the events that an object may have, by its kind and uid. */
  readonly #budgets = new BoundedMap<string, TokenBucket>(mostRemembered);

  constructor(options: ApiEventRecorderOptions) {
    this.#options = options;
    this.#clock = safeClock(options.clock ?? systemClock);
    this.#random = safeRandom(options.random ?? Math.random);
    this.#logger = loggerOption(options.logger);
    this.#failures = new EventFailures(this.#clock, (ended) => this.#logger.info(ended, 'events are written again'));
    this.#sender = new EventSender({
      client: new ResourceClient(options.transport, resources.events),
      clock: this.#clock,
      mostWaiting: mostWaiting + ofObject.burst,
      mostAtOnce: () => 1,
      sameForMs,
      // nobody waits for an event
      keepAlive: false,
      requestOf: (event) => this.#requestOf(event),
      retryIn: (event, error, tries) => this.#retryIn(event, error, tries),
    });
  }

  event(
    pod: Pod,
    type: EventType,
    reason: string,
    message: string,
    fieldPath?: string,
    annotations?: Readonly<Record<string, string>>,
  ): void {
    const involvedObject = { ...podObjectReference(pod), ...(fieldPath !== undefined && { fieldPath }) };
    this.#take({ involvedObject, type, reason, message, annotations }, mostWaiting);
  }

  /** An event of a node is in the namespace `default`, and names the node in place of its uid, as `kubectl describe` looks for it. */
  nodeEvent(nodeName: string, type: EventType, reason: string, message: string): void {
    const involvedObject = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeName };
    this.#take({ involvedObject, type, reason, message, annotations: undefined }, mostWaiting + ofObject.burst);
  }

  /**
   * Why events are not written: they are refused, not answered, or too many wait. Undefined once one was written again, and five
   * minutes after the last failure. Those of a namespace that is being deleted or is gone do not count.
   */
  get failing(): Failing | undefined {
    const { failing } = this.#failures;
    if (failing === undefined) return undefined;
    const { message, since, attempt } = failing;
    return { message, since, attempt };
  }

  /** Drops what waits, and gives up the request under way. */
  stop(): Promise<void> {
    return this.#sender.stop();
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #take({ involvedObject, type, reason, message, annotations }: Omit<WaitingEvent, 'key' | 'at'>, most: number): void {
    if (this.#sender.isStopped) return;
    if (this.#sender.waiting >= most) {
      if (!this.#failures.goesOn()) this.#failures.failed(`${most} events wait to be written, and more are dropped`);
      const { failing } = this.#failures;
      const problem = failing && problemFields(eventsProblem(failing), this.#clock.now());
      this.#failures.told();
      this.#logger.warn(
        { ...objectFields(involvedObject.kind, involvedObject), reason, ...problem },
        'too many events wait to be written: one was dropped',
      );
      return;
    }
    const { kind, uid = '', fieldPath } = involvedObject;
    if (!this.#takeToken(`${kind} ${uid}`)) return;
    const text = textBeginning(message, longestMessage);
    const key = JSON.stringify([kind, uid, type, reason, text, fieldPath]);
    const at = formatTime(this.#clock.now());
    this.#sender.send({ key, involvedObject, type, reason, message: text, annotations: beginnings(annotations), at });
  }

  /** False: the object has had too many events, whatever they said. */
  #takeToken(object: string): boolean {
    const budget = this.#budgets.get(object) ?? new TokenBucket(ofObject, this.#clock);
    this.#budgets.set(object, budget);
    return budget.tryTake();
  }

  #requestOf(event: WaitingEvent): () => Promise<unknown> {
    const { key, involvedObject, at } = event;
    const again = this.#sender.countAgain(key);
    if (again !== undefined) {
      const { first, count } = again;
      return async () => {
        await this.#sender.raise(this.#eventObject(event, first, count), { count, lastTimestamp: at });
        this.#failures.succeeded();
      };
    }
    const since = this.#clock.elapsed();
    const first = { name: this.#sender.newName(involvedObject.name ?? ''), firstTimestamp: at };
    return async () => {
      await this.#sender.create(this.#eventObject(event, first, 1));
      this.#failures.succeeded();
      this.#sender.remember(key, first, since);
    };
  }

  #eventObject(event: WaitingEvent, { name, firstTimestamp }: WrittenEvent, count: number): Wire<CoreV1Event> {
    const { involvedObject, type, reason, message, annotations, at: lastTimestamp } = event;
    const { nodeName, component = defaultComponent } = this.#options;
    return {
      metadata: { name, namespace: involvedObject.namespace ?? 'default', ...(annotations !== undefined && { annotations }) },
      involvedObject,
      type,
      reason,
      message,
      count,
      firstTimestamp,
      lastTimestamp,
      source: { component, host: nodeName },
      reportingComponent: component,
      reportingInstance: nodeName,
    };
  }

  #retryIn(event: WaitingEvent, error: unknown, tries: number): number | undefined {
    const { involvedObject, reason } = event;
    const told = {
      err: error,
      errorClass: classifyApiError(error),
      ...objectFields(involvedObject.kind, involvedObject),
      reason,
    };
    if (isOfGoneNamespace(error)) {
      this.#logger.debug(told, 'an event was refused, since its namespace is being deleted or is gone');
      return undefined;
    }
    const problem = eventsProblem(this.#failures.failed(error));
    const fields = { ...told, ...problemFields(problem, this.#clock.now()) };
    const askedMs = retryAfter(error);
    if (askedMs !== undefined && tries < mostEventTries) {
      // the first wait is random, so that not every client comes at once after an outage
      const limits = { baseMs: eventRetryMs, capMs: eventRetryMs, random: this.#random };
      const retryInMs = Math.max(askedMs, tries === 1 ? backoffMs(1, limits) : eventRetryMs);
      this.#logger.debug({ ...fields, retryInMs }, 'an event could not be written, and is sent again');
      return retryInMs;
    }
    this.#failures.told();
    if (askedMs === undefined) this.#logger.warn(fields, 'an event was refused: it is not written');
    else this.#logger.warn(fields, 'an event could not be written, and is given up');
    return undefined;
  }
}

/**
 * How long to wait at least before the event is sent again, in milliseconds; undefined where it is not. As client-go: a request
 * without an answer that can be read is sent again, and of those that the server has refused only one that it wants later.
 */
function retryAfter(error: unknown): number | undefined {
  const failure = readApiFailure(error);
  const { status, reason } = failure;
  return status === undefined || reason === 'BrokenAnswer' || reason === 'Network' ? 0 : askedWaitMs(failure);
}

/** A program that reads annotations needs no more of them. */
function beginnings(annotations: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | undefined {
  if (annotations === undefined) return undefined;
  return Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name, textBeginning(value, longestMessage)]));
}
