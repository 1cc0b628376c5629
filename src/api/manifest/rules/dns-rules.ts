// Behaviour of pkg/apis/core/validation for names and DNS of a pod, v1.36.3.
import { check } from '../text/invalid-manifest.ts';
import type { PodSpec } from '../types/pod-parts.ts';
import { checkDnsLabel, checkDnsSubdomain, checkIP, checkOneOf, checkPresent, checkSearchPath } from './text-rules.ts';

const mostNameservers = 3;
const mostSearchPaths = 32;
const longestSearchList = 2048;
const longestHostname = 64;

export function checkDns(spec: PodSpec): void {
  const { dnsConfig, dnsPolicy } = spec;
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  const path = 'spec.dnsConfig';
  checkOneOf('spec.dnsPolicy', dnsPolicy, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']);
  if (dnsPolicy === 'None') check(nameservers.length > 0, `${path}.nameservers`, 'given for the dnsPolicy None', nameservers);
  check(nameservers.length <= mostNameservers, `${path}.nameservers`, `at most ${mostNameservers}`, nameservers.length);
  for (const [index, nameserver] of nameservers.entries()) checkIP(`${path}.nameservers[${index}]`, nameserver);
  check(searches.length <= mostSearchPaths, `${path}.searches`, `at most ${mostSearchPaths}`, searches.length);
  const listSize = Buffer.byteLength(searches.join(' '));
  check(listSize <= longestSearchList, `${path}.searches`, `at most ${longestSearchList} characters in all`, listSize);
  for (const [index, search] of searches.entries()) checkSearchPath(`${path}.searches[${index}]`, search);
  for (const [index, { name }] of options.entries()) checkPresent(`${path}.options[${index}].name`, name);
}

export function checkHostNames(spec: PodSpec): void {
  if (spec.hostname !== undefined) checkDnsLabel('spec.hostname', spec.hostname);
  if (spec.subdomain !== undefined) checkDnsLabel('spec.subdomain', spec.subdomain);
  for (const [index, { ip, hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    checkIP(`spec.hostAliases[${index}].ip`, ip);
    for (const [at, hostname] of hostnames.entries()) checkDnsSubdomain(`spec.hostAliases[${index}].hostnames[${at}]`, hostname);
  }
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return;
  const path = 'spec.hostnameOverride';
  check(spec.setHostnameAsFQDN !== true, path, 'absent where setHostnameAsFQDN is true', hostnameOverride);
  check(spec.hostNetwork !== true, path, 'absent where hostNetwork is true', hostnameOverride);
  check(hostnameOverride.length <= longestHostname, path, `at most ${longestHostname} characters`, hostnameOverride);
  checkDnsSubdomain(path, hostnameOverride);
}
