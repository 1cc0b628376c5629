import { canonicalTime } from '../../api/json/time.ts';
import type { Pod, WireContainerState, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, isContainerID, isRestartableInitContainer, shownImage } from '../../api/pod/pod-containers.ts';
import { invalidArgument } from '../../base/errors.ts';
import { isInt32 } from '../../base/options.ts';
import { unseenEnd, volumeMountStatuses, type WireTerminated } from './container-statuses.ts';
import { runtimeReason } from './get-phase.ts';
import { containerResources } from './pod-resources.ts';

const endUnseen = 'The container ran before, and nobody has said how that run ended';

/** What a given container's status follows from, beside what is given. */
export interface GivenContext {
  readonly container: Container;
  readonly isInit: boolean;
  /** The container's status before. */
  readonly old: WireContainerStatus | undefined;
  /** Why a container of this pod waits, unless something else is said. */
  readonly waitingReason: string;
  readonly now: string;
}

/** The status of a container as it is given; the container must have been checked. */
export function statusOfGiven(given: GivenContainer, context: GivenContext): WireContainerStatus {
  const { container, old } = context;
  const isNew = isNewRun(given, old);
  const isLost = given.state === 'waiting' && given.lastState === undefined && old?.state?.running !== undefined;
  const state = stateOfGiven(given, context, isNew);
  const status: WireContainerStatus = {
    name: container.name,
    state,
    lastState: lastStateOf(given, old, isNew),
    ready: isReady(given, context),
    restartCount: restartCountOf(given, old, isNew || isLost),
    image: shownImage(given.image ?? container.image ?? ''),
    imageID: given.imageID ?? (isNew ? undefined : old?.imageID) ?? '',
    started: isStarted(given, container),
  };
  const id = given.id ?? (isNew || given.state === 'waiting' ? undefined : old?.containerID);
  if (id !== undefined) status.containerID = id;
  if (given.state !== 'waiting') Object.assign(status, containerResources(container, isNew ? undefined : old?.resources));
  const mounts = old?.volumeMounts ?? volumeMountStatuses(container);
  if (mounts !== undefined) status.volumeMounts = mounts;
  return status;
}

/** Has the container been started anew since `old` was reported? Its end, its id or its times tell. */
function isNewRun({ state, id, exitCode, startedAt, finishedAt }: GivenContainer, old: WireContainerStatus | undefined): boolean {
  if (old === undefined || state === 'waiting') return false;
  if (id !== undefined && old.containerID !== undefined && id !== old.containerID) return true;
  const { running, terminated, waiting } = old.state ?? {};
  const start = givenTime('startedAt', startedAt);
  if (running) return isLater(start, running.startedAt);
  if (terminated) {
    if (state === 'running' || terminated.exitCode !== exitCode) return true;
    return isLater(start, terminated.startedAt) || isLater(givenTime('finishedAt', finishedAt), terminated.finishedAt);
  }
  return waiting !== undefined && old.lastState?.terminated !== undefined;
}

function isLater(time: string | undefined, before: string | undefined): boolean {
  return time !== undefined && before !== undefined && time > before;
}

/** `isNew`: a run more than before. An end that nobody saw was counted when it was noticed. */
function restartCountOf({ restartCount }: GivenContainer, old: WireContainerStatus | undefined, isNew: boolean): number {
  if (old === undefined) return restartCount ?? 0;
  if (restartCount !== undefined) return Math.max(restartCount, old.restartCount);
  const lastReason = old.state?.waiting ? old.lastState?.terminated?.reason : undefined;
  const isCounted = lastReason === runtimeReason.containerStatusUnknown || lastReason === runtimeReason.restartingAllContainers;
  return isNew && !isCounted ? old.restartCount + 1 : old.restartCount;
}

function lastStateOf(given: GivenContainer, old: WireContainerStatus | undefined, isNew: boolean): WireContainerState {
  if (given.lastState !== undefined) return { terminated: endOf('lastState', given.lastState) };
  const reported = isNew || given.state === 'waiting' ? old?.state : undefined;
  if (old !== undefined && reported?.running) return { terminated: unseenEndOf(old, endUnseen) };
  const terminated = reported?.terminated ?? old?.lastState?.terminated;
  return terminated === undefined ? {} : { terminated: { ...terminated } };
}

/** The end, which nobody saw, of a run that was reported. */
export function unseenEndOf({ state, containerID }: WireContainerStatus, message: string): WireTerminated {
  const startedAt = state?.running?.startedAt;
  return { ...unseenEnd(message), ...(startedAt !== undefined && { startedAt }), ...(containerID && { containerID }) };
}

function stateOfGiven(given: GivenContainer, { old, waitingReason, now }: GivenContext, isNew: boolean): WireContainerState {
  const { state, reason, message, startedAt } = given;
  if (state === 'waiting') return { waiting: { reason: reason || waitingReason, ...(message && { message }) } };
  const before = isNew ? undefined : old?.state;
  const start = givenTime('startedAt', startedAt) ?? before?.running?.startedAt ?? before?.terminated?.startedAt;
  if (state === 'running') return { running: { startedAt: start ?? now } };
  const finish = latest(start, givenTime('finishedAt', given.finishedAt) ?? before?.terminated?.finishedAt ?? now);
  const { exitCode = 0, id = isNew ? undefined : old?.containerID } = given;
  return { terminated: endOf('', { exitCode, reason, message, startedAt: start, finishedAt: finish, id }) };
}

/** A container does not end before it began, even where the clocks differ. */
function latest(start: string | undefined, finish: string): string {
  return start !== undefined && start > finish ? start : finish;
}

function endOf(path: string, { exitCode, reason, message, startedAt, finishedAt, id }: GivenEnd): WireTerminated {
  const end: WireTerminated = { exitCode, reason: reason || (exitCode === 0 ? runtimeReason.completed : runtimeReason.error) };
  const start = givenTime(`${path}.startedAt`, startedAt);
  const finish = givenTime(`${path}.finishedAt`, finishedAt);
  if (message) end.message = message;
  if (start !== undefined) end.startedAt = start;
  if (finish !== undefined) end.finishedAt = finish;
  if (id !== undefined) end.containerID = id;
  return end;
}

function isStarted({ state, started, ready }: GivenContainer, { startupProbe }: Container): boolean {
  return state === 'running' && (started ?? (ready === true || !startupProbe));
}

/** An init container that is no sidecar is ready once it has succeeded. */
function isReady(given: GivenContainer, { container, isInit }: GivenContext): boolean {
  if (isInit && !isRestartableInitContainer(container)) return given.state === 'exited' && given.exitCode === 0;
  return isStarted(given, container) && (given.ready ?? !container.readinessProbe);
}

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
  if (given.id !== undefined && !isContainerID(given.id)) {
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
function givenTime(path: string, value: GivenTime | undefined): string | undefined {
  return canonicalTime(typeof value === 'number' ? new Date(value) : value, path);
}
