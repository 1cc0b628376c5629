import type { WireContainerStatus, WirePodCondition } from '../../../../src/index.ts';
import type { PodShape } from '../life/pod-shape.ts';
import type { PlainStatus } from './plain-status.ts';

type Verdict = Pick<WirePodCondition, 'status' | 'reason' | 'message'>;

export const readinessTypes = ['Ready', 'ContainersReady'] as const;

/** What a phase that is terminal makes of Ready and ContainersReady. */
export function endedReadiness(phase: string | undefined): Verdict {
  return { status: 'False', reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' };
}

/** Are all sidecars and regular containers ready? In the kubelet's words, containers in the order of the spec. */
export function readinessOf(shape: PodShape, status: Omit<PlainStatus, 'conditions'>): Verdict {
  const { phase, containerStatuses = [], initContainerStatuses = [] } = status;
  if (phase === 'Failed' || phase === 'Succeeded') return endedReadiness(phase);
  const sidecars = shape.initContainers.filter(({ isSidecar }) => isSidecar).map(({ name }) => name);
  const byName = new Map<string, WireContainerStatus>(
    [...initContainerStatuses, ...containerStatuses].map((container) => [container.name, container]),
  );
  const unready = [...sidecars, ...shape.containers].filter((name) => byName.get(name)?.ready !== true);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}
