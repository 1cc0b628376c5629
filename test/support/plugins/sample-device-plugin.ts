import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goBuild } from '../go-build.ts';
import { isExecutable, userCache } from '../user-cache.ts';
import type { DevicePluginProcess } from './device-contract.ts';

export const samplePluginProgram = join(userCache(process.env), 'devices', 'sample-device-plugin');
/** A module that needs the same version of Kubernetes. */
const moduleDir = fileURLToPath(new URL('../../peers/status/', import.meta.url));

/** Builds Kubernetes' sample device plugin, once. */
export async function requireSamplePlugin(): Promise<void> {
  if (await isExecutable(samplePluginProgram)) return;
  const build = {
    name: 'the sample device plugin of Kubernetes',
    args: (outputFile: string) => ['build', '-o', outputFile, 'k8s.io/kubernetes/test/images/sample-device-plugin'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=mod' },
    usually: 'takes 1 minute',
  };
  const report = (line: string): void => console.log(line);
  await goBuild(build, samplePluginProgram, { go: 'go', moduleDir, env: process.env, report, progressMs: 30_000 });
}

/** Kubernetes' sample device plugin, as a process with a mount of its own: it knows the kubelet's folder by one path alone. */
export class SampleDevicePlugin implements DevicePluginProcess {
  readonly #folder: string;
  #process: ChildProcess | undefined;

  /** `root`: the root directory of the agent. */
  constructor(root: string) {
    this.#folder = join(root, 'device-plugins');
  }

  async start(): Promise<void> {
    const kubelets = '/var/lib/kubelet/device-plugins';
    await mkdir(kubelets, { recursive: true });
    const script = 'mount --bind "$0" "$1" && exec "$2"';
    const args = ['--mount', '--propagation', 'private', 'sh', '-c', script, this.#folder, kubelets, samplePluginProgram];
    this.#process = spawn('unshare', args, { stdio: 'ignore' });
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
