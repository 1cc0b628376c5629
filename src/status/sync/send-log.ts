import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { isLevelEnabled, type Logger } from '../../base/logging/logger.ts';
import type { PodStatusReader, VersionedPodStatus } from '../cache/pod-statuses.ts';
import { shownVersion } from './attempts.ts';
import { type DiffContext, differingPaths } from './explain.ts';
import type { SyncReason } from './reason-to-sync.ts';
import type { SyncRecords } from './sync-records.ts';

export interface SendLogContext extends DiffContext {
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
export class SendLog {
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
    const { version, podName: name, podNamespace: namespace } = entry;
    const fields = { podUID, namespace, name, version, acknowledgedVersion, urgent, why: this.#why(podUID, entry, cause) };
    this.#logger.debug({ ...fields, ...this.#differs(podUID, entry, cause) }, 'a pod is to be sent');
  }

  #why(podUID: string, { version }: VersionedPodStatus, cause: SendCause | undefined): string {
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
