import type { Pod } from '../../api/json/types.ts';
import { configMirrorAnnotationKey, isMirrorPod, isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import type { StatusManagerError } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import type { NodePod, PodProvider } from './pod-provider.ts';
import type { ProvidedPods } from './provided-pods.ts';
import { nodePod, shortErrorText } from './provider-calls.ts';
import { lateCallError, type StartCallFailure, startCallFailed } from './provider-listing.ts';
import type { ProviderMetrics } from './provider-metrics.ts';
import { adoptionProblem, releaseProblem } from './provider-problems.ts';

/** How long one call of `adopt` is waited for, and the call of `release` at most. */
const callTimeoutMs = 10_000;

export interface ProviderHandOverOptions {
  readonly provider: Pick<PodProvider, 'adopt' | 'release'>;
  readonly pods: Pick<ProvidedPods, 'awaitAdoption' | 'noteAdopted' | 'list'>;
  /** Something of the pod may have changed: it is asked about soon. */
  readonly notice: (podUID: string) => void;
  readonly nodeName: string;
  readonly metrics: ProviderMetrics;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/**
 * Tells a provider which pods an earlier run of the agent has begun, and at the end that this one has nothing to do with them any more.
 * Until `adopt` has succeeded the provider's word that there is no such pod does not count.
 */
export class ProviderHandOver {
  readonly #options: ProviderHandOverOptions;
  readonly #stopping = new AbortController();
  readonly #firstList = Promise.withResolvers<readonly NodePod[]>();
  #begun: readonly NodePod[] | undefined;
  #failure: StartCallFailure | undefined;
  #isAdopted = false;
  #releaseProblem: Problem | undefined;
  #releasingSince: number | undefined;

  constructor(options: ProviderHandOverOptions) {
    this.#options = options;
  }

  /** True for a provider that is told of the pods before it is asked for any. */
  get adopts(): boolean {
    return this.#options.provider.adopt !== undefined;
  }

  /** True while the apiserver's pods are waited for. */
  get awaitsList(): boolean {
    return this.adopts && this.#begun === undefined;
  }

  /** True while the first call of `adopt` is under way. */
  get isAwaited(): boolean {
    return this.adopts && !this.#isAdopted && this.#failure === undefined;
  }

  /** The pods of the apiserver. The first list counts: what comes later this run has begun itself. */
  seen(pods: readonly Pod[]): void {
    if (!this.awaitsList) return;
    this.#begun = pods.filter(isBegun).map(providersPod);
    this.#firstList.resolve(this.#begun);
  }

  /**
   * Resolves once the provider has adopted the pods of the first list, or could not at once: then it is asked again, half a second later
   * and less and less often. At once for a provider without `adopt`. Never rejects.
   */
  async begin(): Promise<void> {
    const { signal } = this.#stopping;
    if (!this.adopts) return;
    const begun = await untilAborted(this.#firstList.promise, signal).catch(ignoreFailure);
    if (begun === undefined) return;
    this.#options.pods.awaitAdoption(begun.map(podUIDOf));
    if (!(await this.#adopt(begun))) this.#again(begun).catch(ignoreFailure);
  }

  /** Why the provider has not adopted the pods yet; undefined while nothing has failed, and once it has. */
  get problem(): Problem | undefined {
    return this.#failure === undefined || this.#isAdopted ? undefined : adoptionProblem(this.#failure);
  }

  /** Why the provider could not be told at the end that this run has nothing to do with the pods any more; undefined before. */
  get releaseProblem(): Problem | undefined {
    return this.#releaseProblem;
  }

  /** Since when `release` is under way, in milliseconds since the epoch, also once it is not waited for any more; undefined otherwise. */
  get releasingSince(): number | undefined {
    return this.#releasingSince;
  }

  /** `adopt` is not called any more, and no timer is left. */
  stop(): void {
    this.#stopping.abort(new Error('the provider node stops'));
  }

  /** To be called once, when no other call of the provider is under way or waited for. Never rejects, and takes no longer than `timeoutMs`. */
  async release(timeoutMs: number): Promise<void> {
    const { provider, metrics, clock, logger, nodeName } = this.#options;
    if (provider.release === undefined) return;
    const limitMs = Math.max(1, Math.min(timeoutMs, callTimeoutMs));
    const late = (): StatusManagerError => lateCallError('release', limitMs);
    try {
      const release = (signal: AbortSignal): Promise<unknown> => metrics.call('release', signal, () => this.#callRelease(signal));
      await callWithin(release, { clock, timeoutMs: limitMs, late });
    } catch (err) {
      const problem = releaseProblem(shortErrorText(err), clock.now());
      this.#releaseProblem = problem;
      logger.error(
        { err, node: nodeName, ...problemFields(problem, clock.now()) },
        'the provider failed when it was told that its pods are no longer run from here',
      );
    }
  }

  async #callRelease(signal: AbortSignal): Promise<void> {
    const { provider, clock } = this.#options;
    this.#releasingSince = clock.now();
    try {
      await provider.release?.({ signal });
    } finally {
      this.#releasingSince = undefined;
    }
  }

  async #again(begun: readonly NodePod[]): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const { dueAt = 0 } = this.#failure ?? {};
      await sleep(clock, Math.max(0, dueAt - clock.elapsed()), signal);
      if (signal.aborted || !(await this.#adopt(begun))) continue;
      await this.#askAnew(begun);
      return;
    }
  }

  /** The pods were adopted after the node had begun: what the provider said of them until then is out of date. */
  async #askAnew(begun: readonly NodePod[]): Promise<void> {
    const { pods, notice, clock } = this.#options;
    const { signal } = this.#stopping;
    const late = (): StatusManagerError => lateCallError('getPods', callTimeoutMs);
    // one that fails is asked for again when the next list is due
    await callWithin((own) => pods.list(own), { clock, timeoutMs: callTimeoutMs, signal, late }).catch(ignoreFailure);
    pods.noteAdopted();
    for (const pod of begun) notice(podUIDOf(pod));
  }

  /** False where it has failed. */
  async #adopt(begun: readonly NodePod[]): Promise<boolean> {
    const { provider, pods, metrics, clock, logger, nodeName } = this.#options;
    const { signal } = this.#stopping;
    const late = (): StatusManagerError => lateCallError('adopt', callTimeoutMs);
    const adopt = (own: AbortSignal): Promise<unknown> =>
      metrics.call('adopt', own, async () => provider.adopt?.(begun, { signal: own }));
    try {
      await callWithin(adopt, { clock, timeoutMs: callTimeoutMs, signal, late });
      this.#isAdopted = true;
      if (this.#failure === undefined) pods.noteAdopted();
      else logger.info({ node: nodeName, ...endedFailures(this.#failure, clock.now()) }, 'the provider has adopted its pods');
      return true;
    } catch (err) {
      if (signal.aborted) return true;
      this.#failure = startCallFailed(this.#failure, err, clock);
      const problem = problemFields(adoptionProblem(this.#failure), clock.now());
      logger.error({ err, node: nodeName, ...problem }, 'the provider has not adopted the pods that an earlier run has begun');
      return false;
    }
  }
}

/** True for a pod that has not ended, and of which something may run: an earlier run has told of it. */
function isBegun({ status }: Pod): boolean {
  if (isTerminalPhase(status?.phase)) return false;
  const { startTime, containerStatuses, initContainerStatuses } = status ?? {};
  return startTime != null || (containerStatuses?.length ?? 0) > 0 || (initContainerStatuses?.length ?? 0) > 0;
}

/** The pod under the uid by which the provider knows it: a mirror pod has one of its own. */
function providersPod(pod: Pod): NodePod {
  const uid = isMirrorPod(pod) ? pod.metadata?.annotations?.[configMirrorAnnotationKey] : undefined;
  return nodePod(uid === undefined ? pod : { ...pod, metadata: { ...pod.metadata, uid } });
}
