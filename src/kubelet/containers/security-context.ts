// Behaviour of pkg/kubelet/kuberuntime/security_context.go and pkg/securitycontext, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type {
  ContainerSecurityContext,
  SandboxSecurityContext,
  SELinuxOptions,
  SupplementalGroupsPolicy,
} from '../runtime/security.ts';
import { ContainerConfigError } from './config-error.ts';
import { type ProcPaths, unmaskedProcPaths } from './masked-paths.ts';
import { podNamespaces } from './namespaces.ts';
import type { ImageUser } from './non-root.ts';
import { apparmorProfile, type SeccompSettings, seccompProfile } from './security-profiles.ts';

/** What of the node goes into the rights of its containers. */
export interface SecuritySettings extends SeccompSettings {
  /** What containers must neither see nor write by default. */
  readonly procPaths: ProcPaths;
}

/** The rights of a container: what it says itself, or else what its pod says. Throws {@link ContainerConfigError}. */
export function containerSecurityContext(
  pod: Pod,
  container: Container,
  image: ImageUser,
  settings: SecuritySettings,
  targetID?: string,
): ContainerSecurityContext {
  const podContext = pod.spec?.securityContext ?? undefined;
  const own = container.securityContext ?? undefined;
  const selinux = selinuxOptions(own?.seLinuxOptions ?? podContext?.seLinuxOptions);
  const apparmor = apparmorProfile(pod, container);
  const group = own?.runAsGroup ?? podContext?.runAsGroup ?? undefined;
  const namespaces = podNamespaces(pod);
  const { maskedPaths, readonlyPaths } = own?.procMount === 'Unmasked' ? unmaskedProcPaths : settings.procPaths;
  return {
    ...(own?.capabilities && {
      capabilities: { add: [...(own.capabilities.add ?? [])], drop: [...(own.capabilities.drop ?? [])] },
    }),
    privileged: own?.privileged === true,
    namespaces:
      targetID !== undefined && namespaces.pid === 'container' ? { ...namespaces, pid: 'target', targetID } : namespaces,
    ...(selinux && { selinuxOptions: selinux }),
    ...userOf(own?.runAsUser ?? podContext?.runAsUser ?? undefined, image),
    ...(group !== undefined && { runAsGroup: group }),
    readonlyRootfs: own?.readOnlyRootFilesystem === true,
    ...podGroups(pod),
    noNewPrivs: own?.allowPrivilegeEscalation === false,
    maskedPaths,
    readonlyPaths,
    seccomp: seccompProfile(pod, container, settings),
    ...(apparmor && { apparmor }),
  };
}

/** The rights of a pod's sandbox. Throws {@link ContainerConfigError}. */
export function sandboxSecurityContext(pod: Pod): SandboxSecurityContext {
  const context = pod.spec?.securityContext ?? undefined;
  const selinux = selinuxOptions(context?.seLinuxOptions);
  const { runAsUser, runAsGroup } = context ?? {};
  const { containers = [], initContainers, ephemeralContainers } = pod.spec ?? {};
  const all = [...containers, ...(initContainers ?? []), ...(ephemeralContainers ?? [])];
  return {
    namespaces: podNamespaces(pod),
    ...(selinux && { selinuxOptions: selinux }),
    ...(typeof runAsUser === 'number' && { runAsUser }),
    ...(typeof runAsGroup === 'number' && { runAsGroup }),
    ...podGroups(pod),
    privileged: all.some(({ securityContext }) => securityContext?.privileged === true),
    // a sandbox runs nothing of the user's: the runtime's own profile is always enough
    seccomp: { type: 'RuntimeDefault' },
  };
}

function userOf(runAsUser: number | undefined, { uid, username }: ImageUser): Partial<ContainerSecurityContext> {
  if (runAsUser !== undefined) return { runAsUser };
  if (uid !== undefined) return { runAsUser: uid };
  return username === '' ? { runAsUser: 0 } : { runAsUsername: username };
}

type Groups = Pick<ContainerSecurityContext, 'supplementalGroups' | 'supplementalGroupsPolicy'>;

function podGroups({ spec }: Pod): Groups {
  const { fsGroup, supplementalGroups, supplementalGroupsPolicy } = spec?.securityContext ?? {};
  return {
    supplementalGroups: [...(typeof fsGroup === 'number' ? [fsGroup] : []), ...(supplementalGroups ?? [])],
    ...(supplementalGroupsPolicy && { supplementalGroupsPolicy: knownPolicy(supplementalGroupsPolicy) }),
  };
}

function knownPolicy(policy: string): SupplementalGroupsPolicy {
  if (policy === 'Merge' || policy === 'Strict') return policy;
  throw new ContainerConfigError(`unsupported supplementalGroupsPolicy: ${policy}`);
}

type GivenSELinux = NonNullable<NonNullable<NonNullable<Pod['spec']>['securityContext']>['seLinuxOptions']>;

function selinuxOptions(given: GivenSELinux | null | undefined): SELinuxOptions | undefined {
  if (!given) return undefined;
  const { user, role, type, level } = given;
  return { ...(user && { user }), ...(role && { role }), ...(type && { type }), ...(level && { level }) };
}
