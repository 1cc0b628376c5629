import type { Clock, SteadyClock } from '../../base/clock.ts';
import { readApiFailure } from '../../client/resources/error-class.ts';
import type { PodRemovedEvent, PodUpdatedEvent, StatusManagerEvents } from '../../status/events/status-manager-events.ts';
import type { StatusManagerSnapshot } from '../../status/sync/snapshot.ts';
import { AllPods, type Teller, tellers } from './all-pods.ts';
import type { DebugChanges, DebugPart, DebugPod, DebugSnapshot, DebugSummary, DebugTimelineEntry } from './debug-api.ts';
import type { DebugFleet, DebugFleetNode } from './debug-fleet-api.ts';
import { countsOf, notesFrom, type OwnProblem } from './debug-notes.ts';
import {
  askNode,
  askScheduler,
  type DebugNodeSource,
  type DebugSchedulerSource,
  fleetHead,
  nodeHead,
  type PartKind,
  partOf,
  schedulerHead,
  type ToldPart,
} from './debug-part.ts';
import { type DebugManager, describePod } from './described-pod.ts';
import { FleetBoard } from './fleet-board.ts';
import type { FleetQuery } from './fleet-query.ts';
import type { PodHistory } from './pod-history.ts';
import type { PodTable } from './pod-table.ts';
import type { DebugFleetSource } from './told-fleet.ts';
import type { Traffic } from './traffic.ts';

export interface BoardOptions {
  /** Undefined: there are only the other parts. */
  readonly manager: DebugManager | undefined;
  readonly node: DebugNodeSource | undefined;
  readonly scheduler: DebugSchedulerSource | undefined;
  /** Default: none. */
  readonly fleet?: DebugFleetSource | undefined;
  readonly table: PodTable;
  readonly history: PodHistory;
  readonly traffic: Traffic;
  readonly clock: SteadyClock;
}

/** Everything that is shown, put together from its parts. */
export class Board {
  readonly #options: BoardOptions;
  readonly #pods: AllPods;
  readonly #fleet: FleetBoard | undefined;
  /** The number of the newest second that the last changes had. */
  #toldTraffic = 0;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#pods = new AllPods(options.table);
    this.#fleet = options.fleet && new FleetBoard(options.fleet, options.clock);
  }

  /** Looks at the fleet no more. */
  close(): void {
    this.#fleet?.close();
  }

  snapshot(): DebugSnapshot {
    const parts = this.#ask();
    const summary = this.#summary(this.#pods.readAll(parts), parts);
    return { summary, traffic: this.#options.traffic.since(0), pods: this.#pods.rows() };
  }

  /** From now on somebody calls `changes` at short intervals. */
  follow(): void {
    this.#toldTraffic = this.#options.traffic.newest;
    this.#pods.follow();
  }

  /** Nobody calls `changes` any more. */
  unfollow(): void {
    this.#pods.unfollow();
  }

  /** What has changed since the last call, or since `follow`. */
  changes(): DebugChanges {
    const { traffic } = this.#options;
    const parts = this.#ask();
    const summary = this.#summary(this.#pods.readSome(parts), parts);
    const seconds = traffic.since(this.#toldTraffic);
    this.#toldTraffic = traffic.newest;
    return { summary, traffic: seconds, ...this.#pods.takeChanges() };
  }

  /** Undefined for a pod of which nothing is known. */
  pod(podUID: string): DebugPod | undefined {
    const { clock } = this.#options;
    return describePod(this.#options, podUID, (uid) => this.#pods.rowOfParts(uid, this.#ask(), clock.now()));
  }

  /** Undefined where there is no such part. */
  part(kind: PartKind): DebugPart | undefined {
    const { node, scheduler, clock } = this.#options;
    const told = kind === 'node' ? askNode(node) : askScheduler(scheduler);
    return told && partOf(told, clock.now());
  }

  /** Undefined without a fleet. */
  fleet(query: FleetQuery): DebugFleet | undefined {
    return this.#fleet?.fleet(query);
  }

  /** Undefined without a fleet, and for a node that it does not know. */
  fleetNode(nodeName: string): DebugFleetNode | undefined {
    return this.#fleet?.node(nodeName);
  }

  #ask(): readonly ToldPart[] {
    const { node, scheduler } = this.#options;
    return [askNode(node), askScheduler(scheduler), this.#fleet?.part()].filter((part) => part !== undefined);
  }

  #summary(snapshot: StatusManagerSnapshot, parts: readonly ToldPart[]): DebugSummary {
    const { at, state, inFlight, channel, pausedUntil } = snapshot;
    const { kinds, ...counts } = this.#pods.counts();
    const own = ownProblems(tellers(snapshot, parts));
    return {
      at,
      state: this.#options.manager === undefined ? 'none' : state,
      ...counts,
      ownProblems: countsOf(own),
      notes: notesFrom(own, kinds),
      inFlight,
      channelDepth: channel.depth,
      channelCapacity: channel.capacity,
      channelDropped: channel.dropped,
      pausedUntil,
      node: nodeHead(parts.find(({ kind }) => kind === 'node')),
      scheduler: schedulerHead(parts.find(({ kind }) => kind === 'scheduler')),
      fleet: fleetHead(parts.find(({ kind }) => kind === 'fleet')),
    };
  }
}

/** The problems that are no pod's: those of pods are in the rows. */
function ownProblems(all: readonly Teller[]): OwnProblem[] {
  const own = new Map<string, OwnProblem>();
  for (const { kind, problems } of all) {
    for (const problem of problems) {
      const key = `${problem.kind} ${problem.message}`;
      // a node tells its manager's problems, too
      if (problem.podUID === undefined && !own.has(key)) own.set(key, { of: kind, problem });
    }
  }
  return [...own.values()];
}

export interface RecorderOptions {
  readonly manager: Pick<DebugManager, 'on' | 'off'>;
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
    syncError({ podUID, errorClass, error, attempt, retryInMs }) {
      note(podUID, () => {
        const at = clock.now();
        return { kind: 'error', at, errorClass, message: readApiFailure(error, at).message, attempt, retryInMs };
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
