import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { isPathSegment } from '../../base/options.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';

/** Throws {@link ContainerConfigError} for a pod that asks for what this agent has not: it would run with other rights than it says. */
export function requireSupportedPod({ metadata, spec, status }: Pod, { hasClaims }: { readonly hasClaims: boolean }): void {
  for (const [field, text] of Object.entries({ name: metadata?.name, namespace: metadata?.namespace, uid: metadata?.uid })) {
    // they become names of folders
    if (!isPathSegment(text))
      throw new ContainerConfigError(`the pod's ${field} is no name of a folder: ${JSON.stringify(text ?? '')}`);
  }
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec?.hostUsers !== false || spec[field] !== true) continue;
    throw new ContainerConfigError(`a pod with hostUsers: false cannot have ${field}: true`);
  }
  if (!hasClaims && (spec?.resourceClaims?.length || status?.extendedResourceClaimStatus)) {
    throw new ContainerConfigError('this agent speaks with no plugins (the option plugins), and the pod has resource claims');
  }
}

/** The same for a container. */
export function requireSupportedContainer({ name }: Container): void {
  if (!isPathSegment(name))
    throw new ContainerConfigError(`the container's name is no name of a folder: ${JSON.stringify(name)}`);
}
