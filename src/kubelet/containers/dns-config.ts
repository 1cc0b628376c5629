// Behaviour of pkg/kubelet/network/dns, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { isDnsLabel, isDnsSubdomain } from '../../base/names.ts';
import type { DNSConfig } from '../runtime/runtime-sandboxes.ts';
import { ContainerConfigError } from './config-error.ts';
import { readAtMost } from './environment-file.ts';

/** What of the node goes into the name resolution of its pods. */
export interface DNSSettings {
  /** The addresses of the cluster's name servers. */
  readonly clusterDNS: readonly string[];
  /** The cluster's domain, such as `cluster.local`; empty for none. */
  readonly clusterDomain: string;
  /** What the node's own `resolv.conf` says; undefined: pods of policy `Default` resolve no names. */
  readonly host: DNSConfig | undefined;
  /** The node's addresses, which count only where `host` is undefined. */
  readonly nodeIPs: readonly string[];
}

/** Something that the pod's owner should know. */
export interface ConfigWarning {
  /** Of the event, in one word. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

/** The limits of the resolvers in use (`pkg/apis/core/validation`). */
const mostServers = 3;
const mostSearches = 32;
const longestSearchLine = 2048;
const longestDomain = 253;

/** The name resolution of a pod, within what resolvers take, and what had to be left out. */
export function podDNS(
  pod: Pod,
  settings: DNSSettings,
): { readonly config: DNSConfig; readonly warnings: readonly ConfigWarning[] } {
  const warnings: ConfigWarning[] = [];
  const base = baseOf(pod, settings, warnings);
  const { nameservers, searches, options } = pod.spec?.dnsConfig ?? {};
  const config = {
    servers: unique([...base.servers, ...(nameservers ?? [])]),
    searches: unique([...base.searches, ...(searches ?? [])]),
    options: mergedOptions(base.options, options),
  };
  // without a configuration of its own a pod gets the node's as it is
  const { servers, searches: domains } = pod.spec?.dnsConfig ? config : base;
  return {
    config: {
      servers: fittingServers(servers, warnings),
      searches: fittingSearches(domains, warnings),
      options: pod.spec?.dnsConfig ? config.options : base.options,
    },
    warnings,
  };
}

function baseOf(pod: Pod, settings: DNSSettings, warnings: ConfigWarning[]): DNSConfig {
  const { clusterDNS, clusterDomain, host } = settings;
  const policy = pod.spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { servers: [], searches: [], options: [] };
  const wantsNode = policy === 'Default' || (policy === 'ClusterFirst' && pod.spec?.hostNetwork === true);
  if (wantsNode) return nodeDNS(settings);
  if (clusterDNS.length === 0) {
    warnings.push({ reason: 'MissingClusterDNS', message: missingClusterDNS(pod) });
    return nodeDNS(settings);
  }
  const namespace = pod.metadata?.namespace ?? '';
  const own = clusterDomain === '' ? [] : [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  const hostSearches = host?.searches ?? [];
  return {
    servers: clusterDNS,
    searches: own.length === 0 ? hostSearches : unique([...own, ...hostSearches]),
    options: ['ndots:5'],
  };
}

function missingClusterDNS({ metadata }: Pod): string {
  const pod = `${metadata?.name ?? ''}_${metadata?.namespace ?? ''}(${metadata?.uid ?? ''})`;
  return `pod: "${pod}". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`;
}

function nodeDNS({ host, nodeIPs }: DNSSettings): DNSConfig {
  if (host !== undefined) return host;
  const servers = nodeIPs.map((ip) => (ip.includes(':') ? '::1' : '127.0.0.1'));
  return { servers: servers.length === 0 ? ['127.0.0.1'] : servers, searches: ['.'], options: [] };
}

type PodOptions = NonNullable<NonNullable<NonNullable<Pod['spec']>['dnsConfig']>['options']>;

/** The pod's options in place of those of the same name. */
function mergedOptions(existing: readonly string[], own: PodOptions | undefined): readonly string[] {
  const merged = new Map<string, string>();
  for (const option of existing) {
    const colon = option.indexOf(':');
    merged.set(colon < 0 ? option : option.slice(0, colon), colon < 0 ? '' : option.slice(colon + 1));
  }
  for (const { name, value } of own ?? []) merged.set(name ?? '', value ?? '');
  return Array.from(merged, ([name, value]) => (value === '' ? name : `${name}:${value}`));
}

function fittingServers(servers: readonly string[], warnings: ConfigWarning[]): readonly string[] {
  if (servers.length <= mostServers) return servers;
  const kept = servers.slice(0, mostServers);
  const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${kept.join(' ')}`;
  warnings.push({ reason: 'DNSConfigForming', message });
  return kept;
}

function fittingSearches(searches: readonly string[], warnings: ConfigWarning[]): readonly string[] {
  const kept = searches.slice(0, mostSearches).filter((domain) => domain.length <= longestDomain);
  while (kept.join(' ').length > longestSearchLine) kept.pop();
  if (kept.length === searches.length) return searches;
  const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(' ')}`;
  warnings.push({ reason: 'DNSConfigForming', message });
  return kept;
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

// Behaviour of pkg/kubelet/network/dns parseResolvConf, v1.36.3.

const mostBytes = 10 * 1024 * 1024;

/** The node's own name resolution; undefined for an empty path. Rejects where the file cannot be read or is none. */
export async function readResolvConf(path: string): Promise<DNSConfig | undefined> {
  return path === '' ? undefined : parseResolvConf(await readAtMost(path, mostBytes));
}

/** Name servers add up; of search lines the last one counts, and of options with the same name. */
export function parseResolvConf(text: string): DNSConfig {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver') servers.push(requireServer(values[0]));
    if (keyword === 'search') searches = values.filter((domain) => domain !== '.').map((domain) => domain.replace(/\.$/, ''));
    if (keyword === 'options') for (const option of values) options.set(option.split(':', 1)[0] ?? '', option);
  }
  return { servers, searches, options: [...options.values()] };
}

function requireServer(server: string | undefined): string {
  if (server === undefined) throw new Error('Encountered error while parsing resolv conf file. Error: nameserver list is empty');
  return server;
}

// Behaviour of pkg/kubelet/kubelet_pods.go GeneratePodHostNameAndDomain and pkg/kubelet/util GetNodenameForKernel, v1.36.3.

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
