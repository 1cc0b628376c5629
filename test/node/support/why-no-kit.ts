import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, [...args], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** The kit gives containers a share of a cgroup of each v1 hierarchy, or of the one of v2. */
async function hasCgroups(): Promise<boolean> {
  const groups = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  return /:(?:\w+,)*memory(?:,\w+)*:/.test(groups);
}

/** Why a one-node cluster cannot run on this machine; undefined where it can. */
export async function whyNoKit(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'the node kit needs Linux';
  if (process.getuid?.() !== 0) return 'the node kit needs root';
  const namespaces = ['--mount', '--net', '--ipc', '--uts', '--pid', '--cgroup', '--fork', 'true'];
  if (!(await succeeds('unshare', namespaces))) return 'the node kit needs namespaces of its own, and unshare gives none';
  if (!(await hasCgroups())) return 'the node kit needs cgroups of version 1, and this machine has none';
  if (!(await succeeds('go', ['version']))) return 'the node kit is built with Go, which is not there';
  const isDebian = await access('/usr/bin/dpkg-query').then(
    () => true,
    () => false,
  );
  return isDebian ? undefined : 'the node kit takes runc and busybox from Debian, and this machine is no Debian';
}
