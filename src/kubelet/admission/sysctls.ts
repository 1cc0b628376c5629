// Facts of pkg/kubelet/sysctl and component-helpers/node/util/sysctl, v1.36.3.
import { invalidOption } from '../../base/errors.ts';
import type { AdmissionCheck } from './pod-admission.ts';

type SysctlNamespace = 'IPC' | 'Net';

const ipcNames: readonly string[] = [
  ...['kernel.sem', 'kernel.shmall', 'kernel.shmmax', 'kernel.shmmni', 'kernel.shm_rmid_forced', 'kernel.shm'],
  ...['kernel.msgmax', 'kernel.msgmnb', 'kernel.msgmni', 'kernel.msg'],
];

/** Sysctls of a namespace that harm no other pod, with the first kernel that has them in a namespace. */
const safeSysctls: readonly (readonly [name: string, kernel: readonly [number, number]])[] = [
  ['kernel.shm_rmid_forced', [0, 0]],
  ['net.ipv4.ip_local_port_range', [0, 0]],
  ['net.ipv4.tcp_syncookies', [0, 0]],
  ['net.ipv4.ping_group_range', [0, 0]],
  ['net.ipv4.ip_unprivileged_port_start', [0, 0]],
  ['net.ipv4.ip_local_reserved_ports', [3, 16]],
  ['net.ipv4.tcp_keepalive_time', [4, 5]],
  ['net.ipv4.tcp_fin_timeout', [4, 6]],
  ['net.ipv4.tcp_keepalive_intvl', [4, 5]],
  ['net.ipv4.tcp_keepalive_probes', [4, 5]],
  ['net.ipv4.tcp_rmem', [4, 15]],
  ['net.ipv4.tcp_wmem', [4, 15]],
];

const longestPattern = 253;
const pattern = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*(?:[a-z0-9][-_a-z0-9]*)?(?:[a-z0-9*])?$/;

/** The sysctls that a pod may set: the safe ones of this kernel, and those that the node's owner allows beside them. */
export function allowedSysctls(unsafe: readonly string[], kernelVersion: string): AdmissionCheck {
  const allowed = [...safeOf(kernelVersion), ...unsafe].map(parsePattern);
  return ({ pod: { spec } }) => {
    for (const { name } of spec?.securityContext?.sysctls ?? []) {
      const sysctl = normalName(name);
      const found = allowed.find(({ prefix, isPrefix }) => (isPrefix ? sysctl.startsWith(prefix) : sysctl === prefix));
      const quoted = JSON.stringify(sysctl);
      if (found === undefined) return forbidden(`${quoted} not allowlisted`);
      if (found.namespace === 'IPC' && spec?.hostIPC) return forbidden(`${quoted} not allowed with host IPC enabled`);
      if (found.namespace === 'Net' && spec?.hostNetwork) return forbidden(`${quoted} not allowed with host Net enabled`);
    }
    return undefined;
  };
}

/** Refuses patterns that are no sysctls, or of which the kernel has one value for all. Throws ERR_INVALID_OPTION. */
export function requireSysctlPatterns(option: string, patterns: readonly string[]): void {
  for (const each of patterns) {
    const isText = typeof each === 'string' && each.length <= longestPattern && pattern.test(each);
    if (!isText || namespaceOf(parsePattern(each).prefix) === undefined) {
      throw invalidOption(option, 'sysctls of a namespace, or patterns that end in *, such as "net.core.*"', each);
    }
  }
}

interface ParsedPattern {
  readonly prefix: string;
  readonly isPrefix: boolean;
  readonly namespace: SysctlNamespace | undefined;
}

function parsePattern(text: string): ParsedPattern {
  const [prefix = '', ...rest] = normalName(text).split('*');
  return { prefix, isPrefix: rest.length > 0, namespace: namespaceOf(prefix) };
}

function namespaceOf(name: string): SysctlNamespace | undefined {
  if (name === 'net' || name.startsWith('net.')) return 'Net';
  return ipcNames.includes(name) || name.startsWith('fs.mqueue.') ? 'IPC' : undefined;
}

/** Names with slashes are written with dots, and the other way round; the first of the two in a name says which it is. */
function normalName(name: string): string {
  if ((/[./]/.exec(name)?.[0] ?? '.') === '.') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

function safeOf(kernelVersion: string): string[] {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(kernelVersion) ?? [];
  const isThere = ([needsMajor, needsMinor]: readonly [number, number]): boolean =>
    Number(major) > needsMajor || (Number(major) === needsMajor && Number(minor) >= needsMinor);
  return safeSysctls.filter(([, needs]) => isThere(needs)).map(([name]) => name);
}

function forbidden(what: string): { reason: string; message: string } {
  return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${what}` };
}
