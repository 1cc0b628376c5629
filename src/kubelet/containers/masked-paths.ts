// Behaviour of pkg/securitycontext ConvertToRuntimeMaskedPaths, v1.36.3.
import { existsSync, readFileSync } from 'node:fs';

/** What a container must neither see nor write of `/proc` and `/sys`. */
export interface ProcPaths {
  /** Paths that are hidden. */
  readonly maskedPaths: readonly string[];
  /** Paths that cannot be written. */
  readonly readonlyPaths: readonly string[];
}

const masked = [
  ...['asound', 'acpi', 'interrupts', 'kcore', 'keys', 'latency_stats'].map((name) => `/proc/${name}`),
  ...['timer_list', 'timer_stats', 'sched_debug', 'scsi'].map((name) => `/proc/${name}`),
  ...['/sys/firmware', '/sys/devices/virtual/powercap'],
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];
const mostProcessors = 8192;

/** What is masked by default on this machine: the same for every container while the process lives. */
export function defaultProcPaths(sys = '/sys'): ProcPaths {
  const throttles = possibleProcessors(sys).map((cpu) => `/sys/devices/system/cpu/cpu${cpu}/thermal_throttle`);
  const present = throttles.filter((path) => existsSync(path.replace(/^\/sys/, sys)));
  return { maskedPaths: [...masked, ...present], readonlyPaths };
}

/** Everything can be seen. */
export const unmaskedProcPaths: ProcPaths = { maskedPaths: [], readonlyPaths: [] };

/** The processors of a list such as `0-3,8`; none where the kernel does not say. */
function possibleProcessors(sys: string): readonly number[] {
  let text = '';
  try {
    text = readFileSync(`${sys}/devices/system/cpu/possible`, 'utf8').trim();
  } catch {
    return [];
  }
  return text.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    const count = Number(last) - Number(first) + 1;
    return count > 0 && count <= mostProcessors ? Array.from({ length: count }, (_, index) => Number(first) + index) : [];
  });
}
