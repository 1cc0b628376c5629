import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import type { ContainerRuntime, RuntimeCall } from '../runtime/container-runtime.ts';
import type { ContainerRecord } from '../runtime/runtime-containers.ts';
import { type PodSandboxRecord, runtimeLabels } from '../runtime/runtime-sandboxes.ts';

/** What the runtime lists of one pod, the newest first. */
export interface ListedPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly sandboxes: readonly PodSandboxRecord[];
  readonly containers: readonly ContainerRecord[];
  /** Changes when a sandbox or a container comes, goes or changes its state. */
  readonly fingerprint: string;
}

/** Lists pods by their uid: all, or one. What has not our labels belongs to somebody else, and is not looked at. */
export async function listPods(
  runtime: ContainerRuntime,
  podUID: string | undefined,
  call: RuntimeCall,
): Promise<ReadonlyMap<string, ListedPod>> {
  const filter = podUID === undefined ? {} : { podUID };
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandboxes(filter, call),
    runtime.listContainers(filter, call),
  ]);
  return groupByPod(sandboxes, containers);
}

function groupByPod(
  sandboxes: readonly PodSandboxRecord[],
  containers: readonly ContainerRecord[],
): ReadonlyMap<string, ListedPod> {
  const drafts = new Map<string, { sandboxes: PodSandboxRecord[]; containers: ContainerRecord[] }>();
  const draftOf = ({ labels }: PodSandboxRecord | ContainerRecord) => {
    const { [runtimeLabels.podUID]: uid, [runtimeLabels.podName]: name, [runtimeLabels.podNamespace]: namespace } = labels;
    if (!uid || !name || !namespace) return undefined;
    const known = drafts.get(uid);
    if (known !== undefined) return known;
    const draft = { sandboxes: [], containers: [] };
    drafts.set(uid, draft);
    return draft;
  };
  for (const sandbox of sandboxes) draftOf(sandbox)?.sandboxes.push(sandbox);
  for (const container of containers) {
    if (container.labels[runtimeLabels.containerName]) draftOf(container)?.containers.push(container);
  }
  const pods = new Map<string, ListedPod>();
  for (const [uid, draft] of drafts) {
    const pod = listedPod(uid, draft.sandboxes.sort(newestFirst), draft.containers.sort(newestFirst));
    if (pod !== undefined) pods.set(uid, pod);
  }
  return pods;
}

function listedPod(uid: string, sandboxes: PodSandboxRecord[], containers: ContainerRecord[]): ListedPod | undefined {
  const labels = (sandboxes[0] ?? containers[0])?.labels;
  if (labels === undefined) return undefined;
  const { [runtimeLabels.podName]: name = '', [runtimeLabels.podNamespace]: namespace = '' } = labels;
  const fingerprint = [...sandboxes, ...containers].map(({ id, state }) => `${id} ${state}`).join(',');
  return { uid, name, namespace, sandboxes, containers, fingerprint };
}

type Made = Pick<ContainerRecord, 'createdAt' | 'id' | 'metadata'> | Pick<PodSandboxRecord, 'createdAt' | 'id' | 'metadata'>;

/** Two that were made in the same millisecond are told apart by their attempts. */
export function newestFirst(one: Made, other: Made): number {
  const byTime = other.createdAt - one.createdAt || other.metadata.attempt - one.metadata.attempt;
  return byTime || (one.id < other.id ? -1 : 1);
}

/** The pod as a list of the runtime's pods has it. */
export function runningPod({ uid, name, namespace, containers }: ListedPod): RunningPod {
  return { uid, name, namespace, containers: containers.map(({ metadata, state }) => ({ name: metadata.name, state })) };
}

/** True while a sandbox of the pod can take containers, or a container of it may run. */
export function isRunning({ sandboxes, containers }: ListedPod): boolean {
  const mayRun = containers.some(({ state }) => state === 'running' || state === 'unknown');
  return mayRun || sandboxes.some(({ state }) => state === 'ready');
}
