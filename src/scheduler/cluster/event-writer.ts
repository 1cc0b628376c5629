import type { EventsV1Event } from '@kubernetes/client-node';
import { formatMicroTime } from '../../api/json/time.ts';
import type { Wire } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { EventFailures, type FailedEvents, isOfGoneNamespace } from '../../client/events/event-failures.ts';
import { podObjectReference } from '../../client/events/event-recorder.ts';
import { EventSender, eventRetryMs, mostEventTries } from '../../client/events/event-sender.ts';
import { newerEvents } from '../../client/resources/api-resource.ts';
import { classifyApiError, readApiFailure } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { SchedulingEvent } from '../framework/scheduler-client.ts';
import { requestProblem } from '../reports/request-words.ts';

export interface EventWriterOptions {
  readonly transport: ResourceTransport;
  /** Tells one process from another. */
  readonly identity: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Told of each event that was taken or refused. Default: nobody is. */
  readonly failures?: EventFailures;
  /** True while pods are being bound: events then go one at a time, so that they take nothing of the server from bindings. Default: never. */
  readonly isBinding?: () => boolean;
}

/** An event, and when it came about, in milliseconds since 1970. Default: when its turn has come. */
export interface TimedEvent extends SchedulingEvent {
  readonly at?: number;
}

/** So many events wait; one more is dropped. Bindings come first, so a storm of some thousand pods must find room here. */
const mostWaiting = 10_000;
const mostAtOnce = 8;
/** While so many wait, they no longer let bindings go first. */
const tooManyWaiting = mostWaiting / 2;
/** The same event within this time makes one series. */
const seriesMs = 360_000;

/** Writes events to the apiserver, several at once. An event that happens again is counted in the first one's series. */
export function eventWriter(options: EventWriterOptions): EventSender<TimedEvent, WireEvent, WireEvent> {
  const { transport, identity, clock, logger, failures = new EventFailures(clock), isBinding = () => false } = options;
  const client = new ResourceClient(transport, newerEvents);
  // `flush` is waited for, so a wait for the next try keeps the process alive
  const common = { client, clock, mostWaiting, sameForMs: seriesMs, keepAlive: true };
  const sender: ReturnType<typeof eventWriter> = new EventSender({
    ...common,
    mostAtOnce: () => (isBinding() && sender.waiting < tooManyWaiting ? 1 : mostAtOnce),
    requestOf(event) {
      const { at: now = clock.now() } = event;
      const key = seriesKey(event);
      const again = sender.countAgain(key);
      if (again !== undefined) {
        const series = { count: again.count, lastObservedTime: formatMicroTime(now) };
        return () => sender.raise({ ...again.first, series }, { series }).then(() => failures.succeeded());
      }
      const object = eventObject(event, identity, now, sender.newName(event.pod.metadata?.name ?? ''));
      // before it is written: the same one may be on its way beside it
      sender.remember(key, object, clock.elapsed());
      return () => sender.create(object).then(() => failures.succeeded());
    },
    retryIn({ reason, pod }, err, tries) {
      // a server that has refused it will refuse it again, and what this process may not write another one will tell
      const { status = 500 } = readApiFailure(err);
      const isWorthIt = classifyApiError(err) !== 'aborted' && (status >= 500 || status === 429);
      if (isWorthIt && tries < mostEventTries) return eventRetryMs;
      const errorClass = classifyApiError(err);
      const isNoFailure = errorClass === 'aborted' || isOfGoneNamespace(err);
      const fields = { err, errorClass, ...podFields(pod.metadata), reason };
      if (isNoFailure) logger.debug(fields, 'an event could not be written');
      else {
        const problem = schedulerEventsProblem(failures.failed(err));
        const told = { ...fields, ...problemFields(problem, clock.now()) };
        failures.told();
        // who may not write events may write none of very many
        logger[problem.attempt > 1 ? 'debug' : 'warn'](told, 'an event could not be written');
      }
      return undefined;
    },
  });
  return sender;
}

/** What is wrong with the events: they are refused. */
export function schedulerEventsProblem({ error, since, attempt }: FailedEvents): Problem {
  return requestProblem('events cannot be written', error, { since, attempt });
}

/** An event of `events.k8s.io`, as it stands in JSON. */
export interface WireEvent extends Wire<EventsV1Event> {}

/** The server refuses a longer note. */
const longestNote = 1024;

/** The event to write. It is told by the profile that schedules the pod; `identity` tells one process from another. */
function eventObject(event: SchedulingEvent, identity: string, now: number, name: string): WireEvent {
  const { pod, related, type, reason, action, note } = event;
  const { namespace = 'default' } = pod.metadata ?? {};
  const reportingController = (related ?? pod).spec?.schedulerName || 'default-scheduler';
  return {
    metadata: { name, namespace },
    eventTime: formatMicroTime(now),
    reportingController,
    reportingInstance: `${reportingController}-${identity}`,
    action,
    reason,
    type,
    note: shortNote(note),
    regarding: podObjectReference(pod),
    ...(related !== undefined && { related: podObjectReference(related) }),
  };
}

/** Events that differ in nothing of this are one series. */
function seriesKey({ pod, related, type, reason, action }: SchedulingEvent): string {
  const { uid, resourceVersion } = pod.metadata ?? {};
  return JSON.stringify([uid, resourceVersion, related?.metadata?.uid, type, reason, action]);
}

function shortNote(note: string): string {
  // the server counts bytes
  const bytes = Buffer.from(note);
  if (bytes.length <= longestNote) return note;
  return `${new TextDecoder('utf-8').decode(bytes.subarray(0, longestNote - 6)).replace(/\uFFFD+$/, '')} ...`;
}
