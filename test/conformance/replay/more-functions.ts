import {
  BasicPodManager,
  generateAllContainersRestartingCondition,
  generatePodReadyToStartContainersCondition,
  needToReconcilePodReadiness,
  type Pod,
  type PodStatus,
  type RuntimeContainer,
  type RuntimeSandbox,
  StatusManager,
} from '../../../src/index.ts';

export interface MoreInput {
  readonly pod: Pod;
  readonly old: PodStatus;
  readonly new: PodStatus;
  readonly phase: string;
  readonly sandboxes?: readonly RuntimeSandbox[] | null;
  readonly runtimeContainers?: readonly RuntimeContainer[] | null;
}

/** The functions of the kind `more-tables`. */
export function evaluateMore(fn: string, input: MoreInput): unknown {
  const { pod, old, phase } = input;
  switch (fn) {
    case 'generatePodReadyToStartContainersCondition':
      return generatePodReadyToStartContainersCondition(pod, old, input.sandboxes ?? []);
    case 'generateAllContainersRestartingCondition':
      return generateAllContainersRestartingCondition(pod, old, input.runtimeContainers ?? [], phase);
    case 'needToReconcilePodReadiness':
      return needToReconcilePodReadiness(pod);
    case 'checkContainerStateTransition':
      return { accepted: isTransitionAccepted(input) };
    default:
      throw new Error(`unknown function ${fn}`);
  }
}

/** Does a manager that was set `old` take `new`? A refused status leaves the cache as it was. */
export function isTransitionAccepted({ pod, old, new: next }: Pick<MoreInput, 'pod' | 'old' | 'new'>): boolean {
  const manager = new StatusManager({
    logger: null,
    podClient: null,
    podManager: new BasicPodManager(),
    podDeletionSafety: { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true },
  });
  manager.setPodStatus(pod, old);
  manager.setPodStatus(pod, { ...next, message: 'the new status' });
  return manager.getPodStatus(pod.metadata?.uid ?? '')?.message === 'the new status';
}
