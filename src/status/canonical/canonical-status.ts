import {
  containerStatusLists,
  containerStatusMembers,
  podConditionMembers,
  podStatusMembers,
} from '../../api/json/status-members.ts';
import type {
  Pod,
  PodStatus,
  WireContainerState,
  WireContainerStatus,
  WirePodCondition,
  WirePodStatus,
} from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalMember, canonicalObject, canonicalText, isObject, mapObjects, type Source } from './canonical-json.ts';

/** The bytes of termination messages a pod may carry; each container gets an equal share (MaxPodTerminationMessageLogLength). */
const maxTerminationMessageBytes = 1024 * 12;

/** How many bytes the termination message of one of the pod's containers may have. */
export function messageShare({ spec }: Pod): number {
  const containers =
    (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0) + (spec?.ephemeralContainers?.length ?? 0);
  return containers === 0 ? maxTerminationMessageBytes : Math.floor(maxTerminationMessageBytes / containers);
}

/**
 * What {@link normalizeStatus} makes of a status that is canonical already: `canonical` itself where its lists are in order and its
 * messages are within their share, and otherwise a copy that has the other lists. Changes nothing.
 */
export function normalizedOf(pod: Pod, canonical: WirePodStatus): WirePodStatus {
  const share = messageShare(pod);
  const normalized = { ...canonical };
  for (const key of containerStatusLists) if (canonical[key]) normalized[key] = withinShare(canonical[key], share);
  inCanonicalOrder(pod, normalized);
  return containerStatusLists.every((key) => normalized[key] === canonical[key]) ? canonical : normalized;
}

/** The statuses with termination messages of so many bytes at most; the list itself where none is longer. */
function withinShare(statuses: WireContainerStatus[], maxBytes: number): WireContainerStatus[] {
  let result = statuses;
  statuses.forEach((status, index) => {
    const [state, lastState] = [stateWithinShare(status.state, maxBytes), stateWithinShare(status.lastState, maxBytes)];
    if (state === status.state && lastState === status.lastState) return;
    if (result === statuses) result = [...statuses];
    result[index] = { ...status, state, lastState };
  });
  return result;
}

function stateWithinShare(state: WireContainerState = emptyState, maxBytes: number): WireContainerState {
  const { terminated } = state;
  if (typeof terminated?.message !== 'string') return state;
  const message = cutToBytes(terminated.message, maxBytes);
  return message === terminated.message ? state : { ...state, terminated: { ...terminated, message } };
}

/** Puts the lists of container statuses in order: by name, and init containers as the spec has them. Changes `canonical`. */
export function inCanonicalOrder(pod: Pod, canonical: WirePodStatus): WirePodStatus {
  const { containerStatuses, ephemeralContainerStatuses, initContainerStatuses } = canonical;
  if (containerStatuses) canonical.containerStatuses = sortedByName(containerStatuses);
  if (ephemeralContainerStatuses) canonical.ephemeralContainerStatuses = sortedByName(ephemeralContainerStatuses);
  if (initContainerStatuses) {
    canonical.initContainerStatuses = inSpecOrder(initContainerStatuses, pod.spec?.initContainers ?? []);
  }
  return canonical;
}

/**
 * A copy of `status` as wire JSON without anything undefined or empty, but in the order, and with the messages, it has.
 * What a patch is computed against: the lists as they stand on the apiserver. Throws ERR_INVALID_ARGUMENT.
 */
export function canonicalPodStatus(status: PodStatus, maxMessageBytes = Number.POSITIVE_INFINITY): WirePodStatus {
  const source = requireStatusObject(status);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === '__proto__') continue;
    const member = canonicalStatusMember(key, value, maxMessageBytes);
    if (member !== undefined) result[key] = member;
  }
  return result as WirePodStatus;
}

/** Throws ERR_INVALID_ARGUMENT for what holds no members. */
export function requireStatusObject(status: unknown): Source {
  if (!isObject(status)) throw invalidArgument('status', 'an object', status);
  return status;
}

/** One member of a status in canonical form; undefined for what Go would leave out. */
export function canonicalStatusMember(key: string, value: unknown, maxMessageBytes: number): unknown {
  switch (key) {
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
    case 'initContainerStatuses':
      return mapObjects(`status.${key}`, value, (source, index) =>
        canonicalContainerStatus(source, `status.${key}[${index}]`, maxMessageBytes),
      );
    case 'conditions':
      return mapObjects('status.conditions', value, canonicalCondition);
    default:
      return canonicalMember(podStatusMembers, key, value, 'status');
  }
}

