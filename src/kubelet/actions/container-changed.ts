import type { Container } from '../../api/pod/pod-containers.ts';
import { runtimeAnnotations } from '../runtime/runtime-labels.ts';
import type { ContainerEntry } from './container-entries.ts';
import type { PodActionsInput } from './pod-actions.ts';

/** True when the container was made from another image or under another name. One that does not say what it was made from stays. */
export function isContainerChanged(
  { containerHash }: PodActionsInput,
  container: Container,
  { details }: ContainerEntry,
): boolean {
  const madeFrom = details.annotations[runtimeAnnotations.containerHash];
  return madeFrom !== undefined && madeFrom !== containerHash(container);
}
