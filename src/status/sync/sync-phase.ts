import type { RunStateName } from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { LastError } from '../../client/resources/error-class.ts';
import type { PodStatusReader } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import type { RequestGate } from './request-gate.ts';
import { isOvertaken, type Wait } from './sync-context.ts';
import type { SyncRecords } from './sync-records.ts';

/**
 * Where a pod's newest status stands. `explain(podUID).phase`, `snapshot()`, the errors of `flush` and the result of `stop` say it.
 *
 * | phase | the newest status | what follows |
 * |---|---|---|
 * | `unknown` | is not there: none was set for this uid, or its entry was dropped with the pod | `setPodStatus` |
 * | `cache-only` | is only kept: the manager was made without a pod client | nothing is ever sent |
 * | `not-started` | is only kept: the manager is not started yet, or was stopped | `start()`, or the next agent |
 * | `pending` | waits for its turn | it is sent as soon as a slot is free |
 * | `in-flight` | is on its way: a request for this pod is under way | its answer |
 * | `in-sync` | is on the apiserver | nothing, until the agent or another writer changes it |
 * | `paused` | waits with those of all pods: the apiserver asked for it (429), or no credentials are valid (401) | all go on when the pause ends |
 * | `backing-off` | waits alone: the last request for this pod failed | the next try, at `retryAt` |
 * | `quarantined` | was refused by the apiserver as invalid (400, 413, 415, 422), twice | a status or an API copy that is another |
 * | `terminal-phase-held-back` | is on the apiserver but for its phase: a container of the pod could still run | `podCouldHaveRunningContainers` answers `false` |
 * | `no-mirror-pod` | belongs to a static pod that the apiserver does not show | its mirror pod is created |
 * | `deleting` | is on the apiserver, and the DELETE was accepted; finalizers hold the object | their owners remove them |
 * | `gone` | has nowhere to go: the apiserver does not know the pod, another pod has its name now, or the pod manager has forgotten it | the entry is dropped |
 *
 * `in-sync` is the phase of a quiet pod. `pending`, `in-flight` and `paused` pass by themselves. Someone has to look at a pod that
 * stays `backing-off` or `quarantined`: `lastError` has the words of the apiserver.
 */
export type PodSyncPhase =
  | 'unknown'
  | 'cache-only'
  | 'not-started'
  | 'in-sync'
  | 'terminal-phase-held-back'
  | 'pending'
  | 'in-flight'
  | 'paused'
  | 'backing-off'
  | 'quarantined'
  | 'gone'
  | 'no-mirror-pod'
  | 'deleting';

/** A phase that a flush does not wait out, though the newest status is not on the apiserver as it stands here. */
export type HeldPhase = 'no-mirror-pod' | 'terminal-phase-held-back' | 'quarantined' | 'gone' | 'deleting';
const heldPhases: readonly HeldPhase[] = ['no-mirror-pod', 'terminal-phase-held-back', 'quarantined', 'gone', 'deleting'];

/** A pod whose newest status is not on the apiserver. */
export interface UnsettledPod {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** Its namespace. */
  readonly podNamespace: string;
  /** Its name. */
  readonly podName: string;
  /** Where its newest status stands. */
  readonly phase: PodSyncPhase;
  /** How the pod's last request failed; undefined when none has failed since its last success. */
  readonly error: LastError | undefined;
}

/**
 * Statuses are not on the apiserver: `pods` names each pod, with where its status stands and its last error. The message names the
 * first 20 as `namespace/name`.
 *
 * @example
 * ```ts
 * import { type StatusManager, UnsettledPodsError } from 'pod-status-manager';
 *
 * async function unsettledPods(manager: StatusManager): Promise<readonly string[]> {
 *   try {
 *     await manager.flush({ timeoutMs: 5000 });
 *     return [];
 *   } catch (error) {
 *     if (!(error instanceof UnsettledPodsError)) throw error;
 *     return error.pods.map(({ podNamespace, podName, phase }) => `${podNamespace}/${podName}: ${phase}`);
 *   }
 * }
 * ```
 */
export class UnsettledPodsError extends StatusManagerError {
  /** The pods that had not settled. */
  readonly pods: readonly UnsettledPod[];

  constructor(code: 'ERR_FLUSH_TIMEOUT' | 'ERR_STOPPED', what: string, pods: readonly UnsettledPod[]) {
    super(code, `${what}: ${listOf(pods)}`);
    this.name = 'UnsettledPodsError';
    this.pods = pods;
  }
}

const namedAtMost = 20;

