// Behaviour of pkg/apis/core/validation for the operating system of a pod, v1.36.3.
import { check } from '../text/invalid-manifest.ts';
import { containersOf, type PodSpec } from '../types/pod-parts.ts';
import { checkOneOf } from './text-rules.ts';

/** Fields that nothing on Windows can mean. */
const linuxOfPod = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls', 'runAsUser'],
  ...['runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
] as const;
const linuxOfContainer = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
] as const;
const linuxOfSpec = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const;

export function checkOS(spec: PodSpec): void {
  if (!spec.os) return;
  checkOneOf('spec.os.name', spec.os.name, ['linux', 'windows']);
  const isWindows = spec.os.name === 'windows';
  if (isWindows) checkAbsent('spec', spec, linuxOfSpec);
  checkAbsent('spec.securityContext', spec.securityContext, isWindows ? linuxOfPod : ['windowsOptions']);
  for (const { container, path } of containersOf(spec)) {
    checkAbsent(`${path}.securityContext`, container.securityContext, isWindows ? linuxOfContainer : ['windowsOptions']);
  }
}

function checkAbsent(path: string, holder: object | undefined, fields: readonly string[]): void {
  for (const field of fields) {
    const value = (holder as { readonly [field: string]: unknown } | undefined)?.[field];
    const isEmpty = field === 'sysctls' && Array.isArray(value) && value.length === 0;
    check(value === undefined || isEmpty, `${path}.${field}`, 'absent for the operating system of the pod', value);
  }
}
