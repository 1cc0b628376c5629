import { longestSearched, lookupByName } from '../../api/json/json.ts';
import type {
  Pod,
  PodStatus,
  WireContainerState,
  WireContainerStatus,
  WirePodCondition,
  WirePodStatus,
} from '../../api/json/types.ts';
import { hasTransitionTimeRule } from '../conditions/pod-conditions.ts';
import { mapObjects, type Source } from './canonical-json.ts';
import {
  canonicalCondition,
  canonicalPodStatus,
  canonicalState,
  canonicalStatusMember,
  containerStatusOf,
  inCanonicalOrder,
  messageShare,
  requireStatusObject,
} from './canonical-status.ts';
import { isSame, isSameButForTime, isSameCondition, isSameContainerStatus, isSameState } from './is-same.ts';

/** What a copy shares with the status before it: every equal part, by reference. */
export interface Sharing {
  /** Canonical, and never changed. */
  readonly previous: WirePodStatus | undefined;
  /** Condition types whose transition time an update derives from `previous`, beside the kubelet's. */
  readonly ownedConditionTypes?: ReadonlySet<string> | undefined;
}

/**
 * A copy of `status` in the one canonical form used for equality, merge and patch: wire JSON with whole-second times,
 * sorted container statuses, termination messages cut to their share, nothing undefined and no empty list. Members that
 * Kubernetes 1.36 does not know stay as they are.
 * Idempotent. Throws ERR_INVALID_ARGUMENT for a value that is no status; never changes its input.
 *
 * With `sharing`, the copy may have the start time, the generation and the derived transition times of `previous`: an
 * update takes them from there.
 *
 * Behaviour of pkg/kubelet/status normalizeStatus, v1.36.3, but for messages: they are cut between characters.
 */
export function normalizeStatus(pod: Pod, status: PodStatus, sharing?: Sharing): WirePodStatus {
  const { previous, ownedConditionTypes } = sharing ?? {};
  const maxMessageBytes = messageShare(pod);
  if (previous === undefined) return inCanonicalOrder(pod, canonicalPodStatus(status, maxMessageBytes));
  const hasDerivedTime = (type: string): boolean => hasTransitionTimeRule(type) || ownedConditionTypes?.has(type) === true;
  return inCanonicalOrder(pod, shareEqualParts(status, { previous, hasDerivedTime }, maxMessageBytes));
}

/** The status that a new one follows. */
export interface StatusBefore {
  /** Canonical, and never changed. */
  readonly previous: WirePodStatus;
  /** True for condition types whose transition time an update derives from `previous`. */
  readonly hasDerivedTime: (type: string) => boolean;
}

/**
 * `canonicalPodStatus` that shares equal parts with `previous` by reference, and makes only the others. A part is a
 * member of the status, a condition in its place, a container by its name, or a state of a container.
 *
 * The result may have the start time, the generation and the derived transition times of `previous`: an update takes
 * them from there.
 */
function shareEqualParts(status: PodStatus, before: StatusBefore, maxMessageBytes: number): WirePodStatus {
  const source = requireStatusObject(status);
  const previous = before.previous as Source;
  const result = beginLike(previous, source);
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === '__proto__') continue;
    const member = sharedMember(key, value, before, maxMessageBytes);
    if (member !== undefined) result[key] = member;
    else if (result[key] !== undefined) delete result[key];
  }
  return result as WirePodStatus;
}

/** A status that has every member of the one before begins as its copy, which is cheaper than to add them one by one. */
function beginLike(previous: Source, source: Source): Record<string, unknown> {
  for (const key in previous) {
    if (key !== 'startTime' && key !== 'observedGeneration' && (source[key] ?? undefined) === undefined) return {};
  }
  return { ...previous };
}

