import { isDeepStrictEqual } from 'node:util';
import type { WirePod, WirePodStatus } from '../../../src/index.ts';
import { pruned } from './canonical.ts';
import { untimed } from './masks.ts';
import { isTransitionAccepted } from './more-functions.ts';
import type { Expected } from './recording.ts';
import type { ServerPod, Step } from './scenario.ts';
import type { World } from './world.ts';

/** Follows the copies that upstream's pod manager was given. The first status of a pod is compared with such a copy. */
export class TheirCopies {
  readonly #world: World;
  readonly #copies = new Map<string, ServerPod>();

  constructor(world: World) {
    this.#world = world;
  }

  note({ op, pod, podUID = '', namespace, name }: Step, recorded: Readonly<Record<string, ServerPod>>): void {
    if (op === 'podManager.remove' && this.#world.isMirror(podUID)) this.#copies.delete(podUID);
    if ((op === 'podManager.add' || op === 'podManager.update') && pod?.metadata?.uid !== undefined) {
      const { uid, deletionTimestamp } = pod.metadata;
      this.#copies.set(uid, { uid, deleting: Boolean(deletionTimestamp), status: pod.status ?? {} });
    }
    const observed = op === 'podManager.observe' ? recorded[`${namespace}/${name}`] : undefined;
    if (observed !== undefined) this.#copies.set(observed.uid, observed);
  }

  /** The copy of this uid. */
  get(podUID: string): ServerPod | undefined {
    return this.#copies.get(podUID);
  }

  /** What a first status of the pod is compared with: its mirror's copy, or its own. */
  statusBefore(podUID: string, podUIDs: ReadonlySet<string>): WirePodStatus | undefined {
    const mirror = [...podUIDs].find((uid) => this.#world.isMirror(uid) && this.#copies.has(uid));
    return this.#copies.get(this.#world.isStatic(podUID) && mirror !== undefined ? mirror : podUID)?.status;
  }

  /** The init containers of that status stand in another order than the pod's spec has them. */
  areOutOfOrder(podUID: string, podUIDs: ReadonlySet<string>): boolean {
    const pod = this.#world.object(podUID);
    const before = this.statusBefore(podUID, podUIDs);
    return pod !== undefined && before !== undefined && isOutOfOrder(pod, before);
  }
}

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
  copies: TheirCopies,
): OutOfOrder | undefined {
  if (podUID === undefined || !podUIDs.has(podUID) || hadEntry || (op !== 'setPodStatus' && op !== 'terminatePod'))
    return undefined;
  const pod = world.object(podUID);
  const before = copies.statusBefore(podUID, podUIDs);
  if (pod === undefined || before === undefined || !copies.areOutOfOrder(podUID, podUIDs)) return undefined;
  const isRefused = !notifications.some((notification) => notification.podUID === podUID);
  return { podUID, isRefused, isLegal: op === 'terminatePod' || isLegalAfter(pod, before, status ?? {}) };
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

/** True when `cached` is what was set, except for what an update changes: order of containers, times, observed generation, long messages. */
export function saysWhatWasSet(cached: WirePodStatus, { status }: Step): boolean {
  return status === undefined || isDeepStrictEqual(asSet(cached), asSet(status));
}

function asSet({ observedGeneration: _, ...status }: WirePodStatus): unknown {
  const sorted = (list: WirePodStatus['containerStatuses']): unknown => list?.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const lists = {
    containerStatuses: sorted(status.containerStatuses),
    initContainerStatuses: sorted(status.initContainerStatuses),
    ephemeralContainerStatuses: sorted(status.ephemeralContainerStatuses),
  };
  const cut = JSON.stringify(untimed({ ...status, ...lists } as WirePodStatus), (key, value: unknown) =>
    key === 'message' && typeof value === 'string' ? value.slice(0, 500) : value,
  );
  return pruned(JSON.parse(cut));
}
