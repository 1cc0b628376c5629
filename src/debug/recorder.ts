import { readApiFailure } from '../client/error-class.ts';
import type { Clock } from '../seams/clock.ts';
import type { StatusManagerEvents } from '../status/events/status-manager-events.ts';
import type { StatusManager } from '../status/status-manager.ts';
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
  const listeners: Listeners = {
    podUpdated({ podUID, version, changes }) {
      history.add(podUID, { kind: 'set', at: clock.now(), version, changes });
      onPod(podUID);
    },
    podRemoved({ podUID, version, changes }) {
      const at = clock.now();
      history.add(podUID, { kind: 'set', at, version, changes });
      history.add(podUID, { kind: 'removed', at });
      onPod(podUID);
    },
    request({ podUID, verb, result, startedAt, durationMs, body, bytes, message }) {
      history.add(podUID, { kind: 'request', at: startedAt, verb, result, durationMs, body, bytes, message });
      traffic.request({ verb, result }, clock.now());
      onPod(podUID);
    },
    synced({ podUID, version, patched, delayMs }) {
      const at = clock.now();
      history.add(podUID, { kind: 'synced', at, version, patched, delayMs });
      traffic.synced(delayMs, at);
      onPod(podUID);
    },
    syncError({ podUID, errorClass, error, attempts, retryInMs }) {
      const at = clock.now();
      history.add(podUID, { kind: 'error', at, errorClass, message: readApiFailure(error, at).message, attempts, retryInMs });
      onPod(podUID);
    },
    illegalTransition({ podUID, reason }) {
      history.add(podUID, { kind: 'refused', at: clock.now(), reason });
      onPod(podUID);
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