/** The condition that stands at `index`, in canonical form. Type and status are always there. */
export function canonicalCondition(source: Source, index: number): WirePodCondition {
  const path = `status.conditions[${index}]`;
  if (typeof source.type !== 'string') throw invalidArgument(`${path}.type`, 'a string', source.type);
  const result: Record<string, unknown> & WirePodCondition = { type: source.type, status: '' };
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = canonicalMember(podConditionMembers, key, source[key], path);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

/** One object serves every empty container state: most statuses have an empty lastState. */
const emptyState: WireContainerState = Object.freeze({});

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A copy of one container status in canonical form. Members that Go always writes are always there
 * (`name`, `image`, `imageID`, `ready`, `restartCount`, `state`, `lastState`).
 */
function canonicalContainerStatus(source: Source, path: string, maxMessageBytes: number): WireContainerStatus {
  const state = canonicalState(source.state, `${path}.state`, maxMessageBytes);
  const lastState = canonicalState(source.lastState, `${path}.lastState`, maxMessageBytes);
  return containerStatusOf(source, path, state, lastState);
}

/** {@link canonicalContainerStatus} with states that are canonical already. */
export function containerStatusOf(
  source: Source,
  path: string,
  state: WireContainerState,
  lastState: WireContainerState,
): WireContainerStatus {
  const result: Record<string, unknown> & WireContainerStatus = {
    name: text('name', source.name, path),
    state,
    lastState,
    ready: source.ready === true,
    restartCount: typeof source.restartCount === 'number' ? source.restartCount : 0,
    image: text('image', source.image, path),
    imageID: text('imageID', source.imageID, path),
  };
  for (const key of Object.keys(source)) {
    switch (key) {
      case 'name':
      case 'state':
      case 'lastState':
      case 'image':
      case 'imageID':
      case '__proto__':
        break;
      case 'ready':
        expectType(source.ready, 'boolean', key, path);
        break;
      case 'restartCount':
        expectType(source.restartCount, 'number', key, path);
        if (!Number.isFinite(result.restartCount))
          throw invalidArgument(`${path}.${key}`, 'a finite number', source.restartCount);
        break;
      default: {
        const member = canonicalMember(containerStatusMembers, key, source[key], path);
        if (member !== undefined) result[key] = member;
      }
    }
  }
  return result;
}

/** Cuts a termination message to `maxMessageBytes`. */
export function canonicalState(value: unknown, path: string, maxMessageBytes: number): WireContainerState {
  if (value === undefined || value === null) return emptyState;
  if (!isObject(value)) throw invalidArgument(path, 'an object', value);
  const state = canonicalObject(value, path);
  const { terminated } = state;
  if (isObject(terminated)) {
    terminated.exitCode ??= 0;
    if (typeof terminated.message === 'string') terminated.message = cutToBytes(terminated.message, maxMessageBytes);
  }
  for (const _ in state) return state as WireContainerState;
  return emptyState;
}

/** The longest beginning of `text` that fits into `maxBytes` of UTF-8 without splitting a character. */
function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}

function text(key: string, value: unknown, parent: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw invalidArgument(`${parent}.${key}`, 'a string', value);
  return canonicalText(value);
}

function expectType(value: unknown, type: 'boolean' | 'number', key: string, parent: string): void {
  if (value !== undefined && value !== null && typeof value !== type) {
    throw invalidArgument(`${parent}.${key}`, `a ${type}`, value);
  }
}

type Named = { readonly name: string };

/** By name, in the order of its bytes; the list itself where it is in order already. */
function sortedByName(statuses: WireContainerStatus[]): WireContainerStatus[] {
  const inOrder = statuses.every((status, index) => index === 0 || (statuses[index - 1]?.name ?? '') <= status.name);
  return inOrder ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * In the order of the spec; statuses that the spec does not name end up behind, as upstream's swaps leave them. The list
 * itself where it is in order already. A name that stands twice in the spec counts once.
 */
export function inSpecOrder(statuses: WireContainerStatus[], spec: readonly Named[]): WireContainerStatus[] {
  if (statuses.every(({ name }, index) => name === spec[index]?.name)) return statuses;
  const ordered = [...statuses];
  const places = new PlacesByName(statuses);
  let next = 0;
  for (const name of new Set(spec.map((container) => container.name))) {
    const found = places.firstFrom(next, name);
    const other = ordered[next];
    const match = ordered[found];
    if (match === undefined || other === undefined) continue;
    ordered[next] = match;
    ordered[found] = other;
    places.move(other.name, next, found);
    next++;
  }
  return ordered.every((status, index) => status === statuses[index]) ? statuses : ordered;
}

/** Where the statuses of each name stand, while they change places. Each name is asked for once. */
class PlacesByName {
  readonly #places = new Map<string, number[]>();
  /** By place: which of the places of its name it is. */
  readonly #slots: number[] = [];

  constructor(statuses: readonly WireContainerStatus[]) {
    statuses.forEach(({ name }, place) => {
      const held = this.#places.get(name) ?? [];
      this.#slots.push(held.push(place) - 1);
      this.#places.set(name, held);
    });
  }

  /** The first place of the name that is not in front of `least`; -1 where there is none. */
  firstFrom(least: number, name: string): number {
    let first = -1;
    for (const place of this.#places.get(name) ?? []) if (place >= least && (first < 0 || place < first)) first = place;
    return first;
  }

  /** What stood at `from` has taken the place of what was asked for. */
  move(name: string, from: number, to: number): void {
    const slot = this.#slots[from] ?? 0;
    const held = this.#places.get(name);
    if (held !== undefined) held[slot] = to;
    this.#slots[to] = slot;
  }
}
