import { lookupByName } from '../../api/json/json.ts';
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { ownCopy } from '../canonical/canonical-json.ts';
import { terminatedStatus } from '../rules/terminate-status.ts';
import type { PodStatusReader, StatusCache, StatusChange, VersionedPodStatus } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import type { SyncRecords } from './sync-records.ts';

interface FinishContext {
  readonly agent: AgentView;
  readonly podStatuses: PodStatusReader;
  readonly records: SyncRecords;
}

/** The change that finishes a deleted pod for an agent that never calls `terminatePod`; undefined while it is not due. */
function finishingChange({ agent, podStatuses, records }: FinishContext, podUID: string): StatusChange | undefined {
  const entry = podStatuses.get(podUID);
  if (entry === undefined || !isDueToFinish(agent, records, podUID, entry)) return undefined;
  const pod = agent.pod(podUID);
  if (pod === undefined) return undefined;
  const isAcknowledged = (): boolean => records.isAcknowledged(podUID, entry.version);
  const status = finishedStatus(pod, entry.status);
  return { pod, podUID, status, force: true, podIsFinished: true, finishedByManager: true, isAcknowledged };
}

/**
 * True when the manager may finish a deleted pod. All of these hold: the pod manager has the pod, and it is neither static
 * nor a mirror pod; the apiserver is deleting it; the agent has set a status since it saw the deletionTimestamp, and that
 * status is acknowledged; the newest status shows no running container; the deletion safety says that nothing runs and that
 * everything is reclaimed.
 */
function isDueToFinish(agent: AgentView, records: SyncRecords, podUID: string, entry: VersionedPodStatus): boolean {
  if (entry.podIsFinished || entry.deletionSeenAt === undefined || showsRunningContainer(entry.status)) return false;
  const target = agent.target(podUID);
  if (target === undefined || !records.isAcknowledged(podUID, entry.deletionSeenAt, target)) return false;
  if (!agent.isOrdinaryPod(podUID)) return false;
  const copy = agent.freshest(target);
  if (!copy?.deleting || copy.isMirrorPod) return false;
  return !agent.podCouldHaveRunningContainers(podUID, entry) && agent.podResourcesAreReclaimed(podUID, entry);
}

/** True when any container of the status is in the state `running`. */
export function showsRunningContainer(status: WirePodStatus): boolean {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status;
  return [containerStatuses, initContainerStatuses, ephemeralContainerStatuses].some((statuses) =>
    statuses?.some(({ state }) => state?.running !== undefined),
  );
}

/** What `terminatePod` makes of it, with phase Succeeded when every regular container exited with 0. */
function finishedStatus(pod: Pod, status: WirePodStatus): WirePodStatus {
  const finished = ownCopy(terminatedStatus(pod, status).status);
  if (isTerminalPhase(status.phase)) return finished;
  const names = (pod.spec?.containers ?? []).map(({ name }) => name);
  const statusOf = lookupByName(finished.containerStatuses);
  const succeeded = (name: string): boolean => statusOf(name)?.state?.terminated?.exitCode === 0;
  finished.phase = names.length > 0 && names.every(succeeded) ? 'Succeeded' : 'Failed';
  return finished;
}

/** What was finished by the manager stays so, whatever phase the agent sets later. `next` belongs to the caller. */
export function keepPhase(next: WirePodStatus, cached: WirePodStatus): void {
  for (const field of ['phase', 'reason', 'message'] as const) {
    if (cached[field] === undefined) delete next[field];
    else next[field] = cached[field];
  }
}

export interface PodFinisherOptions {
  readonly context: FinishContext;
  readonly cache: StatusCache;
  readonly logger: Logger;
  readonly terminateWhenReclaimed: boolean;
}

/** Finishes deleted pods of which nothing is left, until the agent calls `terminatePod` for the first time. */
export class PodFinisher {
  readonly #options: PodFinisherOptions;
  #isOn: boolean;

  constructor(options: PodFinisherOptions) {
    this.#options = options;
    this.#isOn = options.terminateWhenReclaimed;
  }

  /** The agent ends its pods itself from now on: two must not finish one pod. */
  leaveToAgent(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#options.logger.info({}, 'the agent calls terminatePod: the manager finishes no pod by itself any more');
  }

  finishIfDue(podUID: string): void {
    if (!this.#isOn) return;
    const change = finishingChange(this.#options.context, podUID);
    if (change !== undefined) this.#options.cache.update(change);
  }
}
