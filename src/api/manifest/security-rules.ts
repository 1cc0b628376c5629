// Behaviour of pkg/apis/core/validation for security contexts, v1.36.3. A kubelet allows privileged containers.
import { check, refuse } from './invalid-manifest.ts';
import { containersOf, type ManifestContainer, type ManifestPodSpec } from './pod-types.ts';
import {
  checkDescendingPath,
  checkDnsSubdomain,
  checkId,
  checkNotPadded,
  checkOneOf,
  checkOptionalOneOf,
  checkPresent,
  checkUnique,
} from './text-rules.ts';

type SecurityContext = NonNullable<ManifestContainer['securityContext']>;
type SeccompProfile = NonNullable<SecurityContext['seccompProfile']>;
type AppArmorProfile = NonNullable<SecurityContext['appArmorProfile']>;

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
/** The longest path, without the byte that ends it. */
const longestProfile = 4095;

export function checkSecurityContext(path: string, context: SecurityContext | undefined, spec: ManifestPodSpec): void {
  if (!context) return;
  checkId(`${path}.runAsUser`, context.runAsUser);
  checkId(`${path}.runAsGroup`, context.runAsGroup);
  checkOptionalOneOf(`${path}.procMount`, context.procMount, ['Default', 'Unmasked']);
  const mayUnmask = context.procMount !== 'Unmasked' || spec.hostUsers === false;
  check(mayUnmask, `${path}.procMount`, 'Default unless hostUsers is false', context.procMount);
  checkSeccompProfile(`${path}.seccompProfile`, context.seccompProfile);
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged) refuse(`${path}.allowPrivilegeEscalation`, 'true for a privileged container', false);
    const escalates = context.capabilities?.add?.includes('CAP_SYS_ADMIN') ?? false;
    check(
      !escalates,
      `${path}.capabilities.add`,
      'without CAP_SYS_ADMIN where allowPrivilegeEscalation is false',
      'CAP_SYS_ADMIN',
    );
  }
  checkWindowsOptions(`${path}.windowsOptions`, context.windowsOptions);
  checkAppArmorProfile(`${path}.appArmorProfile`, context.appArmorProfile);
}

function checkSeccompProfile(path: string, profile: SeccompProfile | undefined): void {
  if (!profile) return;
  checkOneOf(`${path}.type`, profile.type, profileTypes);
  if (profile.type !== 'Localhost') checkNoProfile(`${path}.localhostProfile`, profile.localhostProfile);
  else {
    check(profile.localhostProfile !== undefined, `${path}.localhostProfile`, 'given for the type Localhost', undefined);
    checkDescendingPath(`${path}.localhostProfile`, profile.localhostProfile ?? '');
  }
}

function checkAppArmorProfile(path: string, profile: AppArmorProfile | undefined): void {
  if (!profile) return;
  checkOneOf(`${path}.type`, profile.type, profileTypes);
  if (profile.type !== 'Localhost') {
    checkNoProfile(`${path}.localhostProfile`, profile.localhostProfile);
    return;
  }
  const name = profile.localhostProfile;
  checkPresent(`${path}.localhostProfile`, name);
  checkNotPadded(`${path}.localhostProfile`, name ?? '');
  check(Buffer.byteLength(name ?? '') <= longestProfile, `${path}.localhostProfile`, `at most ${longestProfile} bytes`, name);
}

function checkNoProfile(path: string, profile: string | undefined): void {
  check(profile === undefined, path, 'absent for another type than Localhost', profile);
}

// Behaviour of pkg/apis/core/validation for what a pod shares with its node, v1.36.3.

const longestSysctl = 253;
const sysctlPart = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const ipcSysctls = ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'];

