import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { endedFailures } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { problemFields } from '../../base/problem.ts';
import type { HeldPod } from './held-pod.ts';
import type { NodePod } from './pod-provider.ts';
import type { PodResolver } from './pod-resolver.ts';
import type { ProvidedPod, ProviderChange } from './provided-pod.ts';
import { heldStatus } from './provided-status.ts';
import { nodePod, type ProviderCalls } from './provider-calls.ts';
import { heldProblem } from './provider-problems.ts';
import type { ToldStatuses } from './told-statuses.ts';

export interface ResolvedPodsOptions {
  /** Undefined where the provider wants pods as they are. */
  readonly resolver: PodResolver | undefined;
  readonly calls: Pick<ProviderCalls, 'event'>;
  readonly statuses: ToldStatuses;
  readonly recoveries: RecoveryLines;
  /** How often a pod that waits is looked at, in milliseconds. */
  readonly lookMs: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** A pod for the provider. */
export interface HandedPod {
  readonly pod: NodePod;
  /** To be called once the provider's call has settled. */
  readonly release: () => void;
}

/** Hands a pod over only once what it refers to is there, and tells what is missing until then. */
export class ResolvedPods {
  readonly #options: ResolvedPodsOptions;

  constructor(options: ResolvedPodsOptions) {
    this.#options = options;
  }

  /** Undefined while the pod waits. Rejects with the signal's reason alone. */
  async take(record: ProvidedPod, method: ProviderChange['method'], signal: AbortSignal): Promise<HandedPod | undefined> {
    const { resolver, calls } = this.#options;
    const { pod } = record;
    if (resolver === undefined) return { pod: nodePod(pod), release: () => {} };
    resolver.register(pod);
    const podIPs = record.answer?.podIPs ?? pod.status?.podIPs ?? [];
    const addresses = podIPs.flatMap(({ ip }) => (ip ? [ip] : []));
    const resolution = await resolver.resolve(pod, addresses, signal);
    if ('held' in resolution) {
      this.#hold(record, method, resolution.held);
      return undefined;
    }
    for (const { reason, message } of resolution.notes) calls.event(record, reason, message);
    this.#noteReady(record);
    const release = (): void => {
      resolution.release();
      resolver.unregister(pod);
    };
    return { pod: resolution.pod, release };
  }

  #hold(record: ProvidedPod, method: ProviderChange['method'], held: HeldPod): void {
    const { calls, statuses, lookMs, clock, logger } = this.#options;
    const before = record.held;
    const { kind, message, help } = held;
    const now = clock.now();
    record.held = {
      kind,
      message,
      help,
      attempt: (before?.attempt ?? 0) + 1,
      since: before?.since ?? now,
      retryAt: now + lookMs,
    };
    // a pod that runs goes on as it is
    if (method === 'createPod') statuses.tell(record, heldStatus(statuses.facts(record), held));
    if (before?.message === message) return;
    for (const { reason, message: text } of held.events) calls.event(record, reason, text);
    const fields = { ...podFields(record.pod.metadata), method, ...problemFields(heldProblem(record.held), now) };
    logger.warn({ ...fields, reason: message }, 'a pod waits for what it refers to');
  }

  #noteReady(record: ProvidedPod): void {
    const { recoveries, clock, logger } = this.#options;
    const { held } = record;
    record.held = undefined;
    if (held === undefined || !recoveries.take()) return;
    logger.info({ ...podFields(record.pod.metadata), ...endedFailures(held, clock.now()) }, 'a pod has what it waited for');
  }
}
