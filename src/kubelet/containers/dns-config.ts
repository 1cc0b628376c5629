// Behaviour of pkg/kubelet/network/dns, v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { podText } from '../../api/pod/pod-identity.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import type { DNSConfig } from '../runtime/runtime-sandboxes.ts';

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

function missingClusterDNS(pod: Pod): string {
  return `pod: "${podText(pod)}". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`;
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
