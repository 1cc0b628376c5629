/**
 * An apiserver in memory, fakes and builders, for the tests of an agent.
 *
 * @module pod-status-manager/testing
 */
import './base/node-version.ts';

export type { Fault, FaultHandle, FaultRule } from './testing/apiserver/faults.ts';
export type { InMemoryApiServerOptions, ResourceChoice } from './testing/apiserver/in-memory-apiserver.ts';
export { InMemoryApiServer } from './testing/apiserver/in-memory-apiserver.ts';
export type { LoggedRequest } from './testing/apiserver/request-log.ts';
export type { AccessReviewSpec, ReviewedPath, ReviewedResource, ReviewedUser } from './testing/apiserver/review-options.ts';
export type { ApiVerb, Subresource } from './testing/apiserver/served-resources.ts';
export type { WatchEnd } from './testing/apiserver/watches.ts';
export type { PodOverrides } from './testing/fakes/builders.ts';
export {
  buildCondition,
  buildContainerStatus,
  buildMirrorPodOf,
  buildPod,
  buildReadyCondition,
  buildRunningState,
  buildRunningStatus,
  buildStaticPod,
  buildTerminatedState,
  buildTerminatedStatus,
  buildWaitingState,
} from './testing/fakes/builders.ts';
export { FakeCgroups, type FakeCgroupsOptions } from './testing/fakes/fake-cgroups.ts';
export type { FakeClockOptions } from './testing/fakes/fake-clock.ts';
export { FakeClock, settle } from './testing/fakes/fake-clock.ts';
export { type FakeMount, FakeMounter } from './testing/fakes/fake-mounter.ts';
export type { FakeFailure, FakePodClientOptions, PodAction, PodVerb } from './testing/fakes/fake-pod-client.ts';
export { deleteAction, FakePodClient, getAction, patchAction } from './testing/fakes/fake-pod-client.ts';
export { FakeShutdownSignals, type FakeShutdownSignalsOptions } from './testing/fakes/fake-shutdown-signals.ts';
export type { ApiStatus, StatusCause, StatusDetails } from './testing/objects/api-status.ts';
export { StoreError } from './testing/objects/api-status.ts';
export type { DeleteRequest, PropagationPolicy } from './testing/objects/deletion.ts';
export type { ObjectEvent, ObjectEventListener, ObjectsByResource } from './testing/objects/object-history.ts';
export type { ObjectPatchType } from './testing/objects/object-patches.ts';
export type { Selection } from './testing/objects/selectors.ts';
export type { DeletedObject, ObjectKey, ObjectPatch, ResourceObjects } from './testing/objects/store-types.ts';
export type {
  DeletedPod,
  DeletePodRequest,
  PodEvent,
  PodEventListener,
  PodPatch,
  PodPatchType,
  PodSelection,
  PodStoreOptions,
  PodStoreSnapshot,
} from './testing/pods-api/pod-store.ts';
export { PodStore } from './testing/pods-api/pod-store.ts';
export type { ContainerEnd, ContainerLife, LifeRequest } from './testing/runtime/fake-container.ts';
export type { FakeImage } from './testing/runtime/fake-images.ts';
export type { RuntimeHappening } from './testing/runtime/fake-pods.ts';
export { FakeRuntime } from './testing/runtime/fake-runtime.ts';
export type { FakeExecRequest, FakeExecResult, FakeRuntimeOptions } from './testing/runtime/fake-runtime-options.ts';
export type {
  RuntimeCallName,
  RuntimeCallRecord,
  RuntimeFault,
  RuntimeFaultHandle,
  RuntimeFaultRule,
} from './testing/runtime/runtime-calls.ts';
export type { RuntimeFiles } from './testing/runtime/runtime-files.ts';
