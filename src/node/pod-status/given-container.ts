import { canonicalTime } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { isInt32 } from '../../base/options.ts';

/** A `Date`, milliseconds since the epoch, or an RFC 3339 text. Whole seconds are kept. */
export type GivenTime = Date | number | string;

/** How a run of a container ended. */
export interface GivenEnd {
  /** An integer of 32 bits; 0 is a success. */
  readonly exitCode: number;
  /** Default: `Completed` for exit code 0, otherwise `Error`. */
  readonly reason?: string | undefined;
  /** The termination message. Default: none. */
  readonly message?: string | undefined;
  /** When the run began. Default: not known. */
  readonly startedAt?: GivenTime | undefined;
  /** When the run ended. Default: not known. */
  readonly finishedAt?: GivenTime | undefined;
  /** `type://id`. */
  readonly id?: string | undefined;
}

/** How one container of a pod is. Whatever is left out follows from the status before, or from the state. */
export interface GivenContainer {
  /** Of an init, a regular or an ephemeral container of the spec. */
  readonly name: string;
  /** `waiting`: not started yet, or about to be started again. */
  readonly state: 'waiting' | 'running' | 'exited';
  /** Needed of an exited container, and only of one. */
  readonly exitCode?: number | undefined;
  /** Of a container that runs or has run. Default: when it was reported as running before, or else now. */
  readonly startedAt?: GivenTime | undefined;
  /** Of an exited container; never earlier than its start. Default: what was reported before of the same run, or else now. */
  readonly finishedAt?: GivenTime | undefined;
  /** How often it was started before. It never goes back. Default: what was reported, and one more for a new run. */
  readonly restartCount?: number | undefined;
  /** Default: `ContainerCreating` or `PodInitializing` while it waits; as {@link GivenEnd} has it after its end. */
  readonly reason?: string | undefined;
  /** The reason for people; of an exited container its termination message. Default: none. */
  readonly message?: string | undefined;
  /** Of a running container. Default: it has started, and has no readiness probe in the spec. */
  readonly ready?: boolean | undefined;
  /** Of a running container. Default: it has no startup probe in the spec, or is said to be ready. */
  readonly started?: boolean | undefined;
  /** How the run before ended. Default: the end that was reported; exit code 137 where a run that was reported ended unseen. */
  readonly lastState?: GivenEnd | undefined;
  /** `type://id`. Default: none, so that runs are told apart by their times, ends and restart counts. */
  readonly id?: string | undefined;
  /** Default: as in the spec. */
  readonly image?: string | undefined;
  /** What the image name led to, such as a digest. Default: that of the status before, or none. */
  readonly imageID?: string | undefined;
}

const members: ReadonlySet<string> = new Set([
  'name',
  'state',
  'exitCode',
  'startedAt',
  'finishedAt',
  'restartCount',
  'reason',
  'message',
  'ready',
  'started',
  'lastState',
  'id',
  'image',
  'imageID',
] satisfies (keyof GivenContainer)[]);
const endMembers: ReadonlySet<string> = new Set([
  'exitCode',
  'reason',
  'message',
  'startedAt',
  'finishedAt',
  'id',
] satisfies (keyof GivenEnd)[]);
const texts = ['reason', 'message', 'image', 'imageID'] as const;
const containerIDPattern = /^[^:/\s]+:\/\/\S+$/;

/** Throws ERR_INVALID_ARGUMENT for containers that the pod does not have, that are named twice, or that cannot be so. */
export function requireGivenContainers({ spec }: Pod, containers: readonly GivenContainer[]): void {
  if (!Array.isArray(containers)) throw invalidArgument('containers', 'a list', containers);
  const lists = [spec?.initContainers, spec?.containers, spec?.ephemeralContainers];
  const names = new Set(lists.flatMap((list) => (list ?? []).map(({ name }) => name)));
  const seen = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const path = `containers[${index}]`;
    requireMembers(path, container, members);
    const { name } = container;
    if (!names.has(name)) throw invalidArgument(`${path}.name`, 'the name of a container of the pod', name);
    if (seen.has(name)) throw invalidArgument(`${path}.name`, 'another name: each container is given once', name);
    seen.add(name);
    requireGivenContainer(path, container);
  }
}

