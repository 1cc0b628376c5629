// Behaviour of pkg/kubelet/kuberuntime/security_context.go and pkg/securitycontext, v1.36.3.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podText } from '../../api/pod/pod-identity.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type {
  ContainerSecurityContext,
  IDMapping,
  NamespaceOptions,
  SandboxSecurityContext,
  SELinuxOptions,
  SecurityProfile,
  SupplementalGroupsPolicy,
} from '../runtime/security.ts';

/** What of the node goes into the rights of its containers. */
export interface SecuritySettings extends SeccompSettings {
  /** What containers must neither see nor write by default. */
  readonly procPaths: ProcPaths;
}

/** What a container shares beside what its pod's spec says. */
interface SharedNamespaces {
  /** The container whose processes it sees, by the runtime's id. */
  readonly targetID?: string | undefined;
  /** The ids of the pod's own user namespace. */
  readonly users?: IDMapping | undefined;
}

/** The rights of a container: what it says itself, or else what its pod says. Throws {@link ContainerConfigError}. */
export function containerSecurityContext(
  pod: Pod,
  container: Container,
  image: ImageUser,
  settings: SecuritySettings,
  { targetID, users }: SharedNamespaces = {},
): ContainerSecurityContext {
  const podContext = pod.spec?.securityContext ?? undefined;
  const own = container.securityContext ?? undefined;
  const selinux = selinuxOptions(own?.seLinuxOptions ?? podContext?.seLinuxOptions);
  const apparmor = apparmorProfile(pod, container);
  const group = own?.runAsGroup ?? podContext?.runAsGroup ?? undefined;
  const namespaces = podNamespaces(pod, users);
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
export function sandboxSecurityContext(pod: Pod, users?: IDMapping): SandboxSecurityContext {
  const context = pod.spec?.securityContext ?? undefined;
  const selinux = selinuxOptions(context?.seLinuxOptions);
  const { runAsUser, runAsGroup } = context ?? {};
  const { containers = [], initContainers, ephemeralContainers } = pod.spec ?? {};
  const all = [...containers, ...(initContainers ?? []), ...(ephemeralContainers ?? [])];
  return {
    namespaces: podNamespaces(pod, users),
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

// Behaviour of pkg/kubelet/kuberuntime/helpers.go (seccomp, AppArmor) and pkg/security/apparmor, v1.36.3.

/** Where seccomp profiles stand, and which one is in force where a pod asks for none. */
interface SeccompSettings {
  /** The folder of the node's own profiles. */
  readonly seccompProfileRoot: string;
  /** True: containers that ask for no profile get the runtime's own; else they get none. */
  readonly seccompDefault: boolean;
}

/** The container's seccomp profile, or else its pod's. Throws {@link ContainerConfigError}. */
function seccompProfile(pod: Pod, container: Container, settings: SeccompSettings): SecurityProfile {
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
function apparmorProfile(pod: Pod, container: Container): SecurityProfile | undefined {
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

// Behaviour of pkg/kubelet/kuberuntime/security_context_others.go, v1.36.3.

/** The user that an image names, by number or by name. */
export type ImageUser = Pick<RuntimeImage, 'uid' | 'username'>;

const largestUserID = 2 ** 31 - 1;

/** The numeric user of an image: 0 where it names none at all; undefined where it names one by its name. */
export function numericUser({ uid, username }: ImageUser): number | undefined {
  return uid ?? (username === '' ? 0 : undefined);
}

/** Throws {@link ContainerConfigError} for a container that must not run as root and would, or may. */
export function verifyRunAsNonRoot(pod: Pod, container: Container, image: ImageUser): void {
  const podContext = pod.spec?.securityContext;
  const own = container.securityContext;
  if ((own?.runAsNonRoot ?? podContext?.runAsNonRoot) !== true) return;
  const who = `(pod: "${podText(pod)}", container: ${container.name})`;
  const user = own?.runAsUser ?? podContext?.runAsUser;
  if (user === 0) throw new ContainerConfigError(`container's runAsUser breaks non-root policy ${who}`);
  if (user !== undefined && user !== null) return;
  const uid = numericUser(image);
  if (uid === undefined) {
    const { username } = image;
    throw new ContainerConfigError(
      `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ${who}`,
    );
  }
  if (uid === 0) throw new ContainerConfigError(`container has runAsNonRoot and image will run as root ${who}`);
  if (uid < 0 || uid > largestUserID) {
    throw new ContainerConfigError(
      `container has runAsNonRoot and image has an invalid user id (${uid}). (Must be 1-(${largestUserID})): must be between 0 and ${largestUserID}, inclusive ${who}`,
    );
  }
}

// Behaviour of pkg/securitycontext ConvertToRuntimeMaskedPaths, v1.36.3.

/** What a container must neither see nor write of `/proc` and `/sys`. */
export interface ProcPaths {
  /** Paths that are hidden. */
  readonly maskedPaths: readonly string[];
  /** Paths that cannot be written. */
  readonly readonlyPaths: readonly string[];
}

const masked = [
  ...['asound', 'acpi', 'interrupts', 'kcore', 'keys', 'latency_stats'].map((name) => `/proc/${name}`),
  ...['timer_list', 'timer_stats', 'sched_debug', 'scsi'].map((name) => `/proc/${name}`),
  ...['/sys/firmware', '/sys/devices/virtual/powercap'],
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];
const mostProcessors = 8192;

/** What is masked by default on this machine: the same for every container while the process lives. */
export function defaultProcPaths(sys = '/sys'): ProcPaths {
  const throttles = possibleProcessors(sys).map((cpu) => `/sys/devices/system/cpu/cpu${cpu}/thermal_throttle`);
  const present = throttles.filter((path) => existsSync(path.replace(/^\/sys/, sys)));
  return { maskedPaths: [...masked, ...present], readonlyPaths };
}

/** Everything can be seen. */
const unmaskedProcPaths: ProcPaths = { maskedPaths: [], readonlyPaths: [] };

/** The processors of a list such as `0-3,8`; none where the kernel does not say. */
function possibleProcessors(sys: string): readonly number[] {
  let text = '';
  try {
    text = readFileSync(`${sys}/devices/system/cpu/possible`, 'utf8').trim();
  } catch {
    return [];
  }
  return text.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    const count = Number(last) - Number(first) + 1;
    return count > 0 && count <= mostProcessors ? Array.from({ length: count }, (_, index) => Number(first) + index) : [];
  });
}

// Behaviour of pkg/kubelet/kuberuntime/util, v1.36.3.

/** The namespaces that the pod's sandbox and containers use. */
function podNamespaces({ spec }: Pod, users: IDMapping | undefined): NamespaceOptions {
  return {
    ...(users && { users }),
    network: spec?.hostNetwork === true ? 'node' : 'pod',
    pid: spec?.hostPID === true ? 'node' : spec?.shareProcessNamespace === true ? 'pod' : 'container',
    ipc: spec?.hostIPC === true ? 'node' : 'pod',
  };
}
