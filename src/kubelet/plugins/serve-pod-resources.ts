// Behaviour of ListenAndServePodResources in pkg/kubelet/server/server.go, v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import { TokenBucket } from '../../base/concurrency/rate-limiter.ts';
import type { ContainerClaim, ListedDevice, PodResources, PodResourcesLister, ServedSocket } from '../devices/device-plugin.ts';
import { GrpcRefusal, GrpcServer, type ServedMethod, served } from '../grpc/grpc-server.ts';
import { PodResourcesLister as Service } from './proto/podresources_pb.ts';

/** The longest request, in bytes. */
const longestRequest = 65_536;

/** Serves `PodResourcesLister` of `v1` and `v1alpha1` on one socket. */
export function servePodResources(socketPath: string, lister: PodResourcesLister, clock: SteadyClock): Promise<ServedSocket> {
  const { method } = Service;
  const list = served(method.list, async () => ({ podResources: lister.list().map(podOf) }));
  // its messages are those of v1 without what came later
  const alpha = served(method.list, async () => ({ podResources: lister.listAlpha().map(alphaPodOf) }));
  const get = served(method.get, async ({ podName, podNamespace }) => {
    const found = lister.get(podNamespace, podName);
    if (found === undefined) throw new Error(`pod ${podName} in namespace ${podNamespace} not found`);
    return { podResources: podOf(found) };
  });
  const allocatable = served(method.getAllocatableResources, async () => ({ devices: lister.allocatable().map(deviceOf) }));
  const methods = [list, { ...alpha, path: '/v1alpha1.PodResourcesLister/List' }, get, allocatable];
  const calls = new TokenBucket({ burst: 10, tokens: 100, perMs: 1000 }, clock);
  return GrpcServer.listen({
    ...{ socketPath, maxRequestBytes: longestRequest, clock },
    methods: methods.map((each) => limited(each, calls)),
  });
}

function limited({ path, answer }: ServedMethod, calls: TokenBucket): ServedMethod {
  return {
    path,
    answer: async (request) => {
      if (!calls.tryTake()) throw new GrpcRefusal('ResourceExhausted', 'rejected by rate limit');
      return answer(request);
    },
  };
}

function podOf({ name, namespace, containers }: PodResources) {
  return {
    ...{ name, namespace },
    containers: containers.map((container) => ({
      name: container.name,
      devices: container.devices.map(deviceOf),
      dynamicResources: container.claims.map(claimOf),
    })),
  };
}

/** All devices of a resource are one entry there, and NUMA nodes are not shown. */
function alphaPodOf({ name, namespace, containers }: PodResources) {
  return {
    ...{ name, namespace },
    containers: containers.map((container) => {
      const byResource = new Map<string, string[]>();
      for (const { resourceName, deviceID } of container.devices) {
        byResource.set(resourceName, [...(byResource.get(resourceName) ?? []), deviceID]);
      }
      const devices = Array.from(byResource, ([resourceName, ids]) => ({ resourceName, deviceIds: [...new Set(ids)] }));
      return { name: container.name, devices };
    }),
  };
}

function claimOf({ namespace, name, devices }: ContainerClaim) {
  return {
    ...{ claimNamespace: namespace, claimName: name },
    claimResources: devices.map(({ driverName, poolName, deviceName, shareID, cdiDeviceIDs }) => ({
      ...{ driverName, poolName, deviceName },
      ...(shareID !== undefined && { shareId: shareID }),
      cdiDevices: cdiDeviceIDs.map((id) => ({ name: id })),
    })),
  };
}

function deviceOf({ resourceName, deviceID, numaNode }: ListedDevice) {
  const topology = numaNode !== undefined && { topology: { nodes: [{ ID: BigInt(numaNode) }] } };
  return { resourceName, deviceIds: [deviceID], ...topology };
}
