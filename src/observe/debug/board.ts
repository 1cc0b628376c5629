import { toWireJson } from '../../api/json/json.ts';
import type { Clock, SteadyClock } from '../../base/clock.ts';
import { readApiFailure } from '../../client/resources/error-class.ts';
import type { PodRemovedEvent, PodUpdatedEvent, StatusManagerEvents } from '../../status/events/status-manager-events.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { StatusManagerSnapshot } from '../../status/sync/snapshot.ts';
import type { DebugChanges, DebugPod, DebugPodRow, DebugSnapshot, DebugSummary, DebugTimelineEntry } from './debug-api.ts';
import { type DebugNodeSource, debugNode, linesOf } from './debug-node.ts';
import type { PodHistory, PodTimeline } from './pod-history.ts';
import { type PodTable, rowOf } from './pod-table.ts';
import type { Traffic } from './traffic.ts';

/** What the handler shows of a manager. */
export type DebugManager = Pick<StatusManager, 'snapshot' | 'explain' | 'getPodStatus' | 'on' | 'off'>;

export interface BoardOptions {
  readonly manager: DebugManager;
  readonly node: DebugNodeSource | undefined;
  readonly table: PodTable;
  readonly history: PodHistory;
  readonly traffic: Traffic;
  readonly clock: SteadyClock;
}

/** Everything that is shown, put together from its parts. */
export class Board {
  readonly #options: BoardOptions;
  /** The number of the newest second that the last changes had. */
  #toldTraffic = 0;

  constructor(options: BoardOptions) {
    this.#options = options;
  }

  snapshot(): DebugSnapshot {
    const { table, traffic } = this.#options;
    const summary = this.#summary(table.readAll());
    return { summary, traffic: traffic.since(0), pods: table.rows() };
  }

  /** From now on somebody calls `changes` at short intervals. */
  follow(): void {
    const { table, traffic } = this.#options;
    this.#toldTraffic = traffic.newest;
    table.follow();
  }

  /** Nobody calls `changes` any more. */
  unfollow(): void {
    this.#options.table.unfollow();
  }

  /** What has changed since the last call, or since `follow`. */
  changes(): DebugChanges {
    const { table, traffic } = this.#options;
    const summary = this.#summary(table.readSome());
    const seconds = traffic.since(this.#toldTraffic);
    this.#toldTraffic = traffic.newest;
    return { summary, traffic: seconds, ...table.takeChanges() };
  }

  /** Undefined for a pod of which nothing is known. */
  pod(podUID: string): DebugPod | undefined {
    const { manager, node, history } = this.#options;
    return describePod(manager, podUID, (uid) => ({ timeline: history.of(uid), node: linesOf(node, uid) }));
  }

  #summary({ at, state, podCount, inFlight, channel, pausedUntil }: StatusManagerSnapshot): DebugSummary {
    const { table, node } = this.#options;
    const { bySync, byPhase, oldestUnsentMs } = table.counts();
    return {
      at,
      state,
      pods: podCount,
      bySync,
      byPhase,
      inFlight,
      channelDepth: channel.depth,
      channelCapacity: channel.capacity,
      channelDropped: channel.dropped,
      oldestUnsentMs,
      pausedUntil,
      node: debugNode(node),
    };
  }
}

/** What is known of a pod beside what the manager says. */
export interface KnownOfPod {
  readonly timeline: PodTimeline | undefined;
  readonly node: DebugPod['node'];
}

/** A mirror pod's uid answers for its static pod. Undefined when neither the manager nor the timeline knows the pod. */
function describePod(manager: DebugManager, uid: string, known: (podUID: string) => KnownOfPod): DebugPod | undefined {
  const { podUID, reason, differs, retryAt, version } = manager.explain(uid);
  const { timeline = { entries: [], dropped: 0 }, node } = known(podUID);
  const pod = manager.snapshot({ podUIDs: [podUID] }).pods[0];
  if (pod === undefined && timeline.entries.length === 0) return undefined;
  return {
    row: pod === undefined ? forgottenRow(podUID, timeline) : rowOf(pod),
    reason,
    differs,
    retryAt,
    node,
    timeline: timeline.entries,
    droppedEntries: timeline.dropped,
    status: version === undefined ? undefined : toWireJson(manager.getPodStatus(podUID)),
  };
}

/** The row of a pod that only its timeline tells of: the manager keeps nothing of it. */
function forgottenRow(podUID: string, { entries }: PodTimeline): DebugPodRow {
  const set = entries.findLast((entry) => entry.kind === 'set');
  return {
    podUID,
    namespace: '',
    name: podUID,
    phase: undefined,
    ready: false,
    restarts: 0,
    sync: 'unknown',
    version: set?.version ?? 0,
    acknowledgedVersion: entries.findLast((entry) => entry.kind === 'synced')?.version ?? 0,
    failures: 0,
    isStatic: false,
    isDeleting: false,
    changedAt: set?.at ?? 0,
  };
}

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
