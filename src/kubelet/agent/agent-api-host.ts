import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { HealthCheck, KubeletApiHost } from '../server/api-options.ts';
import { type CountedFiles, type CpuSampler, readNodeStats } from '../server/node-stats.ts';
import { buildStatsSummary } from '../server/stats-summary.ts';
import type { StatsSummary } from '../server/stats-types.ts';
import type { ResolvedSettings } from './agent-settings.ts';

export interface AgentApiHostOptions {
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  readonly lifecycle: PodLifecycle;
  readonly podManager: BasicPodManager;
  readonly statusManager: StatusManager;
  readonly cgroups: PodCgroups;
  readonly settings: ResolvedSettings;
  /** What of the machine's processor time is taken now. */
  readonly cpu: Pick<CpuSampler, 'nanoCores'>;
  /** Gives of a pod its most memory, or that of one of its containers, in bytes, where there is a limit. */
  readonly memoryLimitsOf: (pod: Pod) => (container: string | undefined) => number | undefined;
  /** What was counted of the pod's files on the node. */
  readonly filesOf: (podUID: string) => CountedFiles | undefined;
  readonly metricsText: () => string | Promise<string>;
  readonly lastIterationAt: () => number | undefined;
  readonly clock: SteadyClock;
}

/** A sync loop that has ended no iteration for so long is not healthy; it looks at all pods every two seconds. */
const longestSilenceMs = 30_000;

/** What the agent's own API shows of the agent. */
export class AgentApiHost implements KubeletApiHost {
  readonly runtime: ContainerRuntime;
  readonly #options: AgentApiHostOptions;
  /** By the clock's elapsed time. */
  readonly #startedAt: number;

  constructor(options: AgentApiHostOptions) {
    this.#options = options;
    this.runtime = options.runtime;
    this.#startedAt = options.clock.elapsed();
  }

  pods(): Pod[] {
    return this.#options.podManager.getPods().map((pod) => this.#withStatus(pod));
  }

  pod(namespace: string, name: string, uid: string | undefined): Pod | undefined {
    const { podManager } = this.#options;
    const pod = podManager.getPodByName(namespace, name);
    if (pod === undefined) return undefined;
    const isOther = uid !== undefined && pod.metadata?.uid !== uid && podManager.translatePodUID(uid) !== pod.metadata?.uid;
    return isOther ? undefined : this.#withStatus(pod);
  }

  async runningPods(signal: AbortSignal): Promise<Pod[]> {
    const pods = await this.#options.lifecycle.getPods(signal);
    return pods.map(({ uid, name, namespace }) => ({ metadata: { uid, name, namespace } }));
  }

  async runningContainerID(pod: Pod, container: string, signal: AbortSignal): Promise<string | undefined> {
    const { lifecycle } = this.#options;
    const podUID = podUIDOf(pod);
    // the details have the id as the runtime's calls take it, the status has `containerd://ID`
    const find = ({ containerDetails }: AgentPodStatus): string | undefined =>
      containerDetails.find(({ metadata, state }) => metadata.name === container && state === 'running')?.id;
    return find(lifecycle.get(podUID)) ?? find(await lifecycle.refresh(podUID, signal));
  }

  async sandboxID(pod: Pod, signal: AbortSignal): Promise<string | undefined> {
    const { sandboxDetails } = await this.#options.lifecycle.refresh(podUIDOf(pod), signal);
    return sandboxDetails.find(({ state }) => state === 'ready')?.id;
  }

  healthChecks(): HealthCheck[] {
    return [
      {
        name: 'syncloop',
        check: () => {
          const { lastIterationAt, clock } = this.#options;
          const last = lastIterationAt();
          const silentMs = last === undefined ? clock.elapsed() - this.#startedAt : clock.now() - last;
          if (silentMs > longestSilenceMs) throw new Error(`sync Loop took longer than expected: ${silentMs} ms`);
        },
      },
    ];
  }

  metrics(): string | Promise<string> {
    return this.#options.metricsText();
  }

  async statsSummary(signal: AbortSignal): Promise<StatsSummary> {
    const { nodeName, settings, cpu, memoryLimitsOf, filesOf, clock } = this.#options;
    const imageFilesystems = () => this.runtime.imageFilesystems({ signal });
    const { rootDirectory } = settings;
    const [node, sandboxes] = await Promise.all([
      readNodeStats({ nodeName, rootDirectory, imageFilesystems, nanoCores: cpu.nanoCores, clock }),
      this.runtime.listPodSandboxStats({ ready: true }, { signal }),
    ]);
    return buildStatsSummary({ node, sandboxes, pods: this.pods(), memoryLimitsOf, filesOf });
  }

  configz(): unknown {
    const { staticPodURLHeader: _secret, ...settings } = this.#options.settings;
    return settings;
  }

  #withStatus(pod: Pod): Pod {
    const status = this.#options.statusManager.getPodStatus(podUIDOf(pod));
    return status === undefined ? pod : { ...pod, status };
  }
}
