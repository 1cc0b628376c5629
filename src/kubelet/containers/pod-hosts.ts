// Behaviour of pkg/kubelet/kubelet_pods.go GeneratePodHostNameAndDomain and pkg/kubelet/util GetNodenameForKernel, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { isDnsLabel, isDnsSubdomain } from '../../base/names.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';

/** How a pod is called. */
interface PodHostname {
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

// Behaviour of pkg/kubelet/kubelet_pods.go (hosts file), v1.36.3.

/** What the aliases of a pod may come to, in bytes: the file is made for each start of a container. */
const mostAliasBytes = 131_072;

/** What `/etc/hosts` of a pod with a network of its own says. Throws {@link ContainerConfigError} for aliases of more than 128 KiB. */
export function managedHosts(pod: Pod, podIPs: readonly string[], { hostname, domain }: PodHostname): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  return (
    [
      '# Kubernetes-managed hosts file.',
      '127.0.0.1\tlocalhost',
      '::1\tlocalhost ip6-localhost ip6-loopback',
      'fe00::0\tip6-localnet',
      'fe00::0\tip6-mcastprefix',
      'fe00::1\tip6-allnodes',
      'fe00::2\tip6-allrouters',
      ...podIPs.map((ip) => `${ip}\t${names}`),
      '',
    ].join('\n') + aliases(pod)
  );
}

/** What `/etc/hosts` of a pod in the node's network says: what the node's own says, and the pod's aliases. */
export function nodeHosts(pod: Pod, nodeHostsFile: string): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeHostsFile}${aliases(pod)}`;
}

function aliases({ spec }: Pod): string {
  if (!spec?.hostAliases?.length) return '';
  let bytes = 0;
  const lines = spec.hostAliases.map(({ ip, hostnames }) => {
    const line = `${ip}\t${(hostnames ?? []).join('\t')}\n`;
    bytes += Buffer.byteLength(line);
    if (bytes > mostAliasBytes) throw new ContainerConfigError(`hostAliases take more than ${mostAliasBytes} bytes`);
    return line;
  });
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