function requireGivenContainer(path: string, container: GivenContainer): void {
  const { state, exitCode, startedAt, finishedAt, restartCount, ready, started, lastState } = container;
  if (!['waiting', 'running', 'exited'].includes(state)) {
    throw invalidArgument(`${path}.state`, '"waiting", "running" or "exited"', state);
  }
  if (state === 'exited') requireExitCode(path, exitCode);
  else requireAbsent(path, { exitCode, finishedAt }, 'absent: the container has not exited');
  if (state === 'waiting') requireAbsent(path, { startedAt }, 'absent: the container waits');
  requireOrder(path, startedAt, finishedAt);
  if (restartCount !== undefined && !isInt32(restartCount, 0)) {
    throw invalidArgument(`${path}.restartCount`, 'a whole number, 0 or more', restartCount);
  }
  requireProbed(path, state, ready, started);
  requireTexts(path, container);
  if (lastState === undefined) return;
  requireMembers(`${path}.lastState`, lastState, endMembers);
  requireExitCode(`${path}.lastState`, lastState.exitCode);
  requireOrder(`${path}.lastState`, lastState.startedAt, lastState.finishedAt);
  requireTexts(`${path}.lastState`, lastState);
}

function requireProbed(path: string, state: string, ready: unknown, started: unknown): void {
  for (const [key, value] of Object.entries({ ready, started })) {
    if (value === undefined) continue;
    if (typeof value !== 'boolean') throw invalidArgument(`${path}.${key}`, 'a boolean', value);
    if (value && state !== 'running')
      throw invalidArgument(`${path}.${key}`, 'false or absent: the container does not run', value);
  }
  if (ready === true && started === false) {
    throw invalidArgument(`${path}.ready`, 'false or absent: the container has not started', ready);
  }
}

function requireMembers(path: string, value: unknown, known: ReadonlySet<string>): void {
  if (typeof value !== 'object' || value === null) throw invalidArgument(path, 'an object', value);
  for (const [key, member] of Object.entries(value)) {
    if (!known.has(key))
      throw invalidArgument(`${path}.${key}`, `absent: the known members are ${[...known].join(', ')}`, member);
  }
}

function requireTexts(path: string, given: Partial<Record<(typeof texts)[number] | 'id', unknown>>): void {
  for (const key of texts) {
    const value = given[key];
    if (value !== undefined && typeof value !== 'string') throw invalidArgument(`${path}.${key}`, 'a string', value);
  }
  if (given.id === undefined) return;
  if (typeof given.id !== 'string' || !containerIDPattern.test(given.id)) {
    throw invalidArgument(`${path}.id`, 'of the form "type://id"', given.id);
  }
}

function requireExitCode(path: string, exitCode: unknown): void {
  if (!isInt32(exitCode)) throw invalidArgument(`${path}.exitCode`, 'a whole number', exitCode);
}

function requireAbsent(path: string, given: Readonly<Record<string, unknown>>, rule: string): void {
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined) throw invalidArgument(`${path}.${key}`, rule, value);
  }
}

function requireOrder(path: string, startedAt: GivenTime | undefined, finishedAt: GivenTime | undefined): void {
  const start = givenTime(`${path}.startedAt`, startedAt);
  const end = givenTime(`${path}.finishedAt`, finishedAt);
  if (start !== undefined && end !== undefined && end < start) {
    throw invalidArgument(`${path}.finishedAt`, `a time not before startedAt, ${start}`, end);
  }
}

/** RFC 3339, in whole seconds; undefined for no time. Throws ERR_INVALID_ARGUMENT for what is no time. */
export function givenTime(path: string, value: GivenTime | undefined): string | undefined {
  return canonicalTime(typeof value === 'number' ? new Date(value) : value, path);
}
