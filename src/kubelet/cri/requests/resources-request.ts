import type { MessageInitShape } from '@bufbuild/protobuf';
import type { LinuxContainerResources } from '../../runtime/linux-resources.ts';
import type { LinuxContainerResourcesSchema } from '../proto/api_pb.ts';
import { int64 } from './numbers.ts';

/** Limits of the kernel. In the proto file 0 and the empty string stand for what is absent. */
export function resourcesRequest(resources: LinuxContainerResources): MessageInitShape<typeof LinuxContainerResourcesSchema> {
  const { cpusetCpus = '', cpusetMems = '', hugepageLimits = [], unified = {} } = resources;
  return {
    cpuPeriod: int64(resources.cpuPeriod ?? 0),
    cpuQuota: int64(resources.cpuQuota ?? 0),
    cpuShares: int64(resources.cpuShares ?? 0),
    memoryLimitInBytes: int64(resources.memoryLimitInBytes ?? 0),
    memorySwapLimitInBytes: int64(resources.memorySwapLimitInBytes ?? 0),
    oomScoreAdj: int64(resources.oomScoreAdj ?? 0),
    cpusetCpus,
    cpusetMems,
    hugepageLimits: hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limit: int64(limit) })),
    unified: { ...unified },
  };
}
