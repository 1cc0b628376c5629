import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SandboxFilter } from '../../runtime/container-runtime.ts';
import { runtimeLabels } from '../../runtime/runtime-labels.ts';
import type { PodSandboxConfig, PortMapping, SandboxLinuxConfig } from '../../runtime/runtime-sandboxes.ts';
import {
  type LinuxPodSandboxConfigSchema,
  type PodSandboxConfigSchema,
  type PodSandboxFilterSchema,
  PodSandboxState,
  Protocol,
} from '../proto/api_pb.ts';
import { known } from './known.ts';
import { resourcesRequest } from './resources-request.ts';
import { sandboxSecurityRequest } from './security-request.ts';

const protocols: Readonly<Record<PortMapping['protocol'], Protocol>> = {
  TCP: Protocol.TCP,
  UDP: Protocol.UDP,
  SCTP: Protocol.SCTP,
};

/** What a sandbox is made from. */
export function sandboxRequest(config: PodSandboxConfig): MessageInitShape<typeof PodSandboxConfigSchema> {
  const { metadata, hostname, logDirectory, dnsConfig } = config;
  const request: MessageInitShape<typeof PodSandboxConfigSchema> = {
    metadata: { name: metadata.name, uid: metadata.uid, namespace: metadata.namespace, attempt: metadata.attempt },
    hostname,
    logDirectory,
    portMappings: config.portMappings.map(portRequest),
    labels: { ...config.labels },
    annotations: { ...config.annotations },
    linux: linuxRequest(config.linux),
  };
  if (dnsConfig !== undefined) {
    const { servers, searches, options } = dnsConfig;
    request.dnsConfig = { servers: [...servers], searches: [...searches], options: [...options] };
  }
  return request;
}

/** Which sandboxes are listed. */
export function sandboxFilter({ podUID, ready }: SandboxFilter): MessageInitShape<typeof PodSandboxFilterSchema> {
  const state = ready === true ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
  return { labelSelector: podSelector(podUID), ...(ready !== undefined && { state: { state } }) };
}

/** The labels of one pod's sandboxes and containers; none where the pod is not given. */
export function podSelector(podUID: string | undefined): Record<string, string> {
  return podUID === undefined ? {} : { [runtimeLabels.podUID]: podUID };
}

function linuxRequest(linux: SandboxLinuxConfig): MessageInitShape<typeof LinuxPodSandboxConfigSchema> {
  const { cgroupParent, securityContext, sysctls, overhead, resources } = linux;
  return {
    cgroupParent,
    securityContext: sandboxSecurityRequest(securityContext),
    sysctls: { ...sysctls },
    ...(overhead && { overhead: resourcesRequest(overhead) }),
    ...(resources && { resources: resourcesRequest(resources) }),
  };
}

function portRequest({ protocol, containerPort, hostPort, hostIP }: PortMapping) {
  return { protocol: known('protocol', protocols, protocol), containerPort, hostPort, hostIp: hostIP };
}
