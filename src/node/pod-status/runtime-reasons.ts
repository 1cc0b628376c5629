/** The reasons that a status from a runtime's view gives by itself. */
export const runtimeReason = {
  containerCreating: 'ContainerCreating',
  podInitializing: 'PodInitializing',
  restartingAllContainers: 'RestartingAllContainers',
  containerStatusUnknown: 'ContainerStatusUnknown',
  completed: 'Completed',
  error: 'Error',
} as const;

/** The exit code of a container whose end nobody saw. */
export const unseenExitCode = 137;
