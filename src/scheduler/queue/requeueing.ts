import type { Logger } from '../../base/logging/logger.ts';
import { podFields } from '../nodes/log-fields.ts';
import { isWildcard } from './cluster-event.ts';
import { type EventInterest, saysQueue } from './event-interest.ts';
import type { SeenEvent } from './in-flight-pods.ts';
import { isRejected, type QueueEntry, schedulerNameOf } from './queued-pod-info.ts';

/** What an event means for a pod: it stays where it is, is tried again after its back-off, or at once. */
export type Requeueing = 'stay' | 'afterBackoff' | 'atOnce';

/** What one event means for a pod: only the plugins that rejected it are asked. An event that helps a pending plugin skips the back-off. */
export function requeueingOf(entry: QueueEntry, seen: SeenEvent, interest: EventInterest, logger: Logger): Requeueing {
  if (!isRejected(entry)) return 'afterBackoff';
  if (isWildcard(seen.event)) return isForAnother(entry, seen) ? 'stay' : 'afterBackoff';
  const { pod } = entry.podInfo;
  let answer: Requeueing = 'stay';
  for (const [plugin, hints] of interest.of(schedulerNameOf(entry), seen.event)) {
    const isPending = entry.pendingPlugins.has(plugin);
    if (!isPending && (answer !== 'stay' || !entry.unschedulablePlugins.has(plugin))) continue;
    const onFailure = (err: unknown): void =>
      logger.warn(
        { err, plugin, event: seen.event.label, ...podFields(entry.podInfo) },
        'a queueing hint failed; the pod is tried again',
      );
    if (!saysQueue(hints, pod, seen, onFailure)) continue;
    if (isPending) return 'atOnce';
    answer = 'afterBackoff';
    if (entry.pendingPlugins.size === 0) break;
  }
  return answer;
}

/** What all the events mean together that came while the pod was tried. */
export function requeueingAfter(
  entry: QueueEntry,
  events: readonly SeenEvent[],
  interest: EventInterest,
  logger: Logger,
): Requeueing {
  if (!isRejected(entry)) return 'afterBackoff';
  let answer: Requeueing = 'stay';
  for (const seen of events) {
    const one = requeueingOf(entry, seen, interest, logger);
    if (one === 'atOnce' || (one === 'afterBackoff' && entry.pendingPlugins.size === 0)) return one;
    if (one === 'afterBackoff') answer = one;
  }
  return answer;
}

/** An event of no kind that names a pod is for that pod alone. */
function isForAnother(entry: QueueEntry, { after }: SeenEvent): boolean {
  if (after === undefined) return false;
  const { metadata } = after as { readonly metadata?: { readonly uid?: string } };
  return metadata?.uid !== entry.podInfo.uid;
}
