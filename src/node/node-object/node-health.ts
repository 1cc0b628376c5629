import { isJsonObject } from '../../api/json/json.ts';
import { callGuarded } from '../../base/guard.ts';

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
    failure ||= `readiness() failed: ${messageOf(error)}`;
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

function messageOf(error: unknown): string {
  return error instanceof Error && typeof error.message === 'string' ? error.message : typeof error;
}
