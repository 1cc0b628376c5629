// Behaviour of pkg/apis/core/validation for what a pod shares with its node, v1.36.3.
import { check, refuse } from '../text/invalid-manifest.ts';
import type { PodSpec } from '../types/pod-parts.ts';
import { checkAppArmorProfile, checkSeccompProfile } from './security-rules.ts';
import { checkId, checkOptionalOneOf, checkUnique } from './text-rules.ts';
import { checkWindowsOptions } from './windows-rules.ts';

const longestSysctl = 253;
const sysctlPart = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const ipcSysctls = ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'];

export function checkPodSecurity(spec: PodSpec): void {
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

function checkSysctls(spec: PodSpec): void {
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
