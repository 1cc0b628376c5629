// Behaviour of client-go tools/events, v0.36.3.
import type { EventsV1Event } from '@kubernetes/client-node';
import type { Wire } from '../../api/json/types.ts';
import { eventName, podObjectReference } from '../../client/events/event-recorder.ts';
import { type ApiResource, apiResource } from '../../client/resources/api-resource.ts';
import type { SchedulingEvent } from '../framework/scheduler-client.ts';

/** An event of `events.k8s.io`, as it stands in JSON. */
export interface WireEvent extends Wire<EventsV1Event> {}

/** The newer API of events: the same objects as those of the core group, with other names of their fields. */
export const schedulingEvents: ApiResource<WireEvent> = apiResource<WireEvent>({
  ...{ group: 'events.k8s.io', version: 'v1', resource: 'events', kind: 'Event', namespaced: true },
});

/** The server refuses a longer note. */
const longestNote = 1024;

/** The event to write. It is told by the profile that schedules the pod; `identity` tells one process from another. `count` makes the name one of its own. */
export function eventObject(event: SchedulingEvent, identity: string, now: number, count: number): WireEvent {
  const { pod, related, type, reason, action, note } = event;
  const { namespace = 'default' } = pod.metadata ?? {};
  // as client-go: a number that grows with the time
  const number = BigInt(Math.floor(now)) * 1_000_000n + BigInt(count % 1_000_000);
  const reportingController = (related ?? pod).spec?.schedulerName || 'default-scheduler';
  return {
    metadata: { name: eventName(pod.metadata?.name ?? '', number), namespace },
    eventTime: microTime(now),
    reportingController,
    reportingInstance: `${reportingController}-${identity}`,
    ...{ action, reason, type, note: shortNote(note) },
    regarding: podObjectReference(pod),
    ...(related !== undefined && { related: podObjectReference(related) }),
  };
}

/** Events that differ in nothing of this are one series. */
export function seriesKey({ pod, related, type, reason, action }: SchedulingEvent): string {
  const { uid, resourceVersion } = pod.metadata ?? {};
  return JSON.stringify([uid, resourceVersion, related?.metadata?.uid, type, reason, action]);
}

/** RFC 3339 with six digits of a second. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

function shortNote(note: string): string {
  // the server counts bytes
  const bytes = Buffer.from(note);
  if (bytes.length <= longestNote) return note;
  return `${new TextDecoder('utf-8').decode(bytes.subarray(0, longestNote - 6)).replace(/\uFFFD+$/, '')} ...`;
}
