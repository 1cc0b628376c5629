// Behaviour of pkg/apis/core/v1/defaults.go and conversion.go for pods, v1.36.3.

import type { WirePod, WirePodStatus } from '../json/types.ts';
import { isPodLevelResource, totalOfContainers } from '../pod/pod-requests.ts';
import { roundedUpToMilli } from '../quantity/quantity-arithmetic.ts';
import type { ManifestContainer, ManifestPodSpec, Probe, ResourceList, ResourceRequirements, Volume } from './pod-types.ts';

/** Where init containers stood before they had a field. */
const initContainerAnnotations = ['beta', 'alpha'].flatMap((stage) => [
  `pod.${stage}.kubernetes.io/init-containers`,
  `pod.${stage}.kubernetes.io/init-container-statuses`,
]);

/** Gives a pod what it leaves open, as the apiserver does with every pod. */
export function setPodDefaults(pod: WirePod & { spec: ManifestPodSpec }): void {
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

function setSpecDefaults(spec: ManifestPodSpec): void {
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

// Behaviour of pkg/apis/core/v1/defaults.go for containers, v1.36.3.

type HTTPGetAction = NonNullable<Probe['httpGet']>;

function setContainerDefaults(container: ManifestContainer): void {
  container.imagePullPolicy ??= defaultPullPolicy(container.image ?? '');
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ??= 'v1';
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  if (container.resources) roundResources(container.resources);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe) setProbeDefaults(probe);
  }
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) {
    if (handler?.httpGet) setHttpGetDefaults(handler.httpGet);
  }
}

function setProbeDefaults(probe: Probe): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  if (probe.httpGet) setHttpGetDefaults(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function setHttpGetDefaults(httpGet: HTTPGetAction): void {
  httpGet.path ??= '/';
  httpGet.scheme ??= 'HTTP';
}

/** What has a limit and no request requests its limit. */
function requestLimits(resources: ResourceRequirements | undefined): void {
  if (resources?.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

/** In the network of the node, a port is the node's own. */
function setHostPorts(containers: readonly ManifestContainer[] | undefined): void {
  for (const port of (containers ?? []).flatMap(({ ports }) => ports ?? [])) port.hostPort ??= port.containerPort;
}

// Behaviour of pkg/apis/core/v1/defaults.go (resource lists, pod-level resources) and k8s.io/component-helpers/resource, v1.36.3.

/** Amounts finer than a thousandth are rounded up. */
function roundResources(resources: { limits?: ResourceList; requests?: ResourceList }): void {
  roundList(resources.limits);
  roundList(resources.requests);
}

function roundList(list: ResourceList | undefined): void {
  for (const [name, quantity] of Object.entries(list ?? {})) if (list) list[name] = roundedUpToMilli(quantity);
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** A resource that may be requested below its limit. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Completes the resources of the pod as a whole, where it says something about them. */
function setPodLevelResources(spec: ManifestPodSpec): void {
  const { resources } = spec;
  if (!resources) return;
  const { limits = {}, requests = {} } = resources;
  if (Object.keys(limits).length > 0 || Object.keys(requests).length > 0) {
    for (const [name, limit] of Object.entries(aggregate(spec, 'limits'))) {
      if (isHugePages(name) && !Object.hasOwn(requests, name) && !Object.hasOwn(limits, name)) limits[name] = limit;
    }
    if (Object.keys(limits).length > 0) resources.limits = limits;
  }
  if (Object.keys(limits).length > 0) setPodLevelRequests(spec, resources, limits, requests);
}

function setPodLevelRequests(
  spec: ManifestPodSpec,
  resources: ResourceRequirements,
  limits: ResourceList,
  requests: ResourceList,
): void {
  for (const [name, request] of Object.entries(aggregate(spec, 'requests'))) {
    if (isPodLevelResource(name) && isOvercommitAllowed(name) && !Object.hasOwn(requests, name)) requests[name] = request;
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (isPodLevelResource(name) && !Object.hasOwn(requests, name)) requests[name] = limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/** What the containers of a pod ask for together, or are limited to, as they write it. */
export function aggregate(spec: ManifestPodSpec, member: 'limits' | 'requests'): ResourceList {
  return Object.fromEntries(Array.from(totalOfContainers(spec, member), ([name, quantity]) => [name, String(quantity)]));
}

// Behaviour of pkg/apis/core/v1/defaults.go for volumes, v1.36.3.

const fileMode = 0o644;

function setVolumeDefaults(volume: Volume): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  const { image, hostPath, secret, configMap, downwardAPI, projected } = volume;
  if (image) image.pullPolicy ??= defaultPullPolicy(image.reference ?? '');
  if (hostPath) hostPath.type ??= '';
  for (const files of [secret, configMap, downwardAPI, projected]) if (files) files.defaultMode ??= fileMode;
  const files = [downwardAPI, ...(projected?.sources ?? []).map((source) => source.downwardAPI)];
  for (const { fieldRef } of files.flatMap((source) => source?.items ?? [])) if (fieldRef) fieldRef.apiVersion ??= 'v1';
  for (const { serviceAccountToken } of projected?.sources ?? []) {
    if (serviceAccountToken) serviceAccountToken.expirationSeconds ??= 3600;
  }
  setDiskDefaults(volume);
}

function setDiskDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ??= 'default';
  if (rbd) {
    rbd.pool ??= 'rbd';
    rbd.user ??= 'admin';
    rbd.keyring ??= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    scaleIO.storageMode ??= 'ThinProvisioned';
    scaleIO.fsType ??= 'xfs';
  }
}

// Behaviour of pkg/apis/core/v1/defaults.go and conversion.go for the status of a pod, v1.36.3.

/** A manifest may hold a status, though nothing reads it: it is made as the apiserver would hand it back. */
function setStatusDefaults(status: WirePodStatus): void {
  const { podIP, podIPs = [] } = status;
  if (podIP !== undefined && podIPs[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIPs[0] !== undefined && podIPs[0].ip !== '') status.podIP = podIPs[0].ip;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  for (const { allocatedResources, resources } of [
    ...initContainerStatuses,
    ...containerStatuses,
    ...ephemeralContainerStatuses,
  ]) {
    roundList(allocatedResources);
    if (resources) roundResources(resources);
  }
  roundList(status.allocatedResources);
  if (status.resources) roundResources(status.resources);
}

// Behaviour of pkg/util/parsers ParseImageName over github.com/distribution/reference, v1.36.3.

/** No name of an image is longer; a longer text is none. */
const longestImage = 4096;
const longestPath = 255;
const domain =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const remote =
  /^([a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::(\w[\w.-]{0,127}))?(?:@([A-Za-z0-9]+(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$/;
const digestOf = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;

/** Always for an image that may change under its name: with the tag `latest`, or without tag and digest. What is no image's name counts as one that stays. */
function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Undefined where the image has a digest and no tag, and for what is no image's name. */
function tagOf(image: string): string | undefined {
  if (image.length > longestImage || /^[a-f0-9]{64}$/.test(image)) return undefined;
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(0, slash));
  const hasDomain = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  if (hasDomain && !domain.test(first)) return undefined;
  const match = remote.exec(hasDomain ? image.slice(slash + 1) : image);
  const [, path = '', tag, digest] = match ?? [];
  const isOfficial = !path.includes('/') && (!hasDomain || first === 'docker.io' || first === 'index.docker.io');
  if (match === null || path.length + (isOfficial ? 'library/'.length : 0) > longestPath) return undefined;
  if (digest !== undefined && !digestOf.test(digest)) return undefined;
  return tag ?? (digest === undefined ? 'latest' : undefined);
}
