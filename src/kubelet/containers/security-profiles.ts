// Behaviour of pkg/kubelet/kuberuntime/helpers.go (seccomp, AppArmor) and pkg/security/apparmor, v1.36.3.
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { SecurityProfile } from '../runtime/security.ts';
import { ContainerConfigError } from './config-error.ts';

/** Where seccomp profiles stand, and which one is in force where a pod asks for none. */
export interface SeccompSettings {
  /** The folder of the node's own profiles. */
  readonly seccompProfileRoot: string;
  /** True: containers that ask for no profile get the runtime's own; else they get none. */
  readonly seccompDefault: boolean;
}

/** The container's seccomp profile, or else its pod's. Throws {@link ContainerConfigError}. */
export function seccompProfile(pod: Pod, container: Container, settings: SeccompSettings): SecurityProfile {
  const profile = container.securityContext?.seccompProfile ?? pod.spec?.securityContext?.seccompProfile;
  if (!profile) return { type: settings.seccompDefault ? 'RuntimeDefault' : 'Unconfined' };
  if (profile.type === 'RuntimeDefault') return { type: 'RuntimeDefault' };
  if (profile.type !== 'Localhost') return { type: 'Unconfined' };
  if (!profile.localhostProfile) {
    throw new ContainerConfigError('localhostProfile must be set if seccompProfile type is Localhost.');
  }
  return { type: 'Localhost', localhostRef: join(settings.seccompProfileRoot, profile.localhostProfile) };
}

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/**
 * The container's AppArmor profile, or else the one that an old annotation names, or else its pod's; undefined for none.
 * Throws {@link ContainerConfigError}.
 */
export function apparmorProfile(pod: Pod, container: Container): SecurityProfile | undefined {
  const profile =
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod.metadata?.annotations?.[`${annotationPrefix}${container.name}`]) ??
    pod.spec?.securityContext?.appArmorProfile;
  switch (profile?.type) {
    case undefined:
      return undefined;
    case 'RuntimeDefault':
    case 'Unconfined':
      return { type: profile.type };
    case 'Localhost':
      if (profile.localhostProfile === undefined) throw new ContainerConfigError('missing localhost apparmor profile name');
      return { type: 'Localhost', localhostRef: profile.localhostProfile };
    default:
      throw new ContainerConfigError(`unknown apparmor profile type: ${JSON.stringify(profile?.type)}`);
  }
}

function annotatedProfile(value: string | undefined): { readonly type: string; readonly localhostProfile?: string } | undefined {
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  return value?.startsWith('localhost/') ? { type: 'Localhost', localhostProfile: value.slice('localhost/'.length) } : undefined;
}
