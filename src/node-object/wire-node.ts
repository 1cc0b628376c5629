import type {
  V1Lease,
  V1Node,
  V1NodeAddress,
  V1NodeCondition,
  V1NodeDaemonEndpoints,
  V1NodeSystemInfo,
  V1Taint,
} from '@kubernetes/client-node';
import type { Wire } from '../wire/types.ts';

export interface WireNode extends Wire<V1Node> {}
export interface WireNodeCondition extends Wire<V1NodeCondition> {}
export interface WireNodeAddress extends Wire<V1NodeAddress> {}
export interface WireNodeSystemInfo extends Wire<V1NodeSystemInfo> {}
export interface WireNodeDaemonEndpoints extends Wire<V1NodeDaemonEndpoints> {}
export interface WireTaint extends Wire<V1Taint> {}
export interface WireLease extends Wire<V1Lease> {}
