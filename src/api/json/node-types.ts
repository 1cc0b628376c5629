import type {
  V1ContainerImage,
  V1Lease,
  V1Node,
  V1NodeAddress,
  V1NodeCondition,
  V1NodeDaemonEndpoints,
  V1NodeFeatures,
  V1NodeRuntimeHandler,
  V1NodeSystemInfo,
  V1Taint,
} from '@kubernetes/client-node';
import type { Wire } from './types.ts';

export interface WireNode extends Wire<V1Node> {}
export interface WireNodeCondition extends Wire<V1NodeCondition> {}
export interface WireNodeAddress extends Wire<V1NodeAddress> {}
export interface WireNodeSystemInfo extends Wire<V1NodeSystemInfo> {}
export interface WireNodeDaemonEndpoints extends Wire<V1NodeDaemonEndpoints> {}
export interface WireContainerImage extends Wire<V1ContainerImage> {}
export interface WireNodeFeatures extends Wire<V1NodeFeatures> {}
export interface WireNodeRuntimeHandler extends Wire<V1NodeRuntimeHandler> {}
export interface WireTaint extends Wire<V1Taint> {}
export interface WireLease extends Wire<V1Lease> {}
