import type { V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import {
  containerStatusLists,
  containerStatusMembers,
  podConditionMembers,
  podStatusMembers,
  timeMembers,
} from '../../api/json/status-members.ts';
import type { WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { tellOwnedConditionTypes } from '../conditions/pod-conditions.ts';
import { isObject, type Source } from './canonical-json.ts';

type View = { [key: string]: unknown };

/**
 * A copy as client-node types it, with `Date` where the wire has text. Nothing in it can be changed: objects and lists are
 * frozen, and since nothing protects a `Date`, every read of a time gives a new one. Readers, copies, comparisons and
 * JSON see plain data. `ownedConditionTypes`: the agent's own, which `generateConditions` finds in the view.
 */
export function podStatusView(status: WirePodStatus, ownedConditionTypes?: ReadonlySet<string>): V1PodStatus {
  const view = membersOf(status as Source, podStatusMembers);
  if (ownedConditionTypes !== undefined) tellOwnedConditionTypes(view, ownedConditionTypes);
  return Object.freeze(view) as unknown as V1PodStatus;
}

/** {@link podStatusView} of one condition. */
export function podConditionView(condition: WirePodCondition): V1PodCondition {
  return membersView(condition as object as Source, podConditionMembers) as unknown as V1PodCondition;
}

/** The members of the objects in the lists of a status. */
const membersInside: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['conditions', podConditionMembers],
  ...containerStatusLists.map((list) => [list, containerStatusMembers] as const),
]);

const noTimes: ReadonlySet<string> = new Set([]);

/** What stands under a name that is not in `known` holds no times, whatever the names inside. */
function membersView(source: Source, known: ReadonlySet<string>): View {
  return Object.freeze(membersOf(source, known));
}

function membersOf(source: Source, known: ReadonlySet<string>): View {
  const view: View = {};
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (typeof value === 'object') view[key] = known.has(key) ? knownView(key, value) : viewOf(value, noTimes);
    else setValue(view, key, value, known);
  }
  return view;
}

function knownView(key: string, value: unknown): unknown {
  const inside = membersInside.get(key);
  if (inside === undefined || !Array.isArray(value)) return viewOf(value, timeMembers);
  return Object.freeze(value.map((item: Source) => membersView(item, inside)));
}

function viewOf(value: unknown, times: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((item) => viewOf(item, times)));
  if (!isObject(value)) return value;
  const view: View = {};
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (typeof inner === 'object') view[key] = viewOf(inner, times);
    else setValue(view, key, inner, times);
  }
  return Object.freeze(view);
}

function setValue(view: View, key: string, value: unknown, known: ReadonlySet<string>): void {
  const time = typeof value === 'string' ? timeProperties.get(key) : undefined;
  if (time === undefined || !known.has(key)) {
    view[key] = value;
    return;
  }
  Object.defineProperty(view, time.text, { value });
  Object.defineProperty(view, key, time.accessor);
}

interface TimeProperty {
  /** Under this symbol the view holds the text of the time. It is not enumerable: no copy and no comparison sees it. */
  readonly text: symbol;
  readonly accessor: PropertyDescriptor;
}

/** One accessor serves all views, so that views of one shape stay small and quick. */
const timeProperties: ReadonlyMap<string, TimeProperty> = new Map([...timeMembers].map((key) => [key, timeProperty(key)]));

function timeProperty(key: string): TimeProperty {
  const text = Symbol(key);
  const get = function (this: { readonly [text]?: string }): Date {
    return new Date(this[text] ?? Number.NaN);
  };
  return { text, accessor: { enumerable: true, get } };
}
