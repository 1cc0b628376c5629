import type { WireContainerState, WireContainerStatus, WirePod, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import type { PodMetadata } from '../../client/resources/kube-pod-client.ts';

// Builders of pods and statuses: plain JSON that a kube-apiserver accepts. The same call returns equal JSON each time.

type WireMetadata = NonNullable<WirePod['metadata']>;
type WireSpec = NonNullable<WirePod['spec']>;
/** Values that replace the defaults of a built pod. Annotations and labels are replaced as a whole. */
export interface PodOverrides {
  /** Replaces members of `metadata`. */
  readonly metadata?: Partial<WireMetadata>;
  /** Replaces members of `spec`. */
  readonly spec?: Partial<WireSpec>;
  /** Replaces members of `status`. */
  readonly status?: Partial<WirePodStatus>;
}

const builtAt = '2000-01-01T00:00:00Z';
const nodeName = 'node-1';
const image = 'registry.k8s.io/pause:3.10';

/**
 * A pending pod of one container, bound to `node-1`. Its uid follows from its name.
 *
 * @example
 * ```ts
 * import { buildPod } from 'pod-status-manager/testing';
 *
 * const pod = buildPod({ metadata: { name: 'web' } });
 * console.log(pod.metadata?.uid, pod.spec?.nodeName); // uid-of-web node-1
 * ```
 */
export function buildPod({ metadata = {}, spec = {}, status = {} }: PodOverrides = {}): WirePod {
  const name = metadata.name ?? 'pod-1';
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default', uid: `uid-of-${name}`, ...metadata },
    spec: { nodeName, restartPolicy: 'Always', containers: [{ name: 'app', image }], ...spec },
    status: { phase: 'Pending', ...status },
  };
}

/**
 * A pod from a manifest on the node: the agent's own object. The apiserver knows only its mirror pod.
 *
 * @example
 * ```ts
 * import { buildStaticPod } from 'pod-status-manager/testing';
 *
 * console.log(buildStaticPod().metadata?.name); // static-node-1
 * ```
 */
export function buildStaticPod({ metadata = {}, ...rest }: PodOverrides = {}): WirePod {
  const name = metadata.name ?? `static-${nodeName}`;
  const uid = metadata.uid ?? `hash-of-${name}`;
  const annotations = {
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.hash': uid,
    'kubernetes.io/config.seen': builtAt,
    ...metadata.annotations,
  };
  return buildPod({ ...rest, metadata: { ...metadata, name, uid, annotations } });
}

/**
 * The mirror pod of a static pod, as the apiserver holds it: the same pod with another uid.
 *
 * @example
 * ```ts
 * import { buildMirrorPodOf, buildStaticPod } from 'pod-status-manager/testing';
 *
 * const pod = buildStaticPod();
 * console.log(buildMirrorPodOf(pod).metadata?.uid); // uid-of-mirror-static-node-1
 * ```
 */
export function buildMirrorPodOf(pod: WirePod, { metadata = {}, spec = {}, status = {} }: PodOverrides = {}): WirePod {
  const { name = '', namespace = 'default', labels, annotations = {} } = pod.metadata ?? {};
  const hash = annotations['kubernetes.io/config.hash'] ?? pod.metadata?.uid ?? '';
  const mirrored: Partial<WireMetadata> = {
    name,
    namespace,
    uid: `uid-of-mirror-${name}`,
    annotations: { ...annotations, 'kubernetes.io/config.mirror': hash },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: `uid-of-${nodeName}`, controller: true }],
    ...(labels === undefined ? {} : { labels }),
  };
  return buildPod({ metadata: { ...mirrored, ...metadata }, spec: { ...pod.spec, ...spec }, status });
}

/**
 * The state of a container that runs. `startedAt` is a time of the API; default 2000-01-01T00:00:00Z.
 *
 * @example
 * ```ts
 * import { buildRunningState } from 'pod-status-manager/testing';
 *
 * console.log(buildRunningState().running?.startedAt); // 2000-01-01T00:00:00Z
 * ```
 */
export function buildRunningState(startedAt = builtAt): WireContainerState {
  return { running: { startedAt } };
}

/**
 * The state of a container that does not run yet. Default reason: `ContainerCreating`.
 *
 * @example
 * ```ts
 * import { buildWaitingState } from 'pod-status-manager/testing';
 *
 * console.log(buildWaitingState('ImagePullBackOff').waiting?.reason); // ImagePullBackOff
 * ```
 */
export function buildWaitingState(reason = 'ContainerCreating'): WireContainerState {
  return { waiting: { reason } };
}

/**
 * The state of a container that has ended: `Completed` for the exit code 0, else `Error`. Default exit code: 0.
 *
 * @example
 * ```ts
 * import { buildTerminatedState } from 'pod-status-manager/testing';
 *
 * console.log(buildTerminatedState(1).terminated?.reason); // Error
 * ```
 */
