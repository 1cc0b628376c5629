import type { WireContainerStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer, shownImage } from '../../api/pod/pod-containers.ts';
import { containerResources } from './container-resources.ts';
import { type GivenContainer, type GivenEnd, givenTime } from './given-container.ts';
import { unseenEnd, type WireContainerState, type WireTerminated } from './runtime-container-state.ts';
import { runtimeReason } from './runtime-reasons.ts';
import { volumeMountStatuses } from './volume-mount-statuses.ts';

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
