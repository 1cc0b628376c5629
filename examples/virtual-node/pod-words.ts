import type { Pod, PodStatus } from 'pod-status-manager';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** What a pod does, in the words that `kubectl get pods` shows. */
export function podWords({ metadata, status, spec }: Pod): string {
  if (metadata?.deletionTimestamp !== undefined) return 'Terminating';
  const { initContainerStatuses = [], containerStatuses = [], phase = 'Pending', reason } = status ?? {};
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter((each) => each.restartPolicy === 'Always').map(({ name }) => name),
  );
  const isDone = ({ name, state, started }: ContainerStatus): boolean => {
    return sidecars.has(name) ? started === true : state?.terminated?.exitCode === 0;
  };
  const done = initContainerStatuses.filter(isDone).length;
  if (phase === 'Pending' && done < initContainerStatuses.length) {
    const why = wordOf(initContainerStatuses.find((each) => !isDone(each)));
    const isUsual = why === 'PodInitializing' || why === undefined;
    return isUsual ? `Init:${done}/${initContainerStatuses.length}` : `Init:${why}`;
  }
  const words = containerStatuses.map(wordOf).filter((word) => word !== undefined);
  const isMixed = containerStatuses.some(({ state }) => state?.running !== undefined) && words[0] === 'Completed';
  return (isMixed ? undefined : words[0]) ?? reason ?? phase;
}

/** Undefined for a container that runs. */
function wordOf(container: ContainerStatus | undefined): string | undefined {
  const { waiting, terminated } = container?.state ?? {};
  if (waiting !== undefined) return waiting.reason;
  if (terminated === undefined) return undefined;
  return terminated.reason ?? `ExitCode:${terminated.exitCode}`;
}
