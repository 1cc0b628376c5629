import type { Pod, WireContainerStatus, WirePod, WirePodStatus } from '../../../../src/api/json/types.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from '../../../../src/api/pod/runtime-pod.ts';
import { type GeneratePodStatusOptions, generatePodStatus } from '../../../../src/node/pod-status/generate-pod-status.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

export type Spec = NonNullable<Pod['spec']>;

/** When the newest containers of these tests began, in milliseconds since the epoch. */
export const began = Date.parse('2000-01-01T00:10:00Z');
export const beganAt = '2000-01-01T00:10:00Z';

/** A pod of the container `a`, unless the spec says otherwise. */
export function podOf(
  spec: BareParts['spec'] = {},
  status: BareParts['status'] = {},
  metadata: BareParts['metadata'] = {},
): WirePod {
  const containers = [{ name: 'a', image: 'i' }];
  return barePod({ metadata: { name: 'p', namespace: 'd', uid: 'u', ...metadata }, spec: { containers, ...spec }, status });
}

/** What the runtime lists, the newest first; one ready sandbox. */
export function runtimeOf(...containers: RuntimeContainerStatus[]): RuntimePodStatus {
  return { podUID: 'u', ips: ['10.0.0.1'], containers, sandboxes: [{ ready: true, network: { ip: '10.0.0.1' } }] };
}

export function running(name = 'a', more: Partial<RuntimeContainerStatus> = {}): RuntimeContainerStatus {
  return { name, id: `cri://${name}0`, state: 'running', createdAt: began, startedAt: began, active: true, ...more };
}

export function exited(name = 'a', exitCode = 0, more: Partial<RuntimeContainerStatus> = {}): RuntimeContainerStatus {
  const times = { createdAt: began, startedAt: began, finishedAt: began + 5_000 };
  return { name, id: `cri://${name}0`, state: 'exited', exitCode, reason: 'Ended', active: true, ...times, ...more };
}

/** A container status as one was reported before. */
export function reported(name: string, more: Partial<WireContainerStatus> = {}): WireContainerStatus {
  return { name, image: 'i', imageID: '', ready: false, restartCount: 0, state: {}, lastState: {}, ...more };
}

export function statusOf(pod: Pod, runtimeStatus: RuntimePodStatus, more: Partial<GeneratePodStatusOptions> = {}): WirePodStatus {
  return generatePodStatus({ pod, runtimeStatus, ...more });
}

/** The status of one container, in whichever list it stands. */
export function containerOf(status: WirePodStatus, name = 'a'): WireContainerStatus | undefined {
  const lists = [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses];
  return lists.flatMap((list) => list ?? []).find((one) => one.name === name);
}
