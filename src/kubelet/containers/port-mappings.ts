// Behaviour of pkg/kubelet/container MakePortMappings and kuberuntime generatePodSandboxConfig, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { PortMapping } from '../runtime/runtime-sandboxes.ts';

/** The ports of the pod's regular containers, each name or number of a container once. */
export function portMappings({ spec }: Pod): readonly PortMapping[] {
  return (spec?.containers ?? []).flatMap(containerMappings);
}

function containerMappings({ ports }: Container): readonly PortMapping[] {
  const mappings = new Map<string, PortMapping>();
  for (const { name, protocol, containerPort, hostPort = 0, hostIP = '' } of ports ?? []) {
    const family = hostIP === '' ? 'any' : hostIP.includes(':') ? 'v6' : 'v4';
    const key = name || `${family}-${protocol ?? ''}-${hostIP}:${containerPort}:${hostPort}`;
    if (mappings.has(key)) continue;
    mappings.set(key, {
      protocol: protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP',
      containerPort,
      hostPort,
      hostIP,
    });
  }
  return [...mappings.values()];
}
