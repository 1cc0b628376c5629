import type { WireContainerStatus, WirePod, WirePodStatus } from '../../../src/index.ts';
import { isTerminal } from './upstream-merge.ts';

/**
 * Upstream's rules for terminatePod (v1.36.3), written a second time for the replay alone, as `upstreamMerge` is: what it makes
 * of the cached status. `copy` is what the pod manager shows of the pod.
 */
export function terminated(pod: WirePod, copy: WirePodStatus, cached: WirePodStatus, isStatic: boolean): WirePodStatus {
  const { phase, containerStatuses, initContainerStatuses } = cached;
  const begun = initContainerStatuses?.findLastIndex(hasBegun) ?? -1;
  return {
    ...cached,
    ...(!isStatic && !isTerminal(phase) && { phase: 'Failed' }),
    ...(containerStatuses && isInitialized(pod, copy) && { containerStatuses: containerStatuses.map(ended) }),
    // the first init container counts as begun in any case
    ...(initContainerStatuses && {
      initContainerStatuses: initContainerStatuses.map((status, index) => (index <= Math.max(begun, 0) ? ended(status) : status)),
    }),
  };
}

/** The copy shows that the pod's regular containers may have begun. Otherwise terminatePod leaves them as they are. */
export function isInitialized({ spec }: WirePod, { containerStatuses, initContainerStatuses }: WirePodStatus): boolean {
  const specs = spec?.initContainers ?? [];
  if (specs.length === 0 || containerStatuses?.some(hasBegun)) return true;
  const last = initContainerStatuses?.at(-1);
  const container = specs[(initContainerStatuses?.length ?? 0) - 1];
  if (last === undefined || container?.name !== last.name) return false;
  if (container.restartPolicy === 'Always') return Boolean(last.state?.running) && last.started === true;
  return [last.state, last.lastState].some((state) => state?.terminated?.exitCode === 0);
}

function hasBegun({ state, lastState }: WireContainerStatus): boolean {
  return !state?.waiting || Boolean(lastState?.terminated);
}

function ended(status: WireContainerStatus): WireContainerStatus {
  if (status.state?.terminated) return status;
  const message = 'The container could not be located when the pod was terminated';
  return { ...status, state: { terminated: { reason: 'ContainerStatusUnknown', message, exitCode: 137 } } };
}