function sharedMember(key: string, value: unknown, before: StatusBefore, maxMessageBytes: number): unknown {
  const previous = (before.previous as Source)[key];
  if (previous === undefined) return canonicalStatusMember(key, value, maxMessageBytes);
  switch (key) {
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
    case 'initContainerStatuses':
      return sharedContainers(`status.${key}`, value, previous as WireContainerStatus[], maxMessageBytes);
    case 'conditions':
      return sharedConditions(value, previous as WirePodCondition[], before.hasDerivedTime);
    default:
      return isSame(value, previous) ? previous : canonicalStatusMember(key, value, maxMessageBytes);
  }
}

function sharedContainers(
  path: string,
  value: unknown,
  previous: WireContainerStatus[],
  maxMessageBytes: number,
): WireContainerStatus[] | undefined {
  const named = lookupByName(previous);
  const list = mapObjects(path, value, (source, index) => {
    const before = named(source.name, index);
    if (before !== undefined && isSameContainerStatus(source, before, maxMessageBytes)) return before;
    return changedContainer(source, before, `${path}[${index}]`, maxMessageBytes);
  });
  return list && sharedList(list, previous);
}

function changedContainer(
  source: Source,
  before: WireContainerStatus | undefined,
  path: string,
  maxMessageBytes: number,
): WireContainerStatus {
  const state = sharedState('state', source, before, path, maxMessageBytes);
  const lastState = sharedState('lastState', source, before, path, maxMessageBytes);
  return containerStatusOf(source, path, state, lastState);
}

function sharedState(
  key: 'state' | 'lastState',
  source: Source,
  before: WireContainerStatus | undefined,
  path: string,
  maxMessageBytes: number,
): WireContainerState {
  const [value, previous] = [source[key], before?.[key]];
  if (previous !== undefined && isSameState(value, previous, maxMessageBytes)) return previous;
  return canonicalState(value, `${path}.${key}`, maxMessageBytes);
}

function sharedConditions(
  value: unknown,
  previous: WirePodCondition[],
  hasDerivedTime: (type: string) => boolean,
): WirePodCondition[] | undefined {
  let seen: SeenTypes | undefined;
  const list = mapObjects('status.conditions', value, (source, index) => {
    const before = previous[index];
    if (before === undefined || source.type !== before.type) return canonicalCondition(source, index);
    let derived = hasDerivedTime(before.type);
    if (derived && index <= longestSearched) derived = isFirst(value as readonly Source[], previous, index);
    else if (derived) {
      seen ??= new SeenTypes(value as readonly Source[], previous);
      derived = seen.isFirst(before.type, index);
    }
    const same = derived ? isSameButForTime(source, before) : isSameCondition(source, before);
    return same ? before : canonicalCondition(source, index);
  });
  return list && sharedList(list, previous);
}

/** Of a type that stands twice only the first one's time is derived. */
function isFirst(list: readonly Source[], previous: readonly WirePodCondition[], index: number): boolean {
  const type = previous[index]?.type;
  for (let i = 0; i < index; i++) if (list[i]?.type === type || previous[i]?.type === type) return false;
  return true;
}

/** {@link isFirst} for many conditions. */
class SeenTypes {
  readonly #lists: readonly [readonly Source[], readonly WirePodCondition[]];
  readonly #types = new Set<unknown>();
  #next = 0;

  constructor(list: readonly Source[], previous: readonly WirePodCondition[]) {
    this.#lists = [list, previous];
  }

  /** True where neither list has the type before `index`. Asked for one index after the other: each place is looked at once. */
  isFirst(type: string, index: number): boolean {
    const [list, previous] = this.#lists;
    for (; this.#next < index; this.#next++) this.#types.add(list[this.#next]?.type).add(previous[this.#next]?.type);
    return !this.#types.has(type);
  }
}

/** `previous` itself where every element is the one it has in that place. */
function sharedList<T>(list: T[], previous: T[]): T[] {
  let same = list.length === previous.length;
  for (let i = 0; same && i < list.length; i++) same = list[i] === previous[i];
  return same ? previous : list;
}
