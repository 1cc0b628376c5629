import type { Pod } from '../../api/json/types.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { StatsSummary } from './stats-types.ts';

/** One thing that `/healthz` looks at. */
export interface HealthCheck {
  /** As the path has it: `/healthz/NAME`. */
  readonly name: string;
  /** Throws or rejects while something is wrong; the log has the reason, the client does not. */
  readonly check: () => void | Promise<void>;
}

/**
 * What the kubelet's API shows, given by the agent. What a method rejects with is answered with 500, and a `KubeletApiRefusal` with
 * the status and the text that it has.
 */
export interface KubeletApiHost {
  /** The runtime that has the containers. Its streams are URLs of this machine. */
  readonly runtime: Pick<ContainerRuntime, 'containerStatus' | 'exec' | 'execSync' | 'attach' | 'portForward'>;
  /** The pods of the node, each with the newest status that the agent has for it. */
  pods(): readonly Pod[];
  /**
   * One of them by its name, and by its uid where that is given: the pod's own, or that of its mirror. A mirror pod counts as the
   * static pod.
   */
  pod(namespace: string, name: string, uid: string | undefined): Pod | undefined;
  /** What really runs: pods put together from what the runtime lists. */
  runningPods(signal: AbortSignal): Promise<readonly Pod[]>;
  /** The runtime's id of a container of the pod that runs; undefined where none does. */
  runningContainerID(pod: Pod, container: string, signal: AbortSignal): Promise<string | undefined>;
  /** The runtime's id of the pod's newest sandbox that is ready; undefined where there is none. */
  sandboxID(pod: Pod, signal: AbortSignal): Promise<string | undefined>;
  /** What `/healthz` looks at, beside the server itself. */
  healthChecks(): readonly HealthCheck[];
  /** All metrics of the agent, in the text format of Prometheus. */
  metrics(): string | Promise<string>;
  /** What the node and its pods take: the shape of `/stats/summary`. */
  statsSummary(signal: AbortSignal): Promise<StatsSummary>;
  /** The agent's configuration, shown as `{"kubeletconfig": …}`. It must hold no secret. */
  configz(): unknown;
}
