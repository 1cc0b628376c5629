import type { Pod } from '../../api/json/types.ts';
import { KubeletApiRefusal } from './api-refusal.ts';

type Statuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;

/** True where the pod's spec has a container of this name, of whatever sort. */
export function hasContainer(pod: Pod, name: string): boolean {
  return specOf(pod, name) !== undefined;
}

/** True where the container has a terminal. */
export function hasTerminal(pod: Pod, name: string): boolean {
  return specOf(pod, name)?.tty === true;
}

/**
 * The runtime's id of the container whose log is shown: the one that runs or ran last, or with `previous` the one before. Throws a
 * refusal with the kubelet's words where there is none (`pkg/kubelet/kubelet_pods.go`, validateContainerLogStatus).
 */
export function loggedContainerID(pod: Pod, name: string, previous: boolean): string {
  const title = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata?.name ?? '')}`;
  const status = statusOf(pod, name);
  if (status === undefined) throw refusal(`${title} is not available`);
  const { running, terminated, waiting } = status.state ?? {};
  const last = status.lastState?.terminated;
  if (previous) return idIn(last?.containerID) ?? refuse(`previous terminated ${title} not found`);
  if (running !== undefined) return idIn(status.containerID) ?? refuse(`${title} is waiting to start - no logs yet`);
  if (terminated !== undefined || last !== undefined) {
    // the next container may not have started: then its log is that of the one before
    return idIn(terminated?.containerID) ?? idIn(last?.containerID) ?? refuse(`${title} is terminated`);
  }
  if (waiting === undefined) throw refusal(`${title} is waiting to start - no logs yet`);
  throw refusal(`${title} is waiting to start: ${waitingText(waiting.reason ?? '')}`);
}

function waitingText(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
}

/** `containerd://ID` without the name of the runtime. */
function idIn(containerID: string | undefined): string | undefined {
  const id = containerID?.slice(containerID.indexOf('://') + 3) ?? '';
  return containerID === undefined || !containerID.includes('://') || id === '' ? undefined : id;
}

function specOf({ spec }: Pod, name: string): { readonly name: string; readonly tty?: boolean | undefined } | undefined {
  const all = [spec?.containers, spec?.initContainers, spec?.ephemeralContainers];
  return all.flatMap((containers) => containers ?? []).find((container) => container.name === name);
}

function statusOf({ status }: Pod, name: string): Statuses[number] | undefined {
  const all = [status?.containerStatuses, status?.initContainerStatuses, status?.ephemeralContainerStatuses];
  return all.flatMap((statuses) => statuses ?? []).find((container) => container.name === name);
}

function refuse(text: string): never {
  throw refusal(text);
}

function refusal(text: string): KubeletApiRefusal {
  return new KubeletApiRefusal(400, text);
}
