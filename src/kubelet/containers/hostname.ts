// Behaviour of pkg/kubelet/kubelet_pods.go GeneratePodHostNameAndDomain and pkg/kubelet/util GetNodenameForKernel, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isDnsLabel, isDnsSubdomain } from '../../base/names.ts';
import { ContainerConfigError } from './config-error.ts';

/** How a pod is called. */
export interface PodHostname {
  /** Without its domain; at most 63 characters. */
  readonly hostname: string;
  /** The domain, such as `web.shop.svc.cluster.local`; empty for none. */
  readonly domain: string;
}

const longestHostname = 63;
const longestKernelName = 64;

/** Throws {@link ContainerConfigError} for names that are none. */
export function podHostname({ metadata, spec }: Pod, clusterDomain: string): PodHostname {
  const override = spec?.hostnameOverride;
  if (override !== undefined && override !== null) {
    if (!isDnsSubdomain(override)) throw noName('HostnameOverride', override, 'subdomain');
    return { hostname: shortened(override), domain: '' };
  }
  if (spec?.hostname && !isDnsLabel(spec.hostname)) throw noName('Hostname', spec.hostname, 'label');
  if (spec?.subdomain && !isDnsLabel(spec.subdomain)) throw noName('Subdomain', spec.subdomain, 'label');
  return {
    hostname: shortened(spec?.hostname || (metadata?.name ?? '')),
    domain: spec?.subdomain ? `${spec.subdomain}.${metadata?.namespace ?? ''}.svc.${clusterDomain}` : '',
  };
}

/** The name that the kernel gives for the pod's: with the domain, where the pod wants that. */
export function kernelHostname({ spec }: Pod, { hostname, domain }: PodHostname): string {
  if (domain === '' || spec?.setHostnameAsFQDN !== true) return hostname;
  const name = `${hostname}.${domain}`;
  if (name.length <= longestKernelName) return name;
  throw new ContainerConfigError(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long (${longestKernelName} characters is the max, ${name.length} characters requested)`,
  );
}

function shortened(name: string): string {
  if (name.length <= longestHostname) return name;
  const short = name.slice(0, longestHostname).replace(/[-.]+$/, '');
  if (short === '') throw new ContainerConfigError(`hostname was invalid: ${JSON.stringify(name)}`);
  return short;
}

function noName(field: string, name: string, kind: string): ContainerConfigError {
  return new ContainerConfigError(`pod ${field} ${JSON.stringify(name)} is not a valid DNS ${kind}`);
}
