import type { ContainerStats, PodSandboxStats, ResourceUsage } from '../../runtime/runtime-stats.ts';
import type {
  ContainerStats as ContainerStatsAnswer,
  CpuUsage,
  MemoryUsage,
  PodSandboxStats as PodSandboxStatsAnswer,
  SwapUsage,
} from '../proto/api_pb.ts';
import { msOf, numberIn } from './numbers.ts';

/** What one container takes. */
export function containerStatsOf(answer: ContainerStatsAnswer): ContainerStats {
  const { attributes, writableLayer } = answer;
  return present({
    containerID: attributes?.id ?? '',
    name: attributes?.metadata?.name ?? '',
    labels: attributes?.labels ?? {},
    ...usageOf(answer.cpu, answer.memory, answer.swap),
    writableLayerBytes: numberIn(writableLayer?.usedBytes),
    writableLayerInodes: numberIn(writableLayer?.inodesUsed),
  });
}

/** What one pod takes. */
export function sandboxStatsOf({ attributes, linux }: PodSandboxStatsAnswer): PodSandboxStats {
  const network = linux?.network?.defaultInterface;
  return present({
    sandboxID: attributes?.id ?? '',
    labels: attributes?.labels ?? {},
    ...usageOf(linux?.cpu, linux?.memory),
    receivedBytes: numberIn(network?.rxBytes),
    sentBytes: numberIn(network?.txBytes),
    processes: numberIn(linux?.process?.processCount),
    containers: (linux?.containers ?? []).map(containerStatsOf),
  });
}

function usageOf(cpu: CpuUsage | undefined, memory: MemoryUsage | undefined, swap?: SwapUsage): ResourceUsage {
  return present({
    at: Math.max(msOf(cpu?.timestamp ?? 0n), msOf(memory?.timestamp ?? 0n)),
    cpuNanoseconds: numberIn(cpu?.usageCoreNanoSeconds),
    cpuNanocores: numberIn(cpu?.usageNanoCores),
    memoryWorkingSetBytes: numberIn(memory?.workingSetBytes),
    memoryUsageBytes: numberIn(memory?.usageBytes),
    memoryRssBytes: numberIn(memory?.rssBytes),
    swapUsageBytes: numberIn(swap?.swapUsageBytes),
    swapAvailableBytes: numberIn(swap?.swapAvailableBytes),
  });
}

/** The same object without members that are undefined. */
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
