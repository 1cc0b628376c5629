import type { PodFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Emitter } from '../../base/concurrency/emitter.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import type { EndedFailures } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { isLevelEnabled, type Logger } from '../../base/logging/logger.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { type PodProblem, problemFields } from '../../base/problem.ts';
import type { StatusManagerEvents } from '../events/status-manager-events.ts';
import type { PodStatusReader, VersionedPodStatus } from '../status-cache.ts';
import { type DiffContext, differingPaths, shownVersion } from './explain.ts';
import type { SyncReason } from './look.ts';
import type { Acknowledged, SyncFailure } from './sync-context.ts';
import type { SyncPhases } from './sync-phase.ts';
import type { SyncRecords } from './sync-records.ts';

export interface SyncReportsOptions {
  readonly context: SendLogContext;
  readonly phases: SyncPhases;
  readonly clock: SteadyClock;
  readonly events: Emitter<StatusManagerEvents>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Tells of what the sync has done: events, log lines and measurements. */
export class SyncReports {
  readonly #options: SyncReportsOptions;
  readonly #sendLog: SendLog;
  readonly #recoveries: RecoveryLines;
  /** When a version that the apiserver had was last found to be due again, by pod uid and `Clock.elapsed`. */
  readonly #resentSince = new LateMap<string, number>();

  constructor(options: SyncReportsOptions) {
    this.#options = options;
    this.#sendLog = new SendLog(options.context, options.logger);
    this.#recoveries = new RecoveryLines(options);
  }

  /** The pod waits for a slot from now on. */
  sending(podUID: string, entry: VersionedPodStatus, urgent: boolean, cause: SendCause | undefined): void {
    if (cause === 'reconcile' || this.#options.phases.isAcknowledged(podUID))
      this.#resentSince.set(podUID, this.#options.clock.elapsed());
    this.#sendLog.sending(podUID, entry, urgent, cause);
  }

  /** How long the apiserver has lacked what the entry says, in milliseconds: since it was set, or since what others have changed was found. */
  lackingMs(podUID: string, { agesFrom }: VersionedPodStatus): number {
    return this.#options.clock.elapsed() - Math.max(agesFrom, this.#resentSince.get(podUID) ?? agesFrom);
  }

  /** The pod's entry was dropped. */
  forget(podUID: string): void {
    this.#resentSince.delete(podUID);
  }

  acknowledged(podUID: string, { entry, patched }: Acknowledged): void {
    const { events, logger, metrics } = this.#options;
    const { podName, podNamespace, version } = entry;
    const lackingMs = this.lackingMs(podUID, entry);
    const delayMs = Math.round(lackingMs);
    metrics.observe('kubelet_pod_status_sync_duration_seconds', lackingMs / 1000);
    logger.debug({ podUID, podNamespace, podName, version, patched, sinceSetMs: delayMs }, 'the apiserver has the version');
    events.emit('synced', Object.freeze({ podUID, podName, podNamespace, version, patched, delayMs }));
  }

  failed(
    podUID: string,
    entry: VersionedPodStatus | undefined,
    { errorClass, error, attempt, retryInMs }: SyncFailure,
    known: Pick<PodProblem, 'kind' | 'since' | 'help'> | undefined,
  ): void {
    const { clock, events, logger, metrics } = this.#options;
    if (retryInMs !== undefined) metrics.increment('pod_status_manager_retries_total', { error_class: errorClass });
    if (errorClass === 'throttled' || errorClass === 'unauthorized') {
      metrics.increment('pod_status_manager_pauses_total', { error_class: errorClass });
    }
    const { podName, podNamespace } = entry ?? {};
    const fields = {
      err: error,
      podUID,
      podNamespace,
      podName,
      errorClass,
      ...problemFields({ attempt, ...known }, clock.now()),
    };
    logger.warn({ ...fields, retryInMs }, 'a pod could not be brought up to date');
    const event = { podUID, podName, podNamespace, errorClass, error, attempt, retryInMs };
    events.emit('syncError', Object.freeze(event));
  }

  /** Requests of the pod succeed after failures that were told. */
  recovered(pod: PodFields, ended: EndedFailures): void {
    if (this.#recoveries.take()) this.#options.logger.info({ ...pod, ...ended }, 'a pod is brought up to date again');
  }

  /** No timer is left. */
  stop(): void {
    this.#recoveries.stop();
  }
}

interface SendLogContext extends DiffContext {
  readonly podStatuses: PodStatusReader;
  readonly records: SyncRecords;
}

/** What a pod is sent for, where that is not its newest version: what a look has found, or what was asked for. */
export type SendCause = SyncReason | 'asked' | 'read';

const causes: Readonly<Record<Exclude<SendCause, 'version'>, string>> = {
  reconcile: 'the API copy says something else than the acknowledged version',
  delete: 'the deletion is due',
  asked: 'reconcile() was called',
  read: 'the pod is to be read again',
};

/** Logs for debugging why each pod is sent. Costs nothing where nobody sees it. */
class SendLog {
  readonly #context: SendLogContext;
  readonly #logger: Logger;

  constructor(context: SendLogContext, logger: Logger) {
    this.#context = context;
    this.#logger = logger;
  }

  /** The pod waits for a slot from now on. */
  sending(podUID: string, entry: VersionedPodStatus, urgent: boolean, cause: SendCause | undefined): void {
    if (!isLevelEnabled(this.#logger, 'debug')) return;
    const { records } = this.#context;
    const acknowledgedVersion = shownVersion(records, podUID);
    const { version, podName, podNamespace } = entry;
    const fields = {
      podUID,
      podNamespace,
      podName,
      version,
      acknowledgedVersion,
      urgent,
      reason: this.#reason(podUID, entry, cause),
    };
    this.#logger.debug({ ...fields, ...this.#differs(podUID, entry, cause) }, 'a pod is to be sent');
  }

  #reason(podUID: string, { version }: VersionedPodStatus, cause: SendCause | undefined): string {
    const { records } = this.#context;
    if (cause !== undefined && cause !== 'version') return causes[cause];
    if ((records.state(podUID)?.failures ?? 0) > 0) return 'the last attempt failed';
    return version === 1 ? 'it is the first status of the pod' : 'the status has changed';
  }

  /** The members of the status that a foreign write has changed. */
  #differs(podUID: string, entry: VersionedPodStatus, cause: SendCause | undefined): { readonly differs?: readonly string[] } {
    if (cause !== 'reconcile') return {};
    const { agent } = this.#context;
    const differs = callGuarded(() => {
      const target = agent.target(podUID);
      return target && differingPaths(this.#context, podUID, entry, target);
    }, ignoreFailure);
    return differs === undefined ? {} : { differs };
  }
}
