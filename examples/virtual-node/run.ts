import type { BasicPodManager, StatusManager, WirePodCondition } from 'pod-status-manager';
import type { DebugNodeSource } from 'pod-status-manager/debug';
import type { NodeObject } from 'pod-status-manager/node';
import type { NodeParts } from './faults/fault.ts';
import type { Journal } from './journal.ts';
import type { DemoOptions } from './options.ts';
import type { PodOwners } from './pod-owners.ts';
import type { Statuses } from './statuses.ts';
import type { Row } from './view.ts';
import type { World } from './world.ts';

/** A node of a run: a `ProviderNode` and a `NodeAgent` are one. */
export interface DemoNode {
  readonly statusManager: StatusManager;
  readonly podManager: BasicPodManager;
  readonly nodeObject: NodeObject;
  snapshot(options: { readonly pods: boolean }): ReturnType<DebugNodeSource['snapshot']>;
  /** Why the pod is as it is. */
  explain?(podUID: string): object;
  start(options: { readonly timeoutMs: number; readonly signal: AbortSignal }): Promise<void>;
  stop(options?: { readonly drainTimeoutMs?: number }): Promise<{ readonly node: Awaited<ReturnType<NodeObject['stop']>> }>;
}

/** What a run is made in. */
export interface RunContext {
  readonly options: DemoOptions;
  readonly world: World;
  /** Counts what every node of the run writes: its nodes write with `statuses.podClient`. */
  readonly statuses: Statuses;
  /** The logger of every part of the run. */
  readonly journal: Journal;
}

/** A kind of run: what it starts, what one looks at, and how it is judged. `main.ts` takes it through its course. */
export interface DemoRun {
  readonly title: string;
  /** What is true when all is well, beside that the server says what the managers say. */
  readonly claim: string;
  readonly nodes: readonly DemoNode[];
  /** The owners of its pods. */
  readonly owners: PodOwners;
  /** What faults may touch beside the server and the pods. */
  readonly parts: NodeParts;
  /** Starts what there is beside the nodes, once they have started. */
  begin?(): Promise<void>;
  /** What happens beside the owners, until the signal aborts. */
  play?(over: AbortSignal): Promise<void>;
  /** From now on nothing happens to the pods. Without it they live on while they are compared. */
  freeze?(): void;
  /** What one looks at, beside what is counted for every run. */
  rows(): readonly Row[];
  /** What is wrong, beside the statuses, one sentence each. */
  wrong(): readonly string[];
  /** The conditions that another controller wrote, by pod uid: they must be there at the end. */
  readonly foreignConditions?: ReadonlyMap<string, WirePodCondition>;
  /** What is left though every pod was deleted, one sentence each. Without it the pods are left to the end of the server. */
  left?(): Promise<readonly string[]>;
  /** Ends what there is beside the nodes: before them, and after them. */
  stop?(): Promise<void>;
  close?(): Promise<void>;
}