export function checkPodSecurity(spec: ManifestPodSpec): void {
  const path = 'spec.securityContext';
  const context = spec.securityContext ?? {};
  checkId(`${path}.fsGroup`, context.fsGroup);
  checkId(`${path}.runAsUser`, context.runAsUser);
  checkId(`${path}.runAsGroup`, context.runAsGroup);
  for (const [index, group] of (context.supplementalGroups ?? []).entries())
    checkId(`${path}.supplementalGroups[${index}]`, group);
  if (spec.shareProcessNamespace && spec.hostPID) refuse('spec.shareProcessNamespace', 'false where hostPID is true', true);
  checkSysctls(spec);
  checkOptionalOneOf(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ['OnRootMismatch', 'Always']);
  checkOptionalOneOf(`${path}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, ['Merge', 'Strict']);
  checkOptionalOneOf(`${path}.seLinuxChangePolicy`, context.seLinuxChangePolicy, ['Recursive']);
  checkSeccompProfile(`${path}.seccompProfile`, context.seccompProfile);
  checkWindowsOptions(`${path}.windowsOptions`, context.windowsOptions);
  checkAppArmorProfile(`${path}.appArmorProfile`, context.appArmorProfile);
  if (spec.hostUsers === false) {
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
      check(spec[field] !== true, `spec.${field}`, 'false where hostUsers is false', spec[field]);
    }
  }
}

function checkSysctls(spec: ManifestPodSpec): void {
  const seen = new Set<string>();
  for (const [index, { name }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const path = `spec.securityContext.sysctls[${index}].name`;
    const holds = name.length <= longestSysctl && name.split(/[./]/).every((part) => sysctlPart.test(part));
    check(holds, path, 'parts of lower case letters and digits between dots or slashes', name);
    checkUnique(path, seen, name);
    const dotted = dottedName(name);
    const isNet = dotted.startsWith('net.');
    const isIpc =
      dotted.startsWith('fs.mqueue.') || (dotted.startsWith('kernel.') && ipcSysctls.includes(dotted.slice('kernel.'.length)));
    check(!(isNet && spec.hostNetwork), path, "none of the node's network where hostNetwork is true", name);
    check(!(isIpc && spec.hostIPC), path, "none of the node's IPC where hostIPC is true", name);
  }
}

/** Where the first separator is a slash, slashes separate, and dots belong to names. */
function dottedName(name: string): string {
  if (/^[^./]*\./.test(name)) return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

// Behaviour of pkg/apis/core/validation for Windows options, v1.36.3.

type WindowsOptions = NonNullable<NonNullable<ManifestContainer['securityContext']>['windowsOptions']>;

const longestCredentialSpec = 64 * 1024;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsName = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

function checkWindowsOptions(path: string, options: WindowsOptions | undefined): void {
  if (!options) return;
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined) checkDnsSubdomain(`${path}.gmsaCredentialSpecName`, gmsaCredentialSpecName);
  if (gmsaCredentialSpec !== undefined) {
    const size = Buffer.byteLength(gmsaCredentialSpec);
    check(
      size > 0 && size <= longestCredentialSpec,
      `${path}.gmsaCredentialSpec`,
      `from 1 to ${longestCredentialSpec} bytes`,
      size,
    );
  }
  if (runAsUserName !== undefined)
    check(isUserName(runAsUserName), `${path}.runAsUserName`, 'a user, or DOMAIN\\\\USER', runAsUserName);
}

function isUserName(name: string): boolean {
  const parts = name.split('\\');
  const user = parts.at(-1) ?? '';
  const [domain] = parts;
  if (parts.length > 2 || [...name].some((character) => character < ' ' || character === '\x7f')) return false;
  if (parts.length === 2 && !((domain?.length ?? 0) < 256 && (netBiosName.test(domain ?? '') || dnsName.test(domain ?? ''))))
    return false;
  return user !== '' && Buffer.byteLength(user) <= 104 && !/^[. ]+$/.test(user) && !/["/\\:;|=,+*?<>@[\]]/.test(user);
}

/** Either all containers are processes of the node, or none; where they are, the pod is in the node's network. */
export function checkHostProcesses(spec: ManifestPodSpec): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = containersOf(spec).map(({ container, path }) => {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    const agrees = ofPod === undefined || own === undefined || ofPod === own;
    check(agrees, `${path}.securityContext.windowsOptions.hostProcess`, `the pod's (${ofPod})`, own);
    return own ?? ofPod ?? false;
  });
  if (!containers.includes(true)) return;
  check(!containers.includes(false), 'spec.containers', 'either all host processes, or none', 'some');
  check(spec.hostNetwork === true, 'spec.hostNetwork', 'true for host processes', spec.hostNetwork);
}
