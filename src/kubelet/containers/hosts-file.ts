// Behaviour of pkg/kubelet/kubelet_pods.go (hosts file), v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { ContainerConfigError } from './config-error.ts';
import type { PodHostname } from './hostname.ts';

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
