// Behaviour of pkg/kubelet/cm/node_container_manager_linux.go, v1.36.3.

import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { errorText, StatusManagerError } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { NodeLimits } from '../cgroups/cgroup-resources.ts';
import { noPodCgroups, pageSize, pageSizesOf } from '../machine/machine.ts';
import { resourcesForPods } from '../machine/node-resources.ts';
import type { AgentNode } from './agent-node.ts';
import type { ResolvedSettings } from './agent-settings.ts';
import { enforcementsOf, requireLimitsOfVersion } from './limit-settings.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface NodeLimitGroupsOptions {
  readonly cgroups: Pick<PodCgroups, 'createBase' | 'limitGroup'>;
  readonly settings: Pick<
    ResolvedSettings,
    'cgroupsPerQOS' | 'enforceNodeAllocatable' | 'systemReserved' | 'kubeReserved' | 'systemReservedCgroup' | 'kubeReservedCgroup'
  >;
  /** What all pods together may use. */
  readonly forPods: ResourceQuantities;
  readonly nodeEvent: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const retryMs = 60_000;

/** Makes the cgroups of all pods, and limits them and the groups of the machine's own services to what the settings give each. */
export class NodeLimitGroups {
  readonly #options: NodeLimitGroupsOptions;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  #starting: Promise<void> | undefined;
  #run: Promise<void> | undefined;
  /** When it is tried next, in milliseconds since the epoch. */
  #retryAt = 0;

  constructor(options: NodeLimitGroupsOptions) {
    this.#options = options;
    this.#failures = new FailureRun(options.clock, (ended) => options.logger.info(ended, 'all pods together are limited again'));
  }

  /** Why all pods together are not limited as the settings say; undefined while they are. */
  get failing(): (Failing & { readonly retryAt: number }) | undefined {
    const { failing } = this.#failures;
    return failing && { ...failing, retryAt: this.#retryAt };
  }

  /**
   * Rejects where the groups of pods cannot be made, or a group of the machine's own services cannot be limited. Where all pods
   * together cannot be limited, since they take more already, it is tried again each minute: evictions make room. Rejects with
   * ERR_STOPPED once it is stopped; no group is written after that.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort(new StatusManagerError('ERR_STOPPED', 'The node agent was stopped before its cgroups were made'));
    await this.#starting?.catch(ignoreFailure);
    await this.#run;
  }

  async #start(): Promise<void> {
    const { cgroups, settings } = this.#options;
    const { signal } = this.#stopping;
    await cgroups.createBase(undefined, signal);
    signal.throwIfAborted();
    if (cgroups !== noPodCgroups && !(await this.#limitPods())) this.#run = this.#retry();
    signal.throwIfAborted();
    await this.#limitReserved('System', settings.systemReservedCgroup, settings.systemReserved);
    signal.throwIfAborted();
    await this.#limitReserved('Kube', settings.kubeReservedCgroup, settings.kubeReserved);
  }

  async #limitPods(): Promise<boolean> {
    const { cgroups, forPods, nodeEvent, clock, logger } = this.#options;
    try {
      await cgroups.limitGroup('pods', forPods);
      this.#failures.succeeded();
      nodeEvent('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
      return true;
    } catch (err) {
      const failing = this.#failures.failed(err);
      this.#retryAt = Math.round(clock.now() + retryMs);
      const problem = { ...failing, ...helped('cgroups'), retryAt: this.#retryAt };
      logger.warn({ err, ...problemFields(problem, clock.now()) }, 'all pods together could not be limited; it is tried again');
      nodeEvent('Warning', failedReason, `Failed to update Node Allocatable Limits "kubepods": ${failing.message}`);
      return false;
    }
  }

  async #retry(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      await sleep(this.#options.clock, retryMs, signal, { keepAlive: false });
      if (signal.aborted || (await this.#limitPods())) return;
    }
  }

  async #limitReserved(whose: 'System' | 'Kube', group: string, amounts: ResourceQuantities): Promise<void> {
    const { cgroups, settings, nodeEvent } = this.#options;
    const enforced = enforcementsOf(settings);
    const name = whose === 'System' ? 'system-reserved' : 'kube-reserved';
    const onlyCompressible = enforced.includes(`${name}-compressible`);
    if (!onlyCompressible && !enforced.includes(name)) return;
    try {
      await cgroups.limitGroup(group, amounts, onlyCompressible);
    } catch (error) {
      const what = onlyCompressible ? 'Reserved Compressible' : 'Reserved';
      nodeEvent('Warning', failedReason, `Failed to enforce ${whose} ${what} Cgroup Limits on "${group}": ${errorText(error)}`);
      throw error;
    }
    nodeEvent('Normal', 'NodeAllocatableEnforced', `Updated limits on ${whose.toLowerCase()} reserved cgroup ${group}`);
  }
}

/** The groups of an agent's node. Throws ERR_INVALID_OPTION where the machine's cgroups cannot do what the settings ask. */
export function newLimitGroups(
  { nodeName, settings, clock, logger }: ResolvedAgentOptions,
  { cgroups, node, eventRecorder }: LimitGroupNeeds,
): NodeLimitGroups {
  requireLimitsOfVersion(settings, cgroups.version);
  if (settings.featureGates.MemoryQoS === true && cgroups.version === 1) {
    logger.warn({ node: nodeName }, 'the feature gate MemoryQoS does nothing here: the cgroups of this machine are of version 1');
  }
  const nodeEvent: NodeLimitGroupsOptions['nodeEvent'] = (...event) => eventRecorder.nodeEvent(nodeName, ...event);
  return new NodeLimitGroups({ cgroups, settings, forPods: node.limitForPods, nodeEvent, clock, logger });
}

interface LimitGroupNeeds {
  readonly cgroups: PodCgroups;
  readonly node: Pick<AgentNode, 'limitForPods'>;
  readonly eventRecorder: Required<EventRecorder>;
}

const failedReason = 'FailedNodeAllocatableEnforcement';

/** What of the settings and the machine decides over the limits of pods and containers. */
export function limitsOf({ settings, machine }: Pick<ResolvedAgentOptions, 'settings' | 'machine'>): Omit<
  NodeLimits,
  'cgroupVersion'
> & {
  readonly memoryCapacityBytes: number;
} {
  const { cpuCFSQuota, cpuCFSQuotaPeriodMs, podPidsLimit, singleProcessOOMKill, featureGates } = settings;
  const { memoryReservationPolicy: reservationPolicy, memoryThrottlingFactor: throttlingFactor, swapBehavior } = settings;
  const size = { machine, rootBytes: undefined, maxPods: settings.maxPods };
  return {
    ...(featureGates.MemoryQoS === true && {
      memoryQOS: {
        ...{ reservationPolicy, throttlingFactor, pageSizeBytes: pageSize() },
        allocatableBytes: wholeUnits(resourcesForPods(size, settings).memory),
      },
    }),
    ...(machine.limitsSwap && { swap: { behavior: swapBehavior, capacityBytes: machine.swapBytes ?? 0 } }),
    cpuCFSQuota,
    podPidsLimit,
    cpuCFSQuotaPeriodUs: Math.round(cpuCFSQuotaPeriodMs * 1000),
    hugePageSizes: pageSizesOf(machine),
    memoryCapacityBytes: machine.memoryBytes,
    ...(singleProcessOOMKill !== undefined && { singleProcessOOMKill }),
  };
}
