import type { Clock } from '../../base/clock.ts';
import { readApiFailure } from '../../client/resources/error-class.ts';
import type { PodRemovedEvent, PodUpdatedEvent, StatusManagerEvents } from '../../status/events/status-manager-events.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { DebugTimelineEntry } from './debug-api.ts';
import type { PodHistory } from './pod-history.ts';
import type { Traffic } from './traffic.ts';

export interface RecorderOptions {
  readonly manager: Pick<StatusManager, 'on' | 'off'>;
  readonly history: PodHistory;
  readonly traffic: Traffic;
  readonly clock: Clock;
  /** Called for each pod that something has happened to. */
  readonly onPod: (podUID: string) => void;
}

type Listeners = { readonly [Name in keyof StatusManagerEvents]: (...args: StatusManagerEvents[Name]) => void };

/** Listens to a manager from the start, and writes down what happens. Returns a function that ends it. */
export function record({ manager, history, traffic, clock, onPod }: RecorderOptions): () => void {
  // an event makes some of its members when they are first read: nobody reads them for an entry that is not kept
  const note = (podUID: string, entry: () => DebugTimelineEntry): void => {
    if (history.keepsAny) history.add(podUID, entry());
    onPod(podUID);
  };
  const setEntry = ({ version, changes }: PodUpdatedEvent | PodRemovedEvent): DebugTimelineEntry => ({
    kind: 'set',
    at: clock.now(),
    version,
    changes,
  });
  const listeners: Listeners = {
    podUpdated(event) {
      note(event.podUID, () => setEntry(event));
    },
    podRemoved(event) {
      note(event.podUID, () => setEntry(event));
      note(event.podUID, () => ({ kind: 'removed', at: clock.now() }));
    },
    request(event) {
      note(event.podUID, () => {
        const { verb, result, startedAt, durationMs, body, bytes, message } = event;
        return { kind: 'request', at: startedAt, verb, result, durationMs, body, bytes, message };
      });
      traffic.request(event);
    },
    synced({ podUID, version, patched, delayMs }) {
      note(podUID, () => ({ kind: 'synced', at: clock.now(), version, patched, delayMs }));
      traffic.synced(delayMs);
    },
    syncError({ podUID, errorClass, error, attempts, retryInMs }) {
      note(podUID, () => {
        const at = clock.now();
        return { kind: 'error', at, errorClass, message: readApiFailure(error, at).message, attempts, retryInMs };
      });
    },
    illegalTransition({ podUID, reason }) {
      note(podUID, () => ({ kind: 'refused', at: clock.now(), reason }));
    },
  };
  const ends = (Object.keys(listeners) as (keyof StatusManagerEvents)[]).map((name) => listen(manager, name, listeners));
  return () => {
    for (const end of ends) end();
  };
}

function listen<Name extends keyof StatusManagerEvents>(
  manager: RecorderOptions['manager'],
  name: Name,
  listeners: Listeners,
): () => void {
  const listener = listeners[name];
  manager.on(name, listener);
  return () => void manager.off(name, listener);
}
