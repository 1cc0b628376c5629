// Behaviour of pkg/kubelet/nodestatus/setters.go, v1.36.3: the four conditions of a node.

import { isJsonObject } from '../../api/json/json.ts';
import type { WireNodeCondition } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';

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

/** What an agent answers to the question whether its runtime works and its pod sources have been heard. */
export interface NodeReadiness {
  /** True: the Ready condition of the node says True. */
  readonly ready: boolean;
  /** Default: `KubeletReady` or `KubeletNotReady`. */
  readonly reason?: string | undefined;
  /** Default, where ready: `kubelet is posting ready status`. */
  readonly message?: string | undefined;
}

/** What runs short on the node. What is left out does not. */
export interface NodePressures {
  /** The condition MemoryPressure. Default false. */
  readonly memory?: boolean;
  /** The condition DiskPressure. Default false. */
  readonly disk?: boolean;
  /** The condition PIDPressure: processes run short. Default false. */
  readonly pid?: boolean;
}

/** What the node's conditions say. */
export interface NodeHealth {
  readonly readiness: Required<NodeReadiness> & { readonly reason: string; readonly message: string };
  readonly pressures: Required<NodePressures>;
}

export interface HealthQuestions {
  readonly readiness: () => NodeReadiness;
  readonly pressures: () => NodePressures;
}

const longestText = 1024;

/**
 * Asks the agent. Only `{ ready: true }` is ready: whatever else `readiness` answers or throws is not, with a message that
 * says so. A pressure that is not known counts as pressure, and takes no more pods.
 */
export function nodeHealth({ readiness, pressures }: HealthQuestions): NodeHealth {
  return { readiness: askReadiness(readiness), pressures: askPressures(pressures) };
}

function askReadiness(ask: () => NodeReadiness): NodeHealth['readiness'] {
  let failure = '';
  const answer: unknown = callGuarded(ask, (error) => {
    failure ||= `readiness() failed: ${errorText(error)}`;
  });
  if (failure !== '') return notReady(undefined, failure);
  if (!isJsonObject(answer) || typeof answer.ready !== 'boolean') {
    return notReady(undefined, 'readiness() answered with something else than { ready: true } or { ready: false }');
  }
  const { ready, reason, message } = answer;
  if (!ready) return notReady(reason, text(message, 'the agent is not ready'));
  return { ready, reason: text(reason, 'KubeletReady'), message: text(message, 'kubelet is posting ready status') };
}

function notReady(reason: unknown, message: string): NodeHealth['readiness'] {
  return { ready: false, reason: text(reason, 'KubeletNotReady'), message: message.slice(0, longestText) };
}

function askPressures(ask: () => NodePressures): Required<NodePressures> {
  const answer: unknown = callGuarded(ask, () => {});
  if (!isJsonObject(answer)) return { memory: true, disk: true, pid: true };
  const isUnder = (value: unknown): boolean => value !== undefined && value !== false;
  return { memory: isUnder(answer.memory), disk: isUnder(answer.disk), pid: isUnder(answer.pid) };
}

function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value.slice(0, longestText) : otherwise;
}
