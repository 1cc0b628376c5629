import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const v1 = 'client.authentication.k8s.io/v1';

/** The `exec` part of a kubeconfig, whose plugin is this shell script. The arguments are `$1`, `$2` and so on. */
export function shellPlugin(script: string, { args = [], ...rest }: { args?: string[]; [key: string]: unknown } = {}) {
  return { apiVersion: v1, command: '/bin/sh', args: ['-c', script, 'plugin', ...args], interactiveMode: 'Never', ...rest };
}

/** A line of shell that prints an ExecCredential; the status is JSON, in which the shell expands `$variables`. */
export function printCredential(status: string): string {
  return `cat <<END\n{"apiVersion":"${v1}","kind":"ExecCredential","status":${status}}\nEND\n`;
}

export interface Scratch extends Disposable {
  readonly folder: string;
  path(name: string): string;
  write(name: string, text: string): string;
  /** The text of a file, or '' when there is none. */
  read(name: string): string;
  /** How many lines a file has: plugins append one a run. */
  lines(name: string): number;
}

/** A folder for one test, where plugins leave their traces. */
export function scratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'));
  const path = (name: string): string => join(folder, name);
  const read = (name: string): string => {
    try {
      return readFileSync(path(name), 'utf8');
    } catch {
      return '';
    }
  };
  return {
    folder,
    path,
    read,
    write(name, text) {
      writeFileSync(path(name), text);
      return path(name);
    },
    lines: (name) => read(name).split('\n').length - 1,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** True while the process runs. One that has ended and waits to be reaped does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // gone, or a system without /proc
  }
  try {
    return process.platform !== 'linux' && process.kill(pid, 0);
  } catch {
    return false;
  }
}
