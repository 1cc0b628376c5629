import { formatTime, measuredAt } from '../../api/json/time.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin, settledAtOnce } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import type { ContainerSpec, NodePod } from '../provider/pod-provider.ts';
import type { ContainerStatsEntry, StatsSummary } from '../server/stats-types.ts';
import type { ContainerCall } from './container-connections.ts';
import type { RunningContainer } from './container-life.ts';

/** What a container that runs takes. What is not known is left out. */
export interface GivenUsage {
  /** Processor time since its start, in nanoseconds. It only grows while the container runs. */
  readonly cpuNanoseconds?: number;
  /** Memory that cannot be taken back: its working set, in bytes. */
  readonly memoryBytes?: number;
}

/** Says what a container that runs takes; undefined: nobody knows. */
export type ContainerStatsFn = (container: ContainerSpec, call: ContainerCall) => Promise<GivenUsage | undefined>;

/** A pod whose containers are asked about. */
export interface MeasuredPod {
  readonly pod: NodePod;
  readonly lives: readonly RunningContainer[];
}

type UsageStats = Pick<ContainerStatsEntry, 'cpu' | 'memory'>;

/** So many containers are asked about at once. */
const mostAtOnce = 16;
const answerWithinMs = 5000;

/**
 * What containers take, as a summary of the node: a pod takes what its containers take together, and the node what its pods do. A
 * container of which nobody says anything within 5 s is left out.
 */
export async function statsOfContainers(
  pods: readonly MeasuredPod[],
  measure: ContainerStatsFn,
  { clock, startedAt, signal }: { readonly clock: SteadyClock; readonly startedAt: number; readonly signal: AbortSignal },
): Promise<StatsSummary> {
  const asked = pods.flatMap(({ pod, lives }) =>
    lives.filter(({ state }) => state.state === 'running').map((life) => ({ pod, life })),
  );
  const late = (): Error => new StatusManagerError('ERR_KUBELET_API', 'containerStats() gave no answer in time');
  const limits = { clock, timeoutMs: answerWithinMs, signal, late };
  const answers = await settledAtOnce(asked, mostAtOnce, async ({ life }) => {
    const usage = await callWithin((own) => life.connections.call(own, measure), limits);
    return usageStats(usage, measuredAt(clock.now()));
  });
  const now = formatTime(clock.now());
  const containers = new Map<NodePod, ContainerStatsEntry[]>(pods.map(({ pod }) => [pod, []]));
  for (const [index, { pod, life }] of asked.entries()) {
    const answer = answers[index];
    if (answer?.status !== 'fulfilled') continue;
    const { startedAt: since } = life.state;
    const startTime = typeof since === 'number' ? formatTime(since) : now;
    const usage = answer.value;
    if (usage.cpu || usage.memory) containers.get(pod)?.push({ name: life.spec.name, startTime, ...usage });
  }
  const podStats = Array.from(containers, ([{ metadata, status }, own]) => ({
    podRef: { name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
    startTime: typeof status?.startTime === 'string' ? status.startTime : (own[0]?.startTime ?? now),
    containers: own,
    ...sumOf(own),
  }));
  const nodeName = pods.find(({ pod }) => pod.spec.nodeName)?.pod.spec.nodeName ?? '';
  return { node: { nodeName, startTime: formatTime(startedAt), ...sumOf(podStats) }, pods: podStats };
}

/** Figures that are none count as unknown. */
function usageStats(usage: GivenUsage | undefined | null, time: string): UsageStats {
  const { cpuNanoseconds, memoryBytes } = usage ?? {};
  return {
    ...(isCount(cpuNanoseconds) && { cpu: { time, usageCoreNanoSeconds: Math.floor(cpuNanoseconds) } }),
    ...(isCount(memoryBytes) && {
      memory: { time, workingSetBytes: Math.floor(memoryBytes), usageBytes: Math.floor(memoryBytes) },
    }),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function sumOf(parts: readonly UsageStats[]): UsageStats {
  const cpus = parts.flatMap(({ cpu }) => cpu ?? []);
  const memories = parts.flatMap(({ memory }) => memory ?? []);
  const [cpu] = cpus;
  const [memory] = memories;
  const cpuNanoseconds = cpu && cpus.reduce((sum, each) => sum + (each.usageCoreNanoSeconds ?? 0), 0);
  const memoryBytes = memory && memories.reduce((sum, each) => sum + (each.workingSetBytes ?? 0), 0);
  return usageStats(
    { ...(cpuNanoseconds !== undefined && { cpuNanoseconds }), ...(memoryBytes !== undefined && { memoryBytes }) },
    cpu?.time ?? memory?.time ?? '',
  );
}
