import { isDeepStrictEqual } from 'node:util';
import type { WirePod, WirePodStatus } from '../../../src/index.ts';
import { isTransitionAccepted } from './more-functions.ts';
import type { PodCopies } from './pod-copies.ts';
import type { Expected } from './recording.ts';
import type { Step } from './replay-scenario.ts';
import type { World } from './replay-world.ts';

/** What D4 is about: a first status whose pod shows init containers in another order than its spec. */
export interface OutOfOrder {
  readonly podUID: string;
  /** Upstream has refused it. */
  readonly isRefused: boolean;
  /** The same status, compared with the same copy in spec order, is a legal one. */
  readonly isLegal: boolean;
}

export function outOfOrder(
  { op, podUID, status }: Step,
  podUIDs: ReadonlySet<string>,
  { notifications }: Expected,
  hadEntry: boolean,
  world: World,
  copies: PodCopies,
): OutOfOrder | undefined {
  if (podUID === undefined || !podUIDs.has(podUID) || hadEntry || (op !== 'setPodStatus' && op !== 'terminatePod'))
    return undefined;
  const pod = world.object(podUID);
  const before = copies.statusBefore(podUID, podUIDs);
  if (pod === undefined || before === undefined || !isOutOfOrder(pod, before)) return undefined;
  const isRefused = !notifications.some((notification) => notification.podUID === podUID);
  return { podUID, isRefused, isLegal: op === 'terminatePod' || isLegalAfter(pod, before, status ?? {}) };
}

/** The init containers of the status that a first status is compared with stand in another order than the pod's spec has them. */
export function areOutOfOrder(podUID: string, podUIDs: ReadonlySet<string>, world: World, copies: PodCopies): boolean {
  const pod = world.object(podUID);
  const before = copies.statusBefore(podUID, podUIDs);
  return pod !== undefined && before !== undefined && isOutOfOrder(pod, before);
}

/** True when the statuses stand in another order than the containers of the spec, and no status is missing before another one. */
function isOutOfOrder({ spec }: WirePod, { initContainerStatuses }: WirePodStatus): boolean {
  const found = initContainerStatuses?.map(({ name }) => name) ?? [];
  const ordered = spec?.initContainers?.map(({ name }) => name).slice(0, found.length) ?? [];
  return !isDeepStrictEqual(found, ordered) && isDeepStrictEqual(found.toSorted(), ordered.toSorted());
}

function isLegalAfter({ status: _, ...pod }: WirePod, before: WirePodStatus, next: WirePodStatus): boolean {
  return isTransitionAccepted({ pod, old: before, new: next });
}
