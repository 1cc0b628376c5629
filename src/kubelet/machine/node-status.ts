// Behaviour of defaultNodeStatusFuncs in pkg/kubelet/kubelet_node_status.go, v1.36.3.

import type { WireContainerImage, WireNodeAddress } from '../../api/json/types.ts';
import type { AdvertisedStatus } from '../../node/node-object/advertised-status.ts';
import type { RuntimeHealth, RuntimeVersion } from '../runtime/runtime-health.ts';
import type { Machine } from './machine.ts';
import type { NodeResources } from './node-resources.ts';

/** What a node's status is made from. */
export interface NodeFacts extends NodeResources {
  readonly machine: Machine;
  /** Null: they are not known. */
  readonly addresses: readonly WireNodeAddress[] | null;
  /** The port of the agent's own API; 0: none. */
  readonly port: number;
  /** Undefined until the runtime has answered. */
  readonly version: RuntimeVersion | undefined;
  /** Undefined until the runtime has answered. */
  readonly health: RuntimeHealth | undefined;
  /** Undefined until the runtime has answered. */
  readonly images: readonly WireContainerImage[] | undefined;
}

/** The version of Kubernetes whose kubelet the agent behaves as. */
const kubeletVersion = 'v1.36.3';
/**
 * What that kubelet declares and this agent does, too: without it the apiserver refuses resizes of whole pods, and the scheduler
 * places no pod with a rule to restart all containers here.
 */
const declaredFeatures = ['InPlacePodLevelResourcesVerticalScaling', 'RestartAllContainersOnContainerExits'];

/** What the agent says of its node. What the runtime has not said yet stays as the apiserver has it. */
export function nodeStatus(facts: NodeFacts): AdvertisedStatus {
  const { machine, version, health, images } = facts;
  const runtime = version === undefined ? 'Unknown' : `${version.runtimeName}://${version.runtimeVersion}`;
  return {
    capacity: facts.capacity,
    allocatable: facts.allocatable,
    addresses: facts.addresses,
    daemonEndpoints: { kubeletEndpoint: { Port: facts.port } },
    nodeInfo: {
      architecture: machine.architecture,
      bootID: machine.bootID,
      containerRuntimeVersion: runtime,
      kernelVersion: machine.kernelVersion,
      kubeletVersion,
      machineID: machine.machineID,
      operatingSystem: 'linux',
      osImage: machine.osImage,
      systemUUID: machine.systemUUID,
    },
    declaredFeatures,
    ...(images !== undefined && { images }),
    ...(health !== undefined && {
      features: { supplementalGroupsPolicy: health.features.supplementalGroupsPolicy },
      runtimeHandlers: health.handlers.map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
        ...(name !== '' && { name }),
        features: { recursiveReadOnlyMounts, userNamespaces },
      })),
    }),
  };
}
