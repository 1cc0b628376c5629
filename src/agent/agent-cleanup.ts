// Behaviour of the clean-up in HandlePodCleanups (pkg/kubelet/kubelet_pods.go), v1.36.3.
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { Logger } from '../seams/logger.ts';
import type { HousekeepingReport } from '../sync-loop/sync-loop-options.ts';
import type { VolumeManager } from '../volumes/volume-manager.ts';

export interface AgentCleanupOptions {
  readonly lifecycle: Pick<PodLifecycle, 'getPods'>;
  readonly volumes: Pick<VolumeManager, 'orphans' | 'unmountVolumes'>;
  readonly cgroups: Pick<PodCgroups, 'listPods' | 'removePod' | 'updateClasses'>;
  /** Asked right before something is removed: a pod may have come meanwhile. */
  readonly isKnown: (podUID: string) => boolean;
  readonly logger: Logger;
}

/** Takes away what is left on the node of pods that nobody knows any more: volumes and cgroups. */
export class AgentCleanup {
  readonly #options: AgentCleanupOptions;
  readonly #stopping = new AbortController();
  #run: Promise<void> | undefined;

  constructor(options: AgentCleanupOptions) {
    this.#options = options;
  }

  /** Begins a look, unless one is under way. Pods of the report are known, and so is what the runtime still has. */
  look(report: HousekeepingReport): void {
    if (this.#stopping.signal.aborted || this.#run !== undefined) return;
    this.#run = this.#look(report)
      .catch((err: unknown) => {
        if (!this.#stopping.signal.aborted) this.#options.logger.warn({ err }, 'what pods have left could not be cleaned up');
      })
      .finally(() => {
        this.#run = undefined;
      });
  }

  /** Resolves once no look is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #look({ pods, possiblyRunning }: HousekeepingReport): Promise<void> {
    const { volumes, cgroups, lifecycle, isKnown } = this.#options;
    const { signal } = this.#stopping;
    const known = new Set([...possiblyRunning, ...pods.map(({ metadata }) => metadata?.uid ?? '')]);
    await cgroups.updateClasses(pods.filter(({ metadata }) => possiblyRunning.has(metadata?.uid ?? '')));
    const isLeft = (podUID: string): boolean => !known.has(podUID) && !isKnown(podUID);
    const leftVolumes = (await volumes.orphans(known)).filter(isLeft);
    const leftGroups = (await cgroups.listPods()).filter(isLeft);
    if (leftVolumes.length + leftGroups.length === 0) return;
    for (const { uid } of await lifecycle.getPods(signal)) known.add(uid);
    for (const podUID of leftVolumes) if (isLeft(podUID)) await this.#try(podUID, () => volumes.unmountVolumes(podUID));
    for (const podUID of leftGroups) if (isLeft(podUID)) await this.#try(podUID, () => cgroups.removePod(podUID));
  }

  async #try(podUID: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (err) {
      this.#options.logger.warn({ err, podUID }, 'what a pod has left could not be removed; it is tried again');
    }
  }
}
