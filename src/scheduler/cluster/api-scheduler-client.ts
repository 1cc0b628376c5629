import { formatTime } from '../../api/json/time.ts';
import type { WirePod, WirePodCondition } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, sleep } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { RateLimiter, type RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { numberOption, requireKnownOptions } from '../../base/options.ts';
import type { Problem } from '../../base/problem.ts';
import { EventFailures } from '../../client/events/event-failures.ts';
import { type ApiObject, type ApiResource, resources } from '../../client/resources/api-resource.ts';
import { askedWaitMs, classifyApiError, type ErrorClass, readApiFailure } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../client/transport/kube-transport.ts';
import type { PodStatusChange, SchedulerClient, SchedulingEvent } from '../framework/scheduler-client.ts';
import { eventWriter, schedulerEventsProblem } from './event-writer.ts';

export interface ApiSchedulerClientOptions {
  readonly transport: ResourceTransport;
  /** The most requests that change pods, and apart from them the most events: these must not hold up bindings. */
  readonly requestLimit?: RateLimiterOptions | undefined;
  /** Tells this process from others, in events. */
  readonly identity: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** False: this process may write nothing. Asked right before each write leaves. */
  readonly mayWrite: () => boolean;
}

/** How often a status or a deletion is sent, and the waits between the tries. */
const tries = 4;
const retry = { firstMs: 200 };

/** What the scheduler writes, over an apiserver. */
export class ApiSchedulerClient implements SchedulerClient {
  readonly #transport: ResourceTransport;
  readonly #pods: ResourceClient<WirePod>;
  readonly #clock: Clock;
  readonly #binding: PodBinding;
  readonly #events: ReturnType<typeof eventWriter>;
  readonly #eventFailures: EventFailures;
  readonly #mayWrite: () => boolean;
  readonly #writes: readonly WriteTransport[];
  #bindings = 0;

  constructor({ transport, requestLimit, identity, clock, logger, mayWrite }: ApiSchedulerClientOptions) {
    const options = { transport, limit: requestLimit, clock, mayWrite };
    const [ofPods, ofEvents] = [new WriteTransport(options), new WriteTransport(options)];
    this.#writes = [ofPods, ofEvents];
    this.#transport = ofPods;
    this.#pods = new ResourceClient<WirePod>(ofPods, resources.pods);
    this.#clock = clock;
    this.#binding = new PodBinding(this.#pods, clock);
    this.#eventFailures = new EventFailures(clock, (ended) => logger.info(ended, 'events are written again'));
    const own = { identity, clock, logger, failures: this.#eventFailures };
    this.#events = eventWriter({ ...own, transport: ofEvents, isBinding: () => this.#bindings > 0 });
    this.#mayWrite = mayWrite;
  }

  async bind(pod: WirePod, nodeName: string, signal: AbortSignal): Promise<void> {
    this.#bindings += 1;
    try {
      await this.#binding.bind(pod, nodeName, signal);
    } finally {
      this.#bindings -= 1;
      if (this.#bindings === 0) this.#events.widen();
    }
  }

  async patchStatus(pod: WirePod, change: PodStatusChange, signal: AbortSignal): Promise<void> {
    const body = statusPatch(pod, change, this.#clock.now());
    if (body === undefined) return;
    const { namespace, name = '' } = pod.metadata ?? {};
    const target = { namespace, name, subresource: 'status' };
    const patch = { type: 'application/strategic-merge-patch+json', body } as const;
    await this.#retried(signal, () => this.#pods.patch(target, patch, { signal }));
  }

  async deletePod({ metadata }: WirePod, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = metadata ?? {};
    await this.#retried(signal, () => this.#pods.delete({ namespace, name }, { uid, signal }));
  }

  patchObject<T extends ApiObject>(resource: ApiResource<T>, object: T, patch: object, signal: AbortSignal): Promise<T> {
    return this.#patchObject(resource, object, { patch }, signal);
  }

  patchObjectStatus<T extends ApiObject>(resource: ApiResource<T>, object: T, patch: object, signal: AbortSignal): Promise<T> {
    return this.#patchObject(resource, object, { patch, subresource: 'status' }, signal);
  }

  async getObject<T extends ApiObject>(resource: ApiResource<T>, { metadata }: T, signal: AbortSignal): Promise<T> {
    const { namespace, name = '' } = metadata ?? {};
    return new ResourceClient<T>(this.#transport, resource).get({ namespace, name }, { signal });
  }

  createObject<T extends ApiObject>(resource: ApiResource<T>, object: T, signal: AbortSignal): Promise<T> {
    return new ResourceClient<T>(this.#transport, resource).create(object, { signal });
  }

  async deleteObject<T extends ApiObject>(resource: ApiResource<T>, { metadata }: T, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = metadata ?? {};
    const client = new ResourceClient<T>(this.#transport, resource);
    await this.#retried(signal, () => client.delete({ namespace, name }, { uid, signal }));
  }

  event(event: SchedulingEvent): void {
    if (this.#mayWrite()) this.#events.send({ ...event, at: this.#clock.now() });
  }

  /** What is wrong with the events: they are refused. */
  problem(): Problem | undefined {
    const { failing } = this.#eventFailures;
    return failing && schedulerEventsProblem(failing);
  }

  /** Resolves once no event waits to be written. */
  flush(): Promise<void> {
    return this.#events.flush();
  }

  async stop(): Promise<void> {
    await this.#events.stop();
    for (const transport of this.#writes) transport.close();
  }

  async #patchObject<T extends ApiObject>(
    resource: ApiResource<T>,
    object: T,
    { patch, subresource }: { readonly patch: object; readonly subresource?: string },
    signal: AbortSignal,
  ): Promise<T> {
    const { namespace, name = '', uid, resourceVersion } = object.metadata ?? {};
    const { metadata, ...members } = patch as { readonly metadata?: object };
    const body = { ...members, metadata: { ...metadata, uid, resourceVersion } };
    const target = { namespace, name, ...(subresource !== undefined && { subresource }) };
    const client = new ResourceClient<T>(this.#transport, resource);
    return client.patch(target, { type: 'application/merge-patch+json', body }, { signal });
  }

  /** A pod that is gone, or whose name another one has by now, is no failure. */
  async #retried(signal: AbortSignal, request: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await request();
        return;
      } catch (error) {
        const errorClass = classifyApiError(error);
        if (errorClass === 'gone' || errorClass === 'conflict') return;
        const isWorthIt = ['unavailable', 'timeout', 'throttled', 'broken-answer'].includes(errorClass);
        if (signal.aborted || !isWorthIt || attempt === tries) throw error;
        await sleep(this.#clock, nthDelayMs(attempt, retry), signal);
      }
    }
  }
}

/** How often one binding is sent, and the wait between two bindingTries, in milliseconds. */
const bindingTries = 3;
const retryMs = 200;

/** Where it is unknown whether the server has bound the pod, or it says that somebody has. */
const inDoubt: readonly ErrorClass[] = ['conflict', 'timeout', 'unavailable', 'broken-answer'];

/**
 * Binds a pod by POST of its binding. The server binds a pod once and no more, and only the one of this uid. Where an answer
 * is lost, the pod is read: one that is on the node counts as bound, one that is on none is sent once more.
 */
class PodBinding {
  readonly #pods: ResourceClient<WirePod>;
  readonly #clock: Clock;

  constructor(pods: ResourceClient<WirePod>, clock: Clock) {
    this.#pods = pods;
    this.#clock = clock;
  }

  async bind(pod: WirePod, nodeName: string, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    const metadata = { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: nodeName } };
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#pods.createSubresource({ namespace, name }, 'binding', body, { signal });
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        const errorClass = classifyApiError(error);
        if (inDoubt.includes(errorClass)) {
          if (await this.#isBound(pod, nodeName, error, signal)) return;
        } else if (errorClass !== 'throttled') throw error; // a server without room has done nothing
        if (attempt === bindingTries) throw error;
        await sleep(this.#clock, retryMs * attempt, signal);
      }
    }
  }

  /** True: on this node. False: on none, or the read failed, too. Throws where another try can do nothing. */
  async #isBound(pod: WirePod, nodeName: string, cause: unknown, signal: AbortSignal): Promise<boolean> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    let now: WirePod;
    try {
      now = await this.#pods.get({ namespace, name }, { signal });
    } catch (error) {
      if (classifyApiError(error) === 'gone') throw cause;
      return false;
    }
    if (now.metadata?.uid !== uid) throw cause;
    const on = now.spec?.nodeName ?? '';
    if (on === nodeName) return true;
    if (on === '' && now.metadata?.deletionTimestamp == null) return false;
    if (on === '') throw cause;
    throw new StatusManagerError('ERR_API', `The pod is on the node "${on}" already`, { cause });
  }
}

// Behaviour of pkg/api/v1/pod UpdatePodCondition and pkg/scheduler/util PatchPodStatus, v1.36.3.

/** The strategic merge patch of the pod's status; undefined where the pod has all of it. */
function statusPatch(pod: WirePod, change: PodStatusChange, now: number): object | undefined {
  const condition = changedCondition(pod, change, now);
  const { nominatedNodeName } = change;
  const isNominationNew = nominatedNodeName !== undefined && nominatedNodeName !== (pod.status?.nominatedNodeName ?? '');
  const { extendedResourceClaimStatus } = change;
  if (condition === undefined && !isNominationNew && extendedResourceClaimStatus === undefined) return undefined;
  return {
    metadata: { uid: pod.metadata?.uid },
    status: {
      ...(condition !== undefined && { conditions: [condition] }),
      ...(isNominationNew && { nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName }),
      ...(extendedResourceClaimStatus !== undefined && { extendedResourceClaimStatus }),
    },
  };
}

/** The time of the last transition stays while the status does. */
function changedCondition(pod: WirePod, { condition }: PodStatusChange, now: number): Partial<WirePodCondition> | undefined {
  if (condition === undefined) return undefined;
  const { type, status, reason, message } = condition;
  const { generation: observedGeneration } = pod.metadata ?? {};
  const old = pod.status?.conditions?.find((each) => each.type === type);
  const isSame = old?.status === status;
  if (isSame && old.reason === reason && old.message === message && old.observedGeneration === observedGeneration)
    return undefined;
  return {
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(!isSame && { lastTransitionTime: formatTime(now) }),
  };
}

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedRequestLimit(limit: RateLimiterOptions | undefined): RateLimiterOptions | undefined {
  if (limit === undefined) return undefined;
  requireKnownOptions('requestLimit', limit, ['qps', 'burst']);
  numberOption('requestLimit.qps', limit.qps, 0.001, 1e6);
  numberOption('requestLimit.burst', limit.burst, 1, 1e6);
  return limit;
}

export interface WriteTransportOptions {
  readonly transport: ResourceTransport;
  /** Default: none. */
  readonly limit?: RateLimiterOptions | undefined;
  /** False: this process may write nothing. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
}

/** How often a request is sent that the server has no room for, as client-go does. */
const refusedTries = 10;
/** A server that asks for a shorter wait gets this one, in milliseconds. */
const shortestWaitMs = 1000;

/**
 * Carries what the scheduler writes. A request waits for its turn where their number is limited. Whether this process may write is
 * asked when all waits are over, right before the request leaves. A server that says when to come again is not asked before.
 */
class WriteTransport implements ResourceTransport {
  readonly #options: WriteTransportOptions;
  readonly #limiter: RateLimiter | undefined;
  readonly #closing = new AbortController();

  constructor(options: WriteTransportOptions) {
    this.#options = options;
    this.#limiter = options.limit && new RateLimiter(options.limit, options.clock, () => {});
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    const { transport, mayWrite, clock } = this.#options;
    const { signal = this.#closing.signal } = request;
    for (let attempt = 1; ; attempt++) {
      await this.#turn(signal);
      if (request.method !== 'GET' && !mayWrite()) {
        throw new ApiError({ reason: 'Aborted', message: 'this process is not the leader' });
      }
      try {
        return await transport.request(request);
      } catch (error) {
        const waitMs = askedWaitMs(readApiFailure(error, clock.now()));
        if (waitMs === undefined || attempt === refusedTries) throw error;
        await sleep(clock, Math.max(waitMs, shortestWaitMs), signal);
      }
    }
  }

  stream(stream: KubeStream): Promise<void> {
    return this.#options.transport.stream(stream);
  }

  /** Ends every wait. */
  close(): void {
    this.#closing.abort(new ApiError({ reason: 'Aborted', message: 'the scheduler was stopped' }));
    this.#limiter?.release();
  }

  /** Rejects with the signal's reason, also where it aborts meanwhile. */
  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const limiter = this.#limiter;
    if (limiter === undefined) return;
    const turn = limiter.take();
    try {
      await untilAborted(turn, signal);
    } catch (error) {
      // nobody uses it
      turn.then(() => limiter.putBack()).catch(ignoreFailure);
      throw error;
    }
  }
}
