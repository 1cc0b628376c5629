// Behaviour of pkg/apis/core/validation ValidatePodCreate, v1.36.3, with the default feature gates.
import type { WirePod } from '../json/types.ts';
import { checkContainers } from './container-rules.ts';
import { check } from './invalid-manifest.ts';
import { checkMetadata, checkPodAnnotations } from './metadata-rules.ts';
import { containersOf, type ManifestPodSpec } from './pod-types.ts';
import { checkOverhead, checkPodResources } from './resource-rules.ts';
import { checkAffinity, checkTolerations, checkTopologySpread } from './scheduling-rules.ts';
import { checkHostProcesses, checkPodSecurity } from './security-rules.ts';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkIP,
  checkLabels,
  checkOneOf,
  checkOptionalOneOf,
  checkPresent,
  checkQualifiedName,
  checkRange,
  checkSearchPath,
} from './text-rules.ts';
import { checkVolumes } from './volume-rules.ts';

/** Throws a fault for the first rule that the pod breaks. */
export function checkPod({ metadata = {}, spec }: WirePod & { spec: ManifestPodSpec }): void {
  checkMetadata(metadata);
  checkPodAnnotations(metadata.annotations ?? {}, spec);
  const volumes = checkVolumes(spec.volumes ?? []);
  checkContainers(spec, volumes);
  check((spec.ephemeralContainers ?? []).length === 0, 'spec.ephemeralContainers', 'absent', spec.ephemeralContainers);
  checkOS(spec);
  checkPodResources(spec);
  checkPodSecurity(spec);
  checkHostProcesses(spec);
  checkDns(spec);
  checkHostNames(spec);
  checkNames(spec);
  checkScheduling(spec);
  checkOneOf('spec.restartPolicy', spec.restartPolicy, ['Always', 'OnFailure', 'Never']);
  checkRange('spec.activeDeadlineSeconds', spec.activeDeadlineSeconds, 1, 2 ** 31 - 1);
  if (spec.overhead) checkOverhead(spec.overhead);
}

/** Names of other objects. */
function checkNames(spec: ManifestPodSpec): void {
  for (const field of ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'] as const) {
    const name = spec[field];
    if (name !== undefined) checkDnsSubdomain(`spec.${field}`, name);
  }
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    checkQualifiedName(`spec.readinessGates[${index}].conditionType`, conditionType);
  }
}

function checkScheduling(spec: ManifestPodSpec): void {
  checkLabels('spec.nodeSelector', spec.nodeSelector);
  if (spec.affinity) checkAffinity(spec.affinity);
  checkTolerations('spec.tolerations', spec.tolerations ?? []);
  checkTopologySpread(spec.topologySpreadConstraints ?? []);
  checkOptionalOneOf('spec.preemptionPolicy', spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']);
  check((spec.schedulingGates ?? []).length === 0, 'spec.schedulingGates', 'absent for a pod of a node', spec.schedulingGates);
  if (spec.schedulingGroup) {
    checkPresent('spec.schedulingGroup.podGroupName', spec.schedulingGroup.podGroupName);
    checkDnsSubdomain('spec.schedulingGroup.podGroupName', spec.schedulingGroup.podGroupName ?? '');
  }
}

// Behaviour of pkg/apis/core/validation for names and DNS of a pod, v1.36.3.

const mostNameservers = 3;
const mostSearchPaths = 32;
const longestSearchList = 2048;
const longestHostname = 64;

function checkDns(spec: ManifestPodSpec): void {
  const { dnsConfig, dnsPolicy } = spec;
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  const path = 'spec.dnsConfig';
  checkOneOf('spec.dnsPolicy', dnsPolicy, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']);
  if (dnsPolicy === 'None') check(nameservers.length > 0, `${path}.nameservers`, 'given for the dnsPolicy None', nameservers);
  check(nameservers.length <= mostNameservers, `${path}.nameservers`, `at most ${mostNameservers}`, nameservers.length);
  for (const [index, nameserver] of nameservers.entries()) checkIP(`${path}.nameservers[${index}]`, nameserver);
  check(searches.length <= mostSearchPaths, `${path}.searches`, `at most ${mostSearchPaths}`, searches.length);
  const listSize = Buffer.byteLength(searches.join(' '));
  check(listSize <= longestSearchList, `${path}.searches`, `at most ${longestSearchList} characters in all`, listSize);
  for (const [index, search] of searches.entries()) checkSearchPath(`${path}.searches[${index}]`, search);
  for (const [index, { name }] of options.entries()) checkPresent(`${path}.options[${index}].name`, name);
}

function checkHostNames(spec: ManifestPodSpec): void {
  if (spec.hostname !== undefined) checkDnsLabel('spec.hostname', spec.hostname);
  if (spec.subdomain !== undefined) checkDnsLabel('spec.subdomain', spec.subdomain);
  for (const [index, { ip, hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    checkIP(`spec.hostAliases[${index}].ip`, ip);
    for (const [at, hostname] of hostnames.entries()) checkDnsSubdomain(`spec.hostAliases[${index}].hostnames[${at}]`, hostname);
  }
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return;
  const path = 'spec.hostnameOverride';
  check(spec.setHostnameAsFQDN !== true, path, 'absent where setHostnameAsFQDN is true', hostnameOverride);
  check(spec.hostNetwork !== true, path, 'absent where hostNetwork is true', hostnameOverride);
  check(hostnameOverride.length <= longestHostname, path, `at most ${longestHostname} characters`, hostnameOverride);
  checkDnsSubdomain(path, hostnameOverride);
}

// Behaviour of pkg/apis/core/validation for the operating system of a pod, v1.36.3.

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

function checkOS(spec: ManifestPodSpec): void {
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
