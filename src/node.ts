export type { PodOperation, PodUpdate } from './config/pod-update.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './pod/runtime-pod.ts';
export type { ProbedState } from './probes/container-state.ts';
export { NetworkProber, type NetworkProberOptions } from './probes/network-prober.ts';
export { ProbeManager } from './probes/probe-manager.ts';
export type { ProbeHandlers, ProbeManagerOptions, ProbeStatusManager } from './probes/probe-manager-options.ts';
export type { ProbeResult, ProbeResultUpdate, ProbeType } from './probes/probe-types.ts';
export type {
  ExecProbeTarget,
  GrpcProbeTarget,
  HttpProbeTarget,
  ProbeOutcome,
  Prober,
  ProbeSubject,
  TcpProbeTarget,
} from './probes/prober.ts';
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
