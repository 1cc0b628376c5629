// The door `pod-status-manager/testing`: fakes and a pods API in memory, for the tests of those who embed the manager.
export type { ApiStatus, StatusCause, StatusDetails } from './testing/api-status.ts';
export { StoreError } from './testing/api-status.ts';
export type { Fault, FaultHandle, FaultRule } from './testing/apiserver/faults.ts';
export type { LoggedRequest } from './testing/apiserver/request-log.ts';
export type { ApiVerb, Subresource } from './testing/apiserver/route.ts';
export type { WatchEnd } from './testing/apiserver/watches.ts';
export type { PodOverrides } from './testing/builders.ts';
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
} from './testing/builders.ts';
export type { FakeClockOptions } from './testing/fake-clock.ts';
export { FakeClock, settle } from './testing/fake-clock.ts';
export type { FakeFailure, FakePodClientOptions, PodAction, PodVerb } from './testing/fake-pod-client.ts';
export { deleteAction, FakePodClient, getAction, patchAction } from './testing/fake-pod-client.ts';
export type { InMemoryApiServerOptions } from './testing/in-memory-apiserver.ts';
export { InMemoryApiServer } from './testing/in-memory-apiserver.ts';
export type { DeletePodRequest } from './testing/pod-deletion.ts';
export type { PodEvent, PodEventListener } from './testing/pod-history.ts';
export type { PodPatchType } from './testing/pod-patches.ts';
export type { PodSelection } from './testing/pod-selectors.ts';
export type { DeletedPod, PodPatch, PodStoreOptions } from './testing/pod-store.ts';
export { PodStore } from './testing/pod-store.ts';
