import type { WirePodCondition, WirePodStatus } from '../../../src/index.ts';
import type { View } from './pair.ts';
import { isResizeCondition } from './resize-rules.ts';

/** Returns one aspect of a side without the parts that a rule explains. */
export type Mask<A extends keyof View = keyof View> = (value: View[A]) => unknown;

export const everything = (): undefined => undefined;

type StatusMask = (status: WirePodStatus) => unknown;

/** One pod's cached status, masked; without a mask it is left out. */
export function cachedStatus(podUIDs: ReadonlySet<string>, mask?: StatusMask): Mask<'cache'> {
  return (cache) => {
    const entries = Object.entries(cache).map(([uid, status]) => [uid, podUIDs.has(uid) ? mask?.(status) : status] as const);
    return Object.fromEntries(entries.filter(([, status]) => status !== undefined));
  };
}

export function serverStatus(mask: StatusMask): Mask<'server'> {
  return (server) => server && { ...server, status: mask(server.status) };
}

export function writtenStatuses(mask: StatusMask): Mask<'writes'> {
  return (writes) => writes.map((write) => (write.verb === 'patch' ? { ...write, status: mask(write.status) } : write));
}

/** Without the times that depend on when an entry began: its start time and those of its conditions. */
export function untimed({ startTime: _, ...status }: WirePodStatus): WirePodStatus {
  return withConditions(status, ({ lastTransitionTime: _time, ...condition }) => condition);
}

/**
 * Without what a write does not change on the server, because that shows earlier writes: the members that a real server
 * keeps, the DisruptionTarget, the times that the merge sets, and what is held back with a terminal phase.
 */
export function withoutTraces(status: WirePodStatus, isHeldBack: boolean): WirePodStatus {
  const { qosClass: _q, observedGeneration: _o, podIPs: _p, ...rest } = status;
  const { phase: _ph, reason: _r, message: _m, ...notHeld } = rest;
  return withConditions(isHeldBack ? notHeld : rest, (condition) => {
    const { lastTransitionTime: _t, observedGeneration: _g, ...kept } = condition;
    return condition.type === 'DisruptionTarget' ? undefined : kept;
  });
}

export function withoutResizeConditions(status: WirePodStatus): WirePodStatus {
  return withConditions(status, (condition) => (isResizeCondition(condition) ? undefined : condition));
}

function withConditions(
  status: WirePodStatus,
  mask: (condition: WirePodCondition) => WirePodCondition | undefined,
): WirePodStatus {
  const conditions = status.conditions?.map(mask).filter((condition) => condition !== undefined);
  return conditions === undefined ? status : { ...status, conditions };
}
