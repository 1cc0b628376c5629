// Behaviour of pkg/kubelet/network/dns parseResolvConf, v1.36.3.

import type { DNSConfig } from '../runtime/runtime-sandboxes.ts';
import { readAtMost } from './read-at-most.ts';

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
