// Behaviour of pkg/apis/core/validation for security contexts, v1.36.3. A kubelet allows privileged containers.
import { check, refuse } from '../text/invalid-manifest.ts';
import type { Container, PodSpec } from '../types/pod-parts.ts';
import { checkDescendingPath, checkId, checkNotPadded, checkOneOf, checkOptionalOneOf, checkPresent } from './text-rules.ts';
import { checkWindowsOptions } from './windows-rules.ts';

type SecurityContext = NonNullable<Container['securityContext']>;
type SeccompProfile = NonNullable<SecurityContext['seccompProfile']>;
type AppArmorProfile = NonNullable<SecurityContext['appArmorProfile']>;

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
/** The longest path, without the byte that ends it. */
const longestProfile = 4095;

export function checkSecurityContext(path: string, context: SecurityContext | undefined, spec: PodSpec): void {
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

export function checkSeccompProfile(path: string, profile: SeccompProfile | undefined): void {
  if (!profile) return;
  checkOneOf(`${path}.type`, profile.type, profileTypes);
  if (profile.type !== 'Localhost') checkNoProfile(`${path}.localhostProfile`, profile.localhostProfile);
  else {
    check(profile.localhostProfile !== undefined, `${path}.localhostProfile`, 'given for the type Localhost', undefined);
    checkDescendingPath(`${path}.localhostProfile`, profile.localhostProfile ?? '');
  }
}

export function checkAppArmorProfile(path: string, profile: AppArmorProfile | undefined): void {
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
