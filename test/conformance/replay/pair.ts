import type { WirePodStatus } from '../../../src/index.ts';
import type { OurRequests } from './our-requests.ts';
import type { Notification, ResizeConditions, ServerPod, Step, Write } from './replay-scenario.ts';
import type { World } from './replay-world.ts';
import type { Side } from './side.ts';
import type { TheirRequests } from './their-requests.ts';

/** What of a pod is compared after a step. */
export const aspects = ['answer', 'notifications', 'cache', 'server', 'writes', 'resizeConditions'] as const;
export type Aspect = (typeof aspects)[number];

/** What a side did for one pod. A static pod, its mirrors and recreated pods of the same name count as one pod here. */
export interface View {
  /** What the operation answered, where that is recorded and the operation was for this pod. */
  readonly answer: { readonly changed: boolean | undefined; readonly result: unknown } | undefined;
  readonly notifications: readonly Notification[];
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  readonly server: ServerPod | undefined;
  readonly writes: readonly Write[];
  readonly resizeConditions: ResizeConditions;
}

/** What a side still has to write: nothing, a PATCH, a PATCH that no batch finds (`quiet`), or a DELETE. */
export type Due = 'nothing' | 'patch' | 'quiet' | 'delete';

/** One pod after one step, as both sides have it, and the facts that rules go by. */
export interface Pair {
  readonly step: Step;
  readonly pod: string;
  /** The uids that have carried the pod's name so far. */
  readonly podUIDs: ReadonlySet<string>;
  /** When the step began and ended, in milliseconds since the epoch. */
  readonly began: number;
  readonly now: number;
  /** The operation was for a pod that neither side had an entry of. */
  readonly isFirst: boolean;
  /** Nothing would be written to any copy of the pod that upstream's pod manager had when the step began. */
  readonly isTheirCopySettled: boolean;
  /** The batch ran in this step. */
  readonly hasBatch: boolean;
  /** Ours reads a pod before it writes it, as upstream does. */
  readonly readsFirst: boolean;
  readonly theirs: View;
  readonly ours: View;
  readonly theirDue: Due;
  readonly ourDue: Due;
  /** The two sides as they were when the step began. */
  readonly theirSide: Side;
  readonly ourSide: Side;
  readonly theirRequests: TheirRequests;
  readonly ourRequests: OurRequests;
  readonly world: World;
  /** What upstream's merge may have made of the time of the pod's cached DisruptionTarget. */
  readonly disruptionTimes: ReadonlySet<string | undefined>;
}