export function buildTerminatedState(exitCode = 0): WireContainerState {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { terminated: { exitCode, reason, startedAt: builtAt, finishedAt: builtAt } };
}

/**
 * The status of a container that runs and is ready. Its id follows from its name.
 *
 * @example
 * ```ts
 * import { buildContainerStatus } from 'pod-status-manager/testing';
 *
 * const status = buildContainerStatus({ restartCount: 2 });
 * console.log(status.containerID, status.restartCount); // containerd://app 2
 * ```
 */
export function buildContainerStatus(overrides: Partial<WireContainerStatus> = {}): WireContainerStatus {
  const name = overrides.name ?? 'app';
  return {
    name,
    state: buildRunningState(),
    lastState: {},
    ready: true,
    started: true,
    restartCount: 0,
    image,
    imageID: `${image}@sha256:0`,
    containerID: `containerd://${name}`,
    ...overrides,
  };
}

/**
 * A condition of a pod. Its status is `True` unless `overrides` says otherwise.
 *
 * @example
 * ```ts
 * import { buildCondition } from 'pod-status-manager/testing';
 *
 * console.log(buildCondition('PodScheduled').status); // True
 * ```
 */
export function buildCondition(type: string, overrides: Partial<WirePodCondition> = {}): WirePodCondition {
  return { type, status: 'True', lastTransitionTime: builtAt, ...overrides };
}

/**
 * The condition `Ready`. One that is `False` has the reason `ContainersNotReady`.
 *
 * @example
 * ```ts
 * import { buildReadyCondition } from 'pod-status-manager/testing';
 *
 * console.log(buildReadyCondition('False').reason); // ContainersNotReady
 * ```
 */
export function buildReadyCondition(
  status: 'True' | 'False' = 'True',
  overrides: Partial<WirePodCondition> = {},
): WirePodCondition {
  const why = status === 'True' ? {} : { reason: 'ContainersNotReady', message: 'containers with unready status: [app]' };
  return buildCondition('Ready', { status, ...why, ...overrides });
}

/**
 * The status of `pod` with every container running and ready, its init containers done, and addresses set.
 *
 * @example
 * ```ts
 * import { buildPod, buildRunningStatus } from 'pod-status-manager/testing';
 *
 * const status = buildRunningStatus(buildPod());
 * console.log(status.phase, status.containerStatuses?.length); // Running 1
 * ```
 */
export function buildRunningStatus(pod: WirePod, overrides: Partial<WirePodStatus> = {}): WirePodStatus {
  const init = (pod.spec?.initContainers ?? []).map(({ name, restartPolicy }) =>
    buildContainerStatus(restartPolicy === 'Always' ? { name } : { name, started: false, state: buildTerminatedState() }),
  );
  return {
    phase: 'Running',
    conditions: [
      buildCondition('Initialized'),
      buildReadyCondition(),
      buildCondition('ContainersReady'),
      buildCondition('PodScheduled'),
    ],
    hostIP: '192.0.2.1',
    hostIPs: [{ ip: '192.0.2.1' }],
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    startTime: builtAt,
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: (pod.spec?.containers ?? []).map(({ name }) => buildContainerStatus({ name })),
    ...overrides,
  };
}

/**
 * The status of `pod` with every container ended with `exitCode`: Succeeded for 0, else Failed.
 *
 * @example
 * ```ts
 * import { buildPod, buildTerminatedStatus } from 'pod-status-manager/testing';
 *
 * console.log(buildTerminatedStatus(buildPod(), 1).phase); // Failed
 * ```
 */
export function buildTerminatedStatus(pod: WirePod, exitCode = 0, overrides: Partial<WirePodStatus> = {}): WirePodStatus {
  const reason = exitCode === 0 ? 'PodCompleted' : 'PodFailed';
  const end = { ready: false, started: false, state: buildTerminatedState(exitCode) };
  return buildRunningStatus(pod, {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [
      buildCondition('Initialized', exitCode === 0 ? { reason } : {}),
      buildCondition('Ready', { status: 'False', reason }),
      buildCondition('ContainersReady', { status: 'False', reason }),
      buildCondition('PodScheduled'),
    ],
    containerStatuses: (pod.spec?.containers ?? []).map(({ name }) => buildContainerStatus({ name, ...end })),
    ...overrides,
  });
}

/** The part of a pod's metadata that a client returns after a write. */
export function podMetadataOf({ metadata = {} }: WirePod): PodMetadata {
  const { uid = '', resourceVersion = '', deletionTimestamp, finalizers } = metadata;
  return {
    uid,
    resourceVersion,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}
