// Behaviour of the scheduler's node ports plugin, v1.36.3.
import { isRestartableInitContainer } from '../../conditions/restart-policy.ts';
import type { Pod } from '../../wire/types.ts';

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const everyAddress = '0.0.0.0';

/** True when no pod of `others` has a port of the node that `pod` asks for. */
export function hasFreePorts(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return true;
  const taken = others.flatMap(hostPorts);
  return wanted.every((port) => !taken.some((other) => conflict(port, other)));
}

function hostPorts({ spec }: Pod): HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(isRestartableInitContainer);
  return [...sidecars, ...(spec?.containers ?? [])].flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ ip: hostIP || everyAddress, protocol: protocol || 'TCP', port: hostPort }] : [],
    ),
  );
}

function conflict(one: HostPort, other: HostPort): boolean {
  if (one.port !== other.port || one.protocol !== other.protocol) return false;
  return one.ip === other.ip || one.ip === everyAddress || other.ip === everyAddress;
}
