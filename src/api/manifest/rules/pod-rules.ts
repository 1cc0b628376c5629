// Behaviour of pkg/apis/core/validation ValidatePodCreate, v1.36.3, with the default feature gates.
import type { WirePod } from '../../json/types.ts';
import { check } from '../text/invalid-manifest.ts';
import type { PodSpec } from '../types/pod-parts.ts';
import { checkPodAnnotations } from './annotation-rules.ts';
import { checkContainers } from './container-rules.ts';
import { checkDns, checkHostNames } from './dns-rules.ts';
import { checkMetadata } from './metadata-rules.ts';
import { checkOS } from './os-rules.ts';
import { checkPodSecurity } from './pod-security-rules.ts';
import { checkOverhead, checkPodResources } from './resource-rules.ts';
import { checkAffinity, checkTolerations, checkTopologySpread } from './scheduling-rules.ts';
import {
  checkDnsSubdomain,
  checkLabels,
  checkOneOf,
  checkOptionalOneOf,
  checkPresent,
  checkQualifiedName,
  checkRange,
} from './text-rules.ts';
import { checkVolumes } from './volume-rules.ts';
import { checkHostProcesses } from './windows-rules.ts';

/** Throws a fault for the first rule that the pod breaks. */
export function checkPod({ metadata = {}, spec }: WirePod & { spec: PodSpec }): void {
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
function checkNames(spec: PodSpec): void {
  for (const field of ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'] as const) {
    const name = spec[field];
    if (name !== undefined) checkDnsSubdomain(`spec.${field}`, name);
  }
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    checkQualifiedName(`spec.readinessGates[${index}].conditionType`, conditionType);
  }
}

function checkScheduling(spec: PodSpec): void {
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
