import { hasFourDigitYear } from '../../api/json/time.ts';
import type { RuntimeContainerState, RuntimeContainerStatus, RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { invalidArgument, type StatusManagerError } from '../../base/errors.ts';
import { isInt32, requireObject } from '../../base/options.ts';

const states: ReadonlySet<unknown> = new Set(['created', 'running', 'exited', 'unknown'] satisfies RuntimeContainerState[]);

type Member = keyof RuntimeContainerStatus;

/**
 * Throws ERR_INVALID_ARGUMENT for a view of the runtime that is none, and for a record of a container in it that the apiserver
 * could not store. Every status of every pod asks for this, so a path is written only where something is wrong.
 */
export function requireRuntimeStatus(runtimeStatus: RuntimePodStatus): void {
  requireObject('runtimeStatus', runtimeStatus);
  requireList('ips', runtimeStatus.ips);
  requireList('containers', runtimeStatus.containers);
  requireList('sandboxes', runtimeStatus.sandboxes);
  let index = 0;
  for (const record of runtimeStatus.containers) requireRecord(record, index++);
}

function requireList(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw invalidArgument(`runtimeStatus.${name}`, 'a list', value);
}

function requireRecord(record: RuntimeContainerStatus, index: number): void {
  if (typeof record !== 'object' || record === null) throw refusal(index, undefined, 'an object', record);
  const { name, id, state, exitCode, restartCount } = record;
  if (typeof name !== 'string' || name === '') throw refusal(index, 'name', 'a non-empty string', name);
  if (typeof id !== 'string') throw refusal(index, 'id', 'a string', id);
  if (!states.has(state)) throw refusal(index, 'state', '"created", "running", "exited" or "unknown"', state);
  if (exitCode !== undefined && !isInt32(exitCode)) throw refusal(index, 'exitCode', 'a whole number', exitCode);
  if (restartCount !== undefined && !isInt32(restartCount, 0)) {
    throw refusal(index, 'restartCount', 'a whole number, 0 or more', restartCount);
  }
  requireTime(index, 'createdAt', record.createdAt);
  requireTime(index, 'startedAt', record.startedAt);
  requireTime(index, 'finishedAt', record.finishedAt);
  requireOptionalText(index, 'image', record.image);
  requireOptionalText(index, 'imageRef', record.imageRef);
  requireOptionalText(index, 'reason', record.reason);
  requireOptionalText(index, 'message', record.message);
}

function requireTime(index: number, member: Member, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && hasFourDigitYear(value))) return;
  throw refusal(index, member, 'milliseconds since the epoch, of the years 0 to 9999', value);
}

function requireOptionalText(index: number, member: Member, value: unknown): void {
  if (value !== undefined && typeof value !== 'string') throw refusal(index, member, 'a string', value);
}

/** `member`: undefined for the record itself. */
function refusal(index: number, member: Member | undefined, rule: string, value: unknown): StatusManagerError {
  const path = `runtimeStatus.containers[${index}]`;
  return invalidArgument(member === undefined ? path : `${path}.${member}`, rule, value);
}
