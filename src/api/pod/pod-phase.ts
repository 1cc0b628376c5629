/** True for `Succeeded` and `Failed`: no container of the pod starts any more. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}
