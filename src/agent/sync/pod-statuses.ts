import { KeyedTimers } from '../../concurrency/keyed-timers.ts';
import type { AgentPodStatus } from '../../pleg/agent-pod-status.ts';
import { generatePodStatus } from '../../runtime-status/generate-pod-status.ts';
import type { Clock } from '../../seams/clock.ts';
import { callGuarded } from '../../seams/guard.ts';
import type { Logger } from '../../seams/logger.ts';
import type { Pod, PodStatus, WirePodStatus } from '../../wire/types.ts';
import type { PodStatusFn } from '../../workers/pod-syncer.ts';
import { withKeptMessages } from './kept-messages.ts';
import type { StartFailures } from './start-failures.ts';
import type { SyncProbes, SyncResizer, SyncStatusManager } from './sync-parts.ts';

export interface PodStatusesOptions {
  readonly statusManager: SyncStatusManager;
  readonly probes: SyncProbes;
  readonly failures: StartFailures;
  readonly hostIPs: () => readonly string[];
  readonly nodeIPs: () => readonly string[];
  readonly resizeConditions: (podUID: string) => PodStatus['conditions'] | undefined;
  readonly resizer: Pick<SyncResizer, 'report'> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** So long the first status of a pod waits for the one that the pod's start gives: one request less for a pod that starts at once. */
const firstStatusMs = 500;

/** Generates the statuses of pods, and tells them to the status manager. */
export class PodStatuses {
  readonly #options: PodStatusesOptions;
  readonly #timers: KeyedTimers<string>;
  /** The first statuses that have not been told yet, by the pod's uid. */
  readonly #waiting = new Map<string, { readonly pod: Pod; readonly status: WirePodStatus }>();

  constructor(options: PodStatusesOptions) {
    this.#options = options;
    this.#timers = new KeyedTimers(options.clock);
  }

  /** The status that follows from what the runtime has. `isOver`: no container of the pod will be started again. */
  generate(pod: Pod, runtimeStatus: AgentPodStatus, isOver = false): WirePodStatus {
    const { statusManager, probes, failures, hostIPs, nodeIPs, resizeConditions, resizer } = this.#options;
    const podUID = pod.metadata?.uid ?? '';
    const previous = statusManager.getPodStatus(podUID) ?? pod.status;
    const status = generatePodStatus({
      pod,
      runtimeStatus: withKeptMessages(runtimeStatus, previous),
      previous,
      podIsTerminal: isOver,
      hostIPs: hostIPs(),
      nodeIPs: nodeIPs(),
      reasons: failures.of(podUID),
      probes,
      resizeConditions: resizeConditions(podUID),
    });
    return resizer?.report(pod, status, runtimeStatus) ?? status;
  }

  /** Tells the status now. A status that waits is not told any more. */
  tell(pod: Pod, status: WirePodStatus, podStatusFn?: PodStatusFn): void {
    this.forget(pod.metadata?.uid ?? '');
    podStatusFn?.(status);
    this.#options.statusManager.setPodStatus(pod, status);
  }

  /** Tells the first status of a pod a little later, unless another one is told before. A later status is told now. */
  tellSoon(pod: Pod, status: WirePodStatus): void {
    const { statusManager, logger } = this.#options;
    const podUID = pod.metadata?.uid ?? '';
    if (statusManager.getPodStatus(podUID) !== undefined || pod.status?.startTime) {
      this.tell(pod, status);
      return;
    }
    const isWaiting = this.#waiting.has(podUID);
    this.#waiting.set(podUID, { pod, status });
    if (isWaiting) return;
    this.#timers.set(podUID, firstStatusMs, () => {
      callGuarded(
        () => this.tellNow(podUID),
        (err) => logger.error({ err, podUID }, 'the first status of a pod could not be told'),
      );
    });
  }

  /** Tells what waits of the pod. */
  tellNow(podUID: string): void {
    const waiting = this.#waiting.get(podUID);
    if (waiting !== undefined) this.tell(waiting.pod, waiting.status);
  }

  /** What waits of the pod is told by nobody. */
  forget(podUID: string): void {
    this.#timers.cancel(podUID);
    this.#waiting.delete(podUID);
  }

  stop(): void {
    this.#timers.cancelAll();
    this.#waiting.clear();
  }
}
