import type { WireContainerStatus, WirePod } from 'pod-status-manager';

/** What a pod does, in the words that `kubectl get pods` shows. */
export function podWords({ metadata, status, spec }: WirePod): string {
  if (metadata?.deletionTimestamp !== undefined) return 'Terminating';
  const { initContainerStatuses = [], containerStatuses = [], phase = 'Pending', reason } = status ?? {};
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter((each) => each.restartPolicy === 'Always').map(({ name }) => name),
  );
  const isDone = ({ name, state, started }: WireContainerStatus): boolean => {
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

/** How often its containers were started again. */
export function restartsOf({ status }: WirePod): number {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses].reduce((sum, { restartCount }) => sum + restartCount, 0);
}

export function isReady({ status }: WirePod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}

/** Undefined for a container that runs. */
function wordOf(container: WireContainerStatus | undefined): string | undefined {
  const { waiting, terminated } = container?.state ?? {};
  if (waiting !== undefined) return waiting.reason;
  if (terminated === undefined) return undefined;
  return terminated.reason ?? `ExitCode:${terminated.exitCode}`;
}
