import type { Pod } from '../../../../../src/index.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from '../../../../../src/node.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

/** What is to be done next for a pod's containers. */
export interface PodActions {
  /** Containers that run and must not. */
  readonly toStop: readonly RuntimeContainerStatus[];
  readonly toStart: readonly Container[];
}

/** The newest record of a container. */
export function newestOf({ containers }: RuntimePodStatus, name: string): RuntimeContainerStatus | undefined {
  return containers.find((each) => each.name === name);
}

function mayRunAgain(pod: Pod, exitCode: number): boolean {
  const { restartPolicy } = pod.spec ?? {};
  return restartPolicy === 'OnFailure' ? exitCode !== 0 : restartPolicy !== 'Never';
}

/** `mustRestart`: its liveness probe says so. */
export function actionsFor(pod: Pod, status: RuntimePodStatus, mustRestart: (containerID: string) => boolean): PodActions {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const hasBegun = containers.some(({ name }) => newestOf(status, name) !== undefined);
  const pendingInit = hasBegun ? undefined : initContainers.find(({ name }) => newestOf(status, name)?.exitCode !== 0);
  if (pendingInit !== undefined) return { toStop: [], toStart: isToStart(pod, pendingInit, status, true) ? [pendingInit] : [] };
  const toStop = containers.flatMap((container) => {
    const newest = newestOf(status, container.name);
    const isOutdated = newest?.state === 'running' && (newest.image !== container.image || mustRestart(newest.id));
    return isOutdated ? [newest] : [];
  });
  return { toStop, toStart: containers.filter((container) => isToStart(pod, container, status, false)) };
}

function isToStart(pod: Pod, { name }: Container, status: RuntimePodStatus, isInit: boolean): boolean {
  const newest = newestOf(status, name);
  if (newest === undefined) return true;
  if (newest.state !== 'exited') return false;
  const { exitCode = 137 } = newest;
  return isInit ? pod.spec?.restartPolicy !== 'Never' : mayRunAgain(pod, exitCode);
}
