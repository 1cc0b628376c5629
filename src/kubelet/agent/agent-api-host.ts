import { measuredAt } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { HealthCheck } from '../../node/server/api-host.ts';
import { ServedPods } from '../../node/server/served-pods.ts';
import type { StatsSummary, VolumeStats } from '../../node/server/stats-types.ts';
import { syncLoopCheck } from '../../node/server/sync-loop-check.ts';
import type { SyncLoop } from '../../node/workers/sync-loop.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import { ContainerMetrics } from '../cadvisor/container-metrics.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { ClaimedUsage } from '../claims/claim-usage.ts';
import { MachineCgroups } from '../machine/machine.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { AllocationManager } from '../resize/allocation-manager.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { KubeletApiHost } from '../server/api-options.ts';
import { type CpuSampler, readNodeStats } from '../server/node-stats.ts';
import { buildStatsSummary } from '../server/stats-summary.ts';
import { volumeMetricsText } from '../server/volume-metrics.ts';
import type { AgentVolumes } from './agent-volumes.ts';
import type { GarbageCollection } from './garbage-collection.ts';
import { toldConfiguration } from './kubelet-configuration.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface AgentApiHostOptions {
  readonly statusManager: Pick<StatusManager, 'getPodStatus'>;
  readonly pleg: Pick<PodLifecycle, 'getPods' | 'get' | 'refresh'>;
  /** What of the machine's processor time is taken now. */
  readonly cpu: Pick<CpuSampler, 'nanoCores'>;
  readonly allocationManager: Pick<AllocationManager, 'memoryLimitsOf'>;
  readonly garbageCollection: Pick<GarbageCollection, 'filesOf'>;
  readonly volumes: Pick<AgentVolumes, 'usages'>;
  readonly loop: Pick<SyncLoop, 'lastIterationAt'>;
  readonly cgroups: PodCgroups;
}

/** What the agent's own API shows of the agent. */
export class AgentApiHost implements KubeletApiHost {
  readonly runtime: ContainerRuntime;
  readonly #agent: ResolvedAgentOptions;
  readonly #options: AgentApiHostOptions;
  readonly #pods: ServedPods;
  readonly #syncLoopCheck: HealthCheck;
  readonly #containerMetrics: ContainerMetrics;

  constructor(agent: ResolvedAgentOptions, options: AgentApiHostOptions) {
    this.#agent = agent;
    this.#options = options;
    this.runtime = agent.given.runtime;
    this.#pods = new ServedPods(agent.podManager, options.statusManager);
    this.#syncLoopCheck = syncLoopCheck(options.loop, agent.clock);
    const { machine, settings, clock, logger } = agent;
    const { cgroupRoot } = settings;
    const pods = (): Pod[] => this.pods();
    this.#containerMetrics = new ContainerMetrics({ runtime: this.runtime, machine, cgroupRoot, pods, clock, logger });
  }

  pods(): Pod[] {
    return this.#pods.all();
  }

  pod(namespace: string, name: string, uid: string | undefined): Pod | undefined {
    return this.#pods.find(namespace, name, uid);
  }

  async runningPods(signal: AbortSignal): Promise<Pod[]> {
    const pods = await this.#options.pleg.getPods(signal);
    return pods.map(({ uid, name, namespace }) => ({ metadata: { uid, name, namespace } }));
  }

  async runningContainerID(pod: Pod, container: string, signal: AbortSignal): Promise<string | undefined> {
    const { pleg } = this.#options;
    const podUID = podUIDOf(pod);
    // the details have the id as the runtime's calls take it, the status has `containerd://ID`
    const find = ({ containerDetails }: AgentPodStatus): string | undefined =>
      containerDetails.find(({ metadata, state }) => metadata.name === container && state === 'running')?.id;
    return find(pleg.get(podUID)) ?? find(await pleg.refresh(podUID, signal));
  }

  async sandboxID(pod: Pod, signal: AbortSignal): Promise<string | undefined> {
    const { sandboxDetails } = await this.#options.pleg.refresh(podUIDOf(pod), signal);
    return sandboxDetails.find(({ state }) => state === 'ready')?.id;
  }

  healthChecks(): HealthCheck[] {
    return [this.#syncLoopCheck];
  }

  async metrics(): Promise<string> {
    const claimed = await this.#claimed(this.pods());
    const text = (await this.#agent.given.metricsText?.()) ?? '';
    // nothing may stand behind the end of OpenMetrics
    return `${volumeMetricsText([...claimed.values()].flat())}${text}`;
  }

  async statsSummary(signal: AbortSignal): Promise<StatsSummary> {
    const { nodeName, settings, clock } = this.#agent;
    const { cpu, allocationManager, garbageCollection } = this.#options;
    const pods = this.pods();
    const imageFilesystems = () => this.runtime.imageFilesystems({ signal });
    const { rootDirectory } = settings;
    const [node, sandboxes, claimed] = await Promise.all([
      readNodeStats({ nodeName, rootDirectory, imageFilesystems, nanoCores: cpu.nanoCores, clock }),
      this.runtime.listPodSandboxStats({ ready: true }, { signal }),
      this.#claimed(pods),
    ]);
    return buildStatsSummary({
      node,
      sandboxes,
      pods,
      memoryLimitsOf: (pod) => allocationManager.memoryLimitsOf(pod),
      filesOf: (podUID) => garbageCollection.filesOf(podUID),
      claimedOf: (podUID) => claimed.get(podUID) ?? [],
    });
  }

  readonly containerMetrics = (): Promise<string> => this.#containerMetrics.text();

  /** How full claimed volumes are, by the uid of the pod. */
  async #claimed(pods: readonly Pod[]): Promise<ReadonlyMap<string, readonly VolumeStats[]>> {
    const { volumes } = this.#options;
    const usages = async (uid: string) => [uid, (await volumes.usages(uid)).map(claimedStats)] as const;
    return new Map(await Promise.all(pods.map((pod) => usages(podUIDOf(pod)))));
  }

  configz(): unknown {
    const { settings, given, server, kubeletConfiguration: further } = this.#agent;
    const { cgroups } = this.#options;
    const cgroupDriver = cgroups instanceof MachineCgroups ? cgroups.driver : undefined;
    return toldConfiguration({ settings, given, server: server && { ...given.server, ...server }, cgroupDriver, further });
  }
}

function claimedStats({ at, name, claim, ...usage }: ClaimedUsage): VolumeStats {
  return { time: measuredAt(at), ...usage, name, pvcRef: claim };
}
