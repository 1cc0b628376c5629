import { execFile } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Why a machine of test/peers/node-machine cannot run here. `.ci/not-run.json` lists the same: the run accepts no other. */
export const noMachineReasons = {
  linux: 'the machine needs Linux',
  processor: 'the kernel of the machine is for x86-64',
  root: 'the machine needs root',
  namespaces: 'the machine needs namespaces of its own, and unshare gives none',
  link: 'the machine needs a network device of the kind tap, and there is no /dev/net/tun',
  debian: 'the machine takes its kernel and its programs from Debian, and this machine is no Debian',
  go: 'the machine runs programs that are built with Go, which is not there',
  time: 'the programs of the machine were not built in the time there is',
} as const;

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return promisify(execFile)(command, [...args], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

async function isThere(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Why there can be no such machine here; undefined where there can be one. */
export async function whyNoMachine(): Promise<string | undefined> {
  if (process.platform !== 'linux') return noMachineReasons.linux;
  if (process.arch !== 'x64') return noMachineReasons.processor;
  if (process.getuid?.() !== 0) return noMachineReasons.root;
  if (!(await succeeds('unshare', ['--mount', '--net', '--pid', '--fork', 'true']))) return noMachineReasons.namespaces;
  if (!(await isThere('/dev/net/tun'))) return noMachineReasons.link;
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^ID="?debian"?$/m.test(release) ? undefined : noMachineReasons.debian;
}

/** Why the tests with a runtime in such a machine cannot run here; undefined where they can. */
export async function whyNoMachineTests(): Promise<string | undefined> {
  return (await whyNoMachine()) ?? ((await succeeds('go', ['version'])) ? undefined : noMachineReasons.go);
}
