// Behaviour of pkg/kubelet/envvars and kubelet_pods.go getServiceEnvVarMap, v1.36.3.

import type { V1Service } from '@kubernetes/client-node';
import type { Loose } from '../../api/json/types.ts';

/** A service as the apiserver gives it. */
export type Service = Loose<V1Service>;

/** The variables that tell a pod of its services, by name, in the order in which the services' names sort. */
export function serviceEnvironment(
  services: Iterable<Service>,
  namespace: string,
  enableServiceLinks: boolean,
): ReadonlyMap<string, string> {
  const visible = new Map<string, Service>();
  for (const service of services) {
    const name = service.metadata?.name ?? '';
    if (!hasAddress(service)) continue;
    if (service.metadata?.namespace === 'default' && name === 'kubernetes') {
      // the apiserver itself; a service of that name in the pod's own namespace counts before it
      if (!visible.has(name)) visible.set(name, service);
    } else if (enableServiceLinks && service.metadata?.namespace === namespace) visible.set(name, service);
  }
  const variables = new Map<string, string>();
  for (const name of [...visible.keys()].sort()) addService(variables, name, visible.get(name));
  return variables;
}

function hasAddress({ spec }: Service): boolean {
  return Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None' && (spec?.ports?.length ?? 0) > 0;
}

function addService(variables: Map<string, string>, name: string, service: Service | undefined): void {
  const { clusterIP = '', ports = [] } = service?.spec ?? {};
  const prefix = variableName(name);
  const [first] = ports ?? [];
  variables.set(`${prefix}_SERVICE_HOST`, clusterIP);
  variables.set(`${prefix}_SERVICE_PORT`, String(first?.port));
  for (const port of ports ?? []) {
    if (port.name) variables.set(`${prefix}_SERVICE_PORT_${variableName(port.name)}`, String(port.port));
  }
  const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
  for (const [index, { protocol = 'TCP', port }] of (ports ?? []).entries()) {
    const url = `${protocol.toLowerCase()}://${host}:${port}`;
    const portPrefix = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    if (index === 0) variables.set(`${prefix}_PORT`, url);
    variables.set(portPrefix, url);
    variables.set(`${portPrefix}_PROTO`, protocol.toLowerCase());
    variables.set(`${portPrefix}_PORT`, String(port));
    variables.set(`${portPrefix}_ADDR`, clusterIP);
  }
}

function variableName(text: string): string {
  return text.replaceAll('-', '_').toUpperCase();
}
