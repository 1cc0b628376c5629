/** The functions of which table cases are recorded. */
export const tableFunctions: ReadonlySet<string> = new Set([
  'createPodStatusPatch',
  'applyPodStatusPatch',
  'generateContainersReadyCondition',
  'generatePodReadyCondition',
  'generatePodInitializedCondition',
  'podManager',
  'generatePodReadyToStartContainersCondition',
  'generateAllContainersRestartingCondition',
  'needToReconcilePodReadiness',
  'checkContainerStateTransition',
]);
