import type {
  V1Lease,
  V1Node,
  V1NodeAddress,
  V1NodeCondition,
  V1NodeDaemonEndpoints,
  V1NodeStatus,
  V1NodeSystemInfo,
  V1Taint,
} from '@kubernetes/client-node';
import type { Wire } from '../wire/types.ts';

export type WireNode = Wire<V1Node>;
export type WireNodeStatus = Wire<V1NodeStatus>;
export type WireNodeCondition = Wire<V1NodeCondition>;
export type WireNodeAddress = Wire<V1NodeAddress>;
export type WireNodeSystemInfo = Wire<V1NodeSystemInfo>;
export type WireNodeDaemonEndpoints = Wire<V1NodeDaemonEndpoints>;
export type WireTaint = Wire<V1Taint>;
export type WireLease = Wire<V1Lease>;
