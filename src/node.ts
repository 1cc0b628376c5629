export type { PodOperation, PodUpdate } from './config/pod-update.ts';
export type { AdvertisedStatus } from './node-object/advertised-status.ts';
export type { NodeIdentity } from './node-object/initial-node.ts';
export type { LeaseRival } from './node-object/lease-rivals.ts';
export type { NodePressures, NodeReadiness } from './node-object/node-health.ts';
export { NodeObject, type NodeObjectReport, type NodeObjectStopped } from './node-object/node-object.ts';
export type { NodeObjectOptions } from './node-object/node-object-options.ts';
export type { RemovalOutcome } from './node-object/node-removal.ts';
export type { StepFailure } from './node-object/steady-loop.ts';
export type {
  WireNode,
  WireNodeAddress,
  WireNodeDaemonEndpoints,
  WireNodeSystemInfo,
  WireTaint,
} from './node-object/wire-node.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './pod/runtime-pod.ts';
export type { EventRecorder, EventType } from './seams/event-recorder.ts';
export type { PodSource, SendPods } from './sources/pod-source.ts';
export type {
  PodStatusFn,
  PodSyncer,
  RuntimeStatusCache,
  SyncPodRequest,
  SyncPodResult,
  SyncPodType,
  SyncTerminatedPodRequest,
  SyncTerminatingPodRequest,
} from './workers/pod-syncer.ts';
