import { getPodCondition } from '../../conditions/pod-conditions.ts';
import {
  containerStatusLists,
  containerStatusMembers,
  podConditionMembers,
  podStatusMembers,
} from '../../wire/status-members.ts';
import type { WireContainerStatus, WirePodStatus } from '../../wire/types.ts';

/**
 * `status` with the members that only the server has and that Kubernetes 1.36 does not know, of the status, its conditions
 * and its containers: they are a newer server's, and stay as they are there. A member that the agent sets is written; once
 * the agent leaves it out again, it stays.
 */
export function withUnknownMembers(status: WirePodStatus, server: WirePodStatus): WirePodStatus {
  const fill: Partial<WirePodStatus> = {};
  const { conditions } = status;
  if (conditions !== undefined && server.conditions !== undefined) {
    const filled = filledIn(conditions, ({ type }) => getPodCondition(server.conditions, type), podConditionMembers);
    if (filled !== conditions) fill.conditions = filled;
  }
  for (const list of containerStatusLists) {
    const [ours, theirs] = [status[list], server[list]];
    if (ours === undefined || theirs === undefined || ours === theirs) continue;
    const filled = filledIn(ours, (container, index) => withName(theirs, container.name, index), containerStatusMembers);
    if (filled !== ours) fill[list] = filled;
  }
  const filled = membersFilledIn(status, server, podStatusMembers);
  for (const _ in fill) return { ...filled, ...fill };
  return filled;
}

/** The one in the same place, nearly always. */
function withName(list: readonly WireContainerStatus[], name: string, index: number): WireContainerStatus | undefined {
  const guess = list[index];
  return guess?.name === name ? guess : list.find((container) => container.name === name);
}

/** The list itself where nothing is to be filled in. */
function filledIn<T extends object>(
  list: T[],
  counterpart: (item: T, index: number) => T | undefined,
  known: ReadonlySet<string>,
): T[] {
  let filled: T[] | undefined;
  for (const [index, item] of list.entries()) {
    const theirs = counterpart(item, index);
    if (theirs === undefined || theirs === item) continue;
    const other = membersFilledIn(item, theirs, known);
    if (other === item) continue;
    filled ??= [...list];
    filled[index] = other;
  }
  return filled ?? list;
}

/** `ours` with the server's members that are not in `known` and that `ours` lacks; `ours` itself where there are none. */
function membersFilledIn<T extends object>(ours: T, server: T, known: ReadonlySet<string>): T {
  let filled: T | undefined;
  for (const key in server) {
    if (known.has(key) || ours[key] !== undefined) continue;
    filled ??= { ...ours };
    filled[key] = server[key];
  }
  return filled ?? ours;
}
