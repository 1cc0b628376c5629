import type { LinuxContainerResources } from '../../runtime/linux-resources.ts';
import type { LinuxContainerResources as Answer } from '../proto/api_pb.ts';

/** Limits that are in force. 0 and the empty string stand for what is absent. */
export function resourcesOf(answer: Answer): LinuxContainerResources {
  const { cpusetCpus, cpusetMems, hugepageLimits, unified } = answer;
  return {
    ...(answer.cpuPeriod !== 0n && { cpuPeriod: Number(answer.cpuPeriod) }),
    ...(answer.cpuQuota !== 0n && { cpuQuota: Number(answer.cpuQuota) }),
    ...(answer.cpuShares !== 0n && { cpuShares: Number(answer.cpuShares) }),
    ...(answer.memoryLimitInBytes !== 0n && { memoryLimitInBytes: Number(answer.memoryLimitInBytes) }),
    ...(answer.memorySwapLimitInBytes !== 0n && { memorySwapLimitInBytes: Number(answer.memorySwapLimitInBytes) }),
    ...(answer.oomScoreAdj !== 0n && { oomScoreAdj: Number(answer.oomScoreAdj) }),
    ...(cpusetCpus !== '' && { cpusetCpus }),
    ...(cpusetMems !== '' && { cpusetMems }),
    ...(hugepageLimits.length > 0 && {
      hugepageLimits: hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limit: Number(limit) })),
    }),
    ...(Object.keys(unified).length > 0 && { unified }),
  };
}