function listOf(pods: readonly UnsettledPod[]): string {
  const named = pods.slice(0, namedAtMost).map(({ podNamespace, podName, phase, error }) => {
    const where = error === undefined ? phase : `${phase}: ${error.message}`;
    return `${podNamespace}/${podName} (${where})`;
  });
  return `${named.join(', ')}${pods.length > namedAtMost ? ` and ${pods.length - namedAtMost} more` : ''}`;
}

export interface SyncPhasesOptions {
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  /** Undefined when the manager has no pod client. */
  readonly records: SyncRecords | undefined;
  /** Undefined when the manager has no pod client. */
  readonly gate: Pick<RequestGate, 'pausedUntil'> | undefined;
  readonly runState: { readonly name: RunStateName };
}

/** Says of each pod where its newest status stands. Changes nothing. */
export class SyncPhases {
  readonly #options: SyncPhasesOptions;

  constructor(options: SyncPhasesOptions) {
    this.#options = options;
  }

  /** A pod that the pod manager fails to speak of is pending. */
  phaseOf(podUID: string): PodSyncPhase {
    return callGuarded(() => this.#phaseOf(podUID), ignoreFailure) ?? 'pending';
  }

  heldPhaseOf(podUID: string): HeldPhase | undefined {
    const phase = this.phaseOf(podUID);
    return heldPhases.find((held) => held === phase);
  }

  describe(podUID: string): UnsettledPod {
    const { podStatuses, records } = this.#options;
    // one whose entry was dropped has settled: nobody asks about it here
    const { podNamespace = '', podName = '' } = podStatuses.get(podUID) ?? {};
    return { podUID, podNamespace, podName, phase: this.phaseOf(podUID), error: records?.state(podUID)?.lastError };
  }

  /** True when the version is on the apiserver, its pod is gone, or only time or the agent can move it on. */
  isSettled(podUID: string, version: number): boolean {
    return callGuarded(() => this.#isSettled(podUID, version), ignoreFailure) ?? false;
  }

  /** True when the newest version is on the apiserver. */
  isAcknowledged(podUID: string): boolean {
    return callGuarded(() => this.#isAcknowledged(podUID), ignoreFailure) ?? false;
  }

  #isAcknowledged(podUID: string): boolean {
    const { podStatuses, records } = this.#options;
    return records?.isAcknowledged(podUID, podStatuses.get(podUID)?.version ?? 0) ?? false;
  }

  #phaseOf(podUID: string): PodSyncPhase {
    const { podStatuses, agent, records, gate, runState } = this.#options;
    const entry = podStatuses.get(podUID);
    if (entry === undefined) return 'unknown';
    if (records === undefined) return 'cache-only';
    const state = records.state(podUID);
    if (state?.underWay !== undefined) return 'in-flight';
    const isAcknowledged = (): boolean => this.#isAcknowledged(podUID);
    const waiting = state?.wait && phaseOfWait(state.wait, entry.version, isAcknowledged);
    if (waiting !== undefined) return waiting;
    if (agent.target(podUID) === undefined) return 'no-mirror-pod';
    if (isAcknowledged()) {
      if (state?.phaseHeldBack) return 'terminal-phase-held-back';
      return agent.hasVanished(podUID) ? 'gone' : 'in-sync';
    }
    if (runState.name === 'idle' || runState.name === 'stopped') return 'not-started';
    return gate?.pausedUntil === undefined ? 'pending' : 'paused';
  }

  #isSettled(podUID: string, version: number): boolean {
    const { podStatuses, agent, records } = this.#options;
    const entry = podStatuses.get(podUID);
    if (records === undefined || entry === undefined) return true;
    if (records.isAcknowledged(podUID, version)) return true;
    const state = records.state(podUID);
    if (state?.underWay !== undefined) return false;
    const target = agent.target(podUID);
    if (target === undefined) return true;
    const wait = state?.wait;
    if (wait?.kind !== 'gone' && wait?.kind !== 'quarantined') return false;
    // a newer version is sent, and so is this one where another copy has come than the one it waits on
    return wait.version >= entry.version && !isOvertaken(wait, agent.freshest(target)?.resourceVersion);
  }
}

/** Undefined for a wait that does not keep the newest version back: nothing was tried with it yet. */
function phaseOfWait(wait: Wait, version: number, isAcknowledged: () => boolean): PodSyncPhase | undefined {
  if (wait.kind === 'backoff') return 'backing-off';
  const isCovered = wait.kind === 'deleting' ? isAcknowledged() : wait.version >= version;
  return isCovered ? wait.kind : undefined;
}
