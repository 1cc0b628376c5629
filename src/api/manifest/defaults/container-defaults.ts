// Behaviour of pkg/apis/core/v1/defaults.go for containers, v1.36.3.
import type { Container, Probe, ResourceRequirements } from '../types/pod-parts.ts';
import { defaultPullPolicy } from './image-tag.ts';
import { roundResources } from './resource-defaults.ts';

type HTTPGetAction = NonNullable<Probe['httpGet']>;

export function setContainerDefaults(container: Container): void {
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
export function requestLimits(resources: ResourceRequirements | undefined): void {
  if (resources?.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

/** In the network of the node, a port is the node's own. */
export function setHostPorts(containers: readonly Container[] | undefined): void {
  for (const port of (containers ?? []).flatMap(({ ports }) => ports ?? [])) port.hostPort ??= port.containerPort;
}
