// Behaviour of pkg/kubelet/nodestatus/setters.go, v1.36.3: the four conditions of a node.

import type { WireNodeCondition } from '../../api/json/types.ts';
import type { NodeHealth } from './node-health.ts';

interface PressureWords {
  readonly type: string;
  readonly under: readonly [reason: string, message: string];
  readonly free: readonly [reason: string, message: string];
}

const memory: PressureWords = {
  type: 'MemoryPressure',
  under: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
  free: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
};
const disk: PressureWords = {
  type: 'DiskPressure',
  under: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
  free: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
};
const pid: PressureWords = {
  type: 'PIDPressure',
  under: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
  free: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
};

/** The conditions with the four of the agent brought up to date; those of others stay as they are, in place. `now` is RFC 3339. */
export function nodeConditions(old: readonly WireNodeCondition[], health: NodeHealth, now: string): WireNodeCondition[] {
  const conditions = [...old];
  const { pressures, readiness } = health;
  for (const [words, isUnder] of [
    [memory, pressures.memory],
    [disk, pressures.disk],
    [pid, pressures.pid],
  ] as const) {
    put(conditions, words.type, (before) => pressureCondition(words, isUnder, before, now));
  }
  // Ready is the last of a new node, for those who read a list of conditions only up to it
  put(conditions, 'Ready', (before) => {
    const status = readiness.ready ? 'True' : 'False';
    const isSame = before?.status === status;
    return {
      type: 'Ready',
      status,
      reason: readiness.reason,
      message: readiness.message,
      lastHeartbeatTime: now,
      lastTransitionTime: (isSame ? before.lastTransitionTime : undefined) ?? now,
    };
  });
  return conditions;
}

type MakeCondition = (before: WireNodeCondition | undefined) => WireNodeCondition;

function put(conditions: WireNodeCondition[], type: string, make: MakeCondition): void {
  const at = conditions.findIndex((condition) => condition.type === type);
  if (at === -1) conditions.push(make(undefined));
  else conditions[at] = make(conditions[at]);
}

/** While the status stays, so do the reason and the message, whoever wrote them. */
function pressureCondition(
  { type, under, free }: PressureWords,
  isUnder: boolean,
  before: WireNodeCondition | undefined,
  now: string,
): WireNodeCondition {
  const status = isUnder ? 'True' : 'False';
  if (before?.status === status) return { ...before, lastHeartbeatTime: now };
  const [reason, message] = isUnder ? under : free;
  return { ...before, type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now };
}
