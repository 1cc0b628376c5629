import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why the tests of test/real/kernel cannot run on a machine. `.ci/not-run.json` lists the same: the run accepts no other. */
export const noKernelReasons = {
  linux: 'these tests need Linux',
  root: 'these tests need root',
  mounts: 'these tests need mounts of their own, and unshare gives none',
} as const;

/** Why a one-node cluster cannot run on a machine. `.ci/not-run.json` lists the same: the run accepts no other. */
export const noKitReasons = {
  linux: 'the node kit needs Linux',
  root: 'the node kit needs root',
  namespaces: 'the node kit needs namespaces of its own, and unshare gives none',
  cgroups: 'the node kit needs cgroups of version 1, and this machine has none',
  go: 'the node kit is built with Go, which is not there',
  debian: 'the node kit takes runc and busybox from Debian, and this machine is no Debian',
  time: 'the node kit was not built in the time there is',
} as const;

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, [...args], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** The kit gives containers a share of a cgroup of each v1 hierarchy. */
async function hasCgroups(): Promise<boolean> {
  const groups = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  return /:(?:\w+,)*memory(?:,\w+)*:/.test(groups);
}

/** Why the tests over the machine's own kernel cannot run; undefined where they can. */
export async function whyNoKernelTests(): Promise<string | undefined> {
  if (process.platform !== 'linux') return noKernelReasons.linux;
  if (process.getuid?.() !== 0) return noKernelReasons.root;
  return (await succeeds('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])) ? undefined : noKernelReasons.mounts;
}

/** Why a one-node cluster cannot run on this machine; undefined where it can. */
export async function whyNoKit(): Promise<string | undefined> {
  if (process.platform !== 'linux') return noKitReasons.linux;
  if (process.getuid?.() !== 0) return noKitReasons.root;
  const namespaces = ['--mount', '--net', '--ipc', '--uts', '--pid', '--cgroup', '--fork', 'true'];
  if (!(await succeeds('unshare', namespaces))) return noKitReasons.namespaces;
  if (!(await hasCgroups())) return noKitReasons.cgroups;
  if (!(await succeeds('go', ['version']))) return noKitReasons.go;
  const isDebian = await access('/usr/bin/dpkg-query').then(
    () => true,
    () => false,
  );
  return isDebian ? undefined : noKitReasons.debian;
}
