import type { WireContainerStatus, WirePodCondition, WirePodStatus } from '../../../src/index.ts';

/** One thing that can be told falsely of a status, or of the part of one that a patch carries: the false status, made when asked for. */
export type Lie = () => WirePodStatus;

export const lies = {
  podIP: (status) => (status.podIP ? [() => ({ ...status, podIP: '192.0.2.7' })] : []),
  restartCount: (status) =>
    ofContainers(status, (container) => ({ ...container, restartCount: (container.restartCount ?? 0) + 1 })),
  lastState: (status) => ofContainers(status, withAnotherLastState),
  'condition status': (status) => ofConditions(status, 'status', (value) => (value === 'True' ? 'False' : 'True')),
  'condition time': (status) => ofConditions(status, 'lastTransitionTime', shifted),
  message: (status) => [
    ...(status.message ? [() => ({ ...status, message: `${status.message}, they say` })] : []),
    ...ofConditions(status, 'message', (value) => `${value}, they say`),
  ],
} satisfies Record<string, (status: WirePodStatus) => Lie[]>;

const containerLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

function withAnotherLastState({ lastState, ...container }: WireContainerStatus): WireContainerStatus {
  return lastState?.terminated ? { ...container, lastState: {} } : { ...container, lastState: { terminated: { exitCode: 9 } } };
}

function ofContainers(status: WirePodStatus, lie: (container: WireContainerStatus) => WireContainerStatus): Lie[] {
  return containerLists.flatMap((list) =>
    (status[list] ?? []).map((container, index, all) => () => ({ ...status, [list]: all.with(index, lie(container)) })),
  );
}

/** One lie for each condition that has the member. */
function ofConditions(
  status: WirePodStatus,
  member: 'status' | 'lastTransitionTime' | 'message',
  lie: (value: string) => string,
): Lie[] {
  return (status.conditions ?? []).flatMap((condition: WirePodCondition, index, all) => {
    const value = condition[member];
    return value ? [() => ({ ...status, conditions: all.with(index, { ...condition, [member]: lie(value) }) })] : [];
  });
}

/** More than an hour later, so that no batch explains it. */
function shifted(time: string): string {
  return `${new Date(Date.parse(time) + 3_601_000).toISOString().slice(0, 19)}Z`;
}
