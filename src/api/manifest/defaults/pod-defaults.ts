// Behaviour of pkg/apis/core/v1/defaults.go and conversion.go for pods, v1.36.3.
import type { WirePod } from '../../json/types.ts';
import type { PodSpec } from '../types/pod-parts.ts';
import { requestLimits, setContainerDefaults, setHostPorts } from './container-defaults.ts';
import { roundList, roundResources, setPodLevelResources } from './resource-defaults.ts';
import { setStatusDefaults } from './status-defaults.ts';
import { setVolumeDefaults } from './volume-defaults.ts';

/** Where init containers stood before they had a field. */
const initContainerAnnotations = ['beta', 'alpha'].flatMap((stage) => [
  `pod.${stage}.kubernetes.io/init-containers`,
  `pod.${stage}.kubernetes.io/init-container-statuses`,
]);

/** Gives a pod what it leaves open, as the apiserver does with every pod. */
export function setPodDefaults(pod: WirePod & { spec: PodSpec }): void {
  const { spec, metadata } = pod;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  for (const { resources } of containers) requestLimits(resources);
  setPodLevelResources(spec);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) {
    setHostPorts(spec.containers);
    setHostPorts(spec.initContainers);
  }
  setSpecDefaults(spec);
  for (const volume of spec.volumes ?? []) setVolumeDefaults(volume);
  for (const container of containers) setContainerDefaults(container);
  roundList(spec.overhead);
  if (spec.resources) roundResources(spec.resources);
  if (pod.status) setStatusDefaults(pod.status);
  for (const name of initContainerAnnotations) if (metadata?.annotations) delete metadata.annotations[name];
}

function setSpecDefaults(spec: PodSpec): void {
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
  spec.schedulerName ??= 'default-scheduler';
  // The old name of the field is an alias: both say the same in the end.
  const serviceAccountName = spec.serviceAccountName ?? spec.serviceAccount;
  if (serviceAccountName !== undefined) Object.assign(spec, { serviceAccountName, serviceAccount: serviceAccountName });
}
