import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Why these tests cannot run on a machine. `.ci/not-run.json` lists the same: the run accepts no other. */
export const noVirtualKubeletReasons = {
  linux: "virtual-kubelet's tests need Linux",
  root: "virtual-kubelet's tests need root",
  network: "virtual-kubelet's tests need a network of their own, and unshare and ip make none",
  go: "virtual-kubelet's tests are built with Go, which is not there",
  time: "virtual-kubelet's tests were not built in the time there is",
} as const;

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return promisify(execFile)(command, [...args], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** Why these tests cannot run on this machine; undefined where they can. */
export async function whyNoVirtualKubelet(): Promise<string | undefined> {
  if (process.platform !== 'linux') return noVirtualKubeletReasons.linux;
  if (process.getuid?.() !== 0) return noVirtualKubeletReasons.root;
  if (!(await succeeds('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']))) return noVirtualKubeletReasons.network;
  return (await succeeds('go', ['version'])) ? undefined : noVirtualKubeletReasons.go;
}
