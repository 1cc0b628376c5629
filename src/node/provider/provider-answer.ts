import { isIP } from 'node:net';
import { isJsonObject } from '../../api/json/json.ts';
import type { PodStatus, WirePodStatus } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import { requireStatus } from '../../status/rules/validate-status.ts';

/** What a whole pod has, and no status. */
const membersOfPod = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/**
 * An answer of `getPodStatus`, as it goes over the wire; undefined for "no such pod". Throws ERR_INVALID_ARGUMENT, naming the
 * member, for what is no status, and for what the server would refuse: with it, it would refuse the pod's end, too.
 */
export function readAnswer(answer: unknown): WirePodStatus | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (!isJsonObject(answer)) throw invalidArgument('status', 'a pod status, or undefined', answer);
  for (const member of membersOfPod) {
    if (Object.hasOwn(answer, member))
      throw invalidArgument(`status.${member}`, 'absent: it is a member of a pod, not of its status', answer[member]);
  }
  const status = canonicalPodStatus(answer as PodStatus);
  requireStatus(status);
  if (status.phase === 'Unknown') throw invalidArgument('status.phase', 'known', status.phase);
  const { phase, containerStatuses, initContainerStatuses } = status;
  if (!phase && !containerStatuses?.length && !initContainerStatuses?.length)
    throw invalidArgument('status.phase', 'given where there are no container statuses', answer.phase);
  requireAddresses(status);
  for (const member of ['message', 'reason'] as const) {
    const text: unknown = status[member];
    if (text !== undefined && typeof text !== 'string') throw invalidArgument(`status.${member}`, 'a string', text);
  }
  return status;
}

/** True for an address that the server takes. */
export function isAddress(text: unknown): text is string {
  return typeof text === 'string' && isIP(text) !== 0 && !text.includes('%');
}

function requireAddresses(status: WirePodStatus): void {
  for (const member of ['podIP', 'hostIP'] as const) {
    const ip = status[member];
    if (ip !== undefined && !isAddress(ip)) throw invalidArgument(`status.${member}`, 'an IP address', ip);
    for (const [index, each] of (status[`${member}s`] ?? []).entries())
      if (!isAddress(each?.ip)) throw invalidArgument(`status.${member}s[${index}].ip`, 'an IP address', each?.ip);
  }
  const { hostIP, hostIPs } = status;
  if (hostIPs === undefined) return;
  if (hostIPs[0]?.ip !== hostIP) throw invalidArgument('status.hostIPs', 'a list that begins with hostIP', hostIPs);
  if (new Set(hostIPs.map(({ ip }) => isIP(ip))).size < hostIPs.length)
    throw invalidArgument('status.hostIPs', 'a list with one address of each family', hostIPs);
}
