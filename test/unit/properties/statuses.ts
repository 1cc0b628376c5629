import type { PodStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import {
  buildCondition,
  buildContainerStatus,
  buildRunningStatus,
  buildTerminatedStatus,
  buildWaitingState,
} from '../../../src/testing/fakes/builders.ts';
import type { Shape } from './operations.ts';

/** A pod of two containers in one of its states. The first container's restart count carries `marker`. */
export function statusOf(pod: WirePod, shape: Shape, marker: number): WirePodStatus {
  const status = byShape(pod, shape);
  const [first, ...rest] = status.containerStatuses ?? [];
  return { ...status, containerStatuses: [{ ...(first ?? buildContainerStatus()), restartCount: marker }, ...rest] };
}

function byShape(pod: WirePod, shape: Shape): WirePodStatus {
  if (shape === 'failed' || shape === 'succeeded') return buildTerminatedStatus(pod, shape === 'failed' ? 1 : 0);
  const running = buildRunningStatus(pod);
  if (shape === 'ready') return running;
  const why = { reason: 'ContainersNotReady' };
  const notReady = {
    ...running,
    conditions: [
      buildCondition('Initialized'),
      buildCondition('Ready', { status: 'False', ...why }),
      buildCondition('ContainersReady', { status: 'False', ...why }),
      buildCondition('PodScheduled'),
    ],
  };
  const off = { ready: false, started: false };
  if (shape === 'running')
    return { ...notReady, containerStatuses: running.containerStatuses?.map((c) => ({ ...c, ...off })) ?? [] };
  const waiting = running.containerStatuses?.map((c) => ({ ...c, ...off, state: buildWaitingState() })) ?? [];
  return { ...notReady, phase: 'Pending', containerStatuses: waiting };
}

export function markerOf(status: PodStatus | undefined, name = 'a'): number {
  return status?.containerStatuses?.find((container) => container.name === name)?.restartCount ?? 0;
}

/** The same status in another form: another order, `Date`s instead of texts, nothing shared. */
export function reworded(status: WirePodStatus): PodStatus {
  const copy = JSON.parse(JSON.stringify(status), (key, value: unknown) =>
    typeof value === 'string' && /(Time|At)$/.test(key) ? new Date(value) : value,
  ) as PodStatus & { conditions?: unknown[]; containerStatuses?: unknown[] };
  copy.conditions?.reverse();
  copy.containerStatuses?.reverse();
  return copy;
}

/** Overwrites every member that is not frozen. */
export function garble(value: unknown): void {
  if (value instanceof Date) value.setTime(0);
  else if (typeof value === 'object' && value !== null) {
    const target = value as Record<string, unknown>;
    for (const key of Object.keys(target)) {
      garble(target[key]);
      if (Object.isFrozen(target)) continue;
      if (typeof target[key] === 'string') target[key] = 'garbled';
      if (typeof target[key] === 'number') target[key] = -1;
    }
    if (Array.isArray(value) && !Object.isFrozen(value)) value.length = 0;
  }
}

/** Nothing in it can be changed: a `Date` may only come from an accessor, which makes a new one at each read. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const properties = Object.values(Object.getOwnPropertyDescriptors(value));
  return (
    !(value instanceof Date) && Object.isFrozen(value) && properties.every(({ get, value: held }) => get || isDeepFrozen(held))
  );
}
