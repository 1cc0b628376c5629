// Behaviour of the clean-up in HandlePodCleanups (pkg/kubelet/kubelet_pods.go), v1.36.3.

import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settledAtOnce, settlesWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ProblemFields, problemFields } from '../../base/problem.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { UserNamespaces } from '../containers/user-namespaces.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { ContainerCollector } from '../pods/container-collector.ts';
import type { VolumeManager } from '../volumes/volume-manager.ts';

export interface AgentCleanupOptions {
  readonly lifecycle: Pick<PodLifecycle, 'getPods' | 'podUIDs' | 'refresh'>;
  readonly containers: Pick<ContainerCollector, 'removePod' | 'removeLogs'>;
  readonly volumes: Pick<VolumeManager, 'orphans' | 'unmountVolumes'>;
  readonly cgroups: Pick<PodCgroups, 'listPods' | 'removePod'>;
  readonly userNamespaces: Pick<UserNamespaces, 'podUIDs' | 'release'>;
  /** Asked right before something is removed: a pod may have come meanwhile. */
  readonly isKnown: (podUID: string) => boolean;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** The volumes of so many pods are unmounted at once. */
const unmountsAtOnce = 16;
const unmountPatienceMs = 10_000;

/** Takes away what is left on the node of pods that nobody knows any more: containers that have ended, logs, volumes and cgroups. */
export class AgentCleanup {
  readonly #options: AgentCleanupOptions;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  /** Something could not be removed in the look that is under way. */
  #hasFailed = false;
  /** The pods that something could not be removed of in that look. */
  readonly #failedUIDs = new Set<string>();
  #run: Promise<void> | undefined;
  /** The pods whose volumes are being unmounted. */
  readonly #unmounting = new Set<string>();

  constructor(options: AgentCleanupOptions) {
    this.#options = options;
    this.#failures = new FailureRun(options.clock, (ended) =>
      options.logger.info(ended, 'what pods have left can be removed again'),
    );
  }

  /** Why something that pods have left is still there; undefined while all is well. */
  get failing(): Failing | undefined {
    return this.#failures.failing;
  }

  /** Begins a look, unless one is under way. `desired` are the uids of known pods; what the runtime still has is known, too. */
  look(desired: ReadonlySet<string>): void {
    if (this.#stopping.signal.aborted || this.#run !== undefined) return;
    this.#hasFailed = false;
    this.#failedUIDs.clear();
    // what never settles does not keep the agent from stopping
    this.#run = untilAborted(this.#look(desired), this.#stopping.signal)
      .then(() => {
        if (!this.#hasFailed) this.#failures.succeeded();
      })
      .catch((err: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#options.logger.warn({ err, ...this.#failed(err) }, 'what pods have left could not be cleaned up');
      })
      .finally(() => {
        this.#run = undefined;
      });
  }

  /** Resolves once no look is under way. */
  async settled(): Promise<void> {
    await this.#run;
  }

  /** Ends the look that is under way, and begins no other. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #look(desired: ReadonlySet<string>): Promise<void> {
    const { volumes, cgroups, lifecycle, isKnown, userNamespaces } = this.#options;
    const { signal } = this.#stopping;
    const known = new Set(desired);
    const isLeft = (podUID: string): boolean => !known.has(podUID) && !isKnown(podUID);
    const leftVolumes = (await volumes.orphans(known)).filter(isLeft);
    const leftGroups = (await cgroups.listPods()).filter(isLeft);
    const leftPods = lifecycle.podUIDs().filter(isLeft);
    const leftNamespaces = userNamespaces.podUIDs.filter(isLeft);
    // what runs of such a pod is ended by the sync loop first
    for (const { uid } of await lifecycle.getPods(signal)) known.add(uid);
    const mounted = new Set(leftVolumes);
    const unmounting = this.#unmount(mounted, isLeft);
    for (const podUID of leftGroups) if (isLeft(podUID)) await this.#try(podUID, () => cgroups.removePod(podUID));
    for (const podUID of leftPods) if (isLeft(podUID)) await this.#try(podUID, () => this.#removeContainers(podUID, isLeft));
    await this.#options.containers.removeLogs(isLeft);
    await unmounting;
    // while anything of a pod may be left, nobody else gets its ids
    for (const podUID of leftNamespaces) {
      const mayBeLeft = this.#failedUIDs.has(podUID) || mounted.has(podUID) || this.#unmounting.has(podUID);
      const isGone = isLeft(podUID) && !mayBeLeft;
      if (isGone) await this.#try(podUID, () => userNamespaces.release(podUID));
    }
  }

  /**
   * Takes the pods out of `mounted` whose volumes are gone. A driver may take minutes, or hang: its pods hold up neither those of
   * others nor the next look.
   */
  async #unmount(mounted: Set<string>, isLeft: (podUID: string) => boolean): Promise<void> {
    const { volumes, clock } = this.#options;
    const begun = [...mounted].filter((podUID) => !this.#unmounting.has(podUID));
    const all = settledAtOnce(begun, unmountsAtOnce, async (podUID) => {
      if (!isLeft(podUID)) return;
      this.#unmounting.add(podUID);
      const unmount = async (): Promise<void> => {
        await volumes.unmountVolumes(podUID);
        mounted.delete(podUID);
      };
      await this.#try(podUID, unmount).finally(() => this.#unmounting.delete(podUID));
    });
    await settlesWithin(all, { clock, timeoutMs: unmountPatienceMs, signal: this.#stopping.signal });
  }

  async #removeContainers(podUID: string, isLeft: (podUID: string) => boolean): Promise<void> {
    const { containers, lifecycle } = this.#options;
    const { signal } = this.#stopping;
    await containers.removePod(podUID, () => isLeft(podUID), signal);
    await lifecycle.refresh(podUID, signal);
  }

  /** One look counts as one try, however much of it fails. */
  #failed(err: unknown): ProblemFields {
    const failing = (this.#hasFailed ? this.#failures.failing : undefined) ?? this.#failures.failed(err);
    this.#hasFailed = true;
    return problemFields({ ...failing, ...helped('clean-up') }, this.#options.clock.now());
  }

  async #try(podUID: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (err) {
      this.#stopping.signal.throwIfAborted();
      const problem = this.#failed(err);
      this.#failedUIDs.add(podUID);
      this.#options.logger.warn(
        { err, ...podFields({ uid: podUID }), ...problem },
        'what a pod has left could not be removed; it is tried again',
      );
    }
  }
}
