import type { SteadyClock } from '../../base/clock.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { StatusManagerSnapshot } from '../../status/sync/snapshot.ts';
import type { DebugChanges, DebugPod, DebugSnapshot, DebugSummary } from './debug-api.ts';
import { type DebugNodeSource, debugNode, linesOf } from './debug-node.ts';
import { describePod } from './describe-pod.ts';
import type { PodHistory } from './pod-history.ts';
import type { PodTable } from './pod-table.ts';
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
