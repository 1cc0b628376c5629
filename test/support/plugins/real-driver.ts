import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isExecutable, userCache } from '../user-cache.ts';
import { createVolume } from './create-volume.ts';
import { driverName, type PluginProcesses, type VolumePlaces } from './driver-world.ts';

/** The programs of kubernetes-csi, as `CSI_BIN` or the cache of the tests has them. */
const folder = process.env.CSI_BIN ?? join(userCache(process.env), 'csi');
const plugin = join(folder, 'hostpathplugin');
const registrar = join(folder, 'csi-node-driver-registrar');
const volumeBytes = 16 * 1024 ** 2;

/** Throws where this machine has no csi-driver-host-path and node-driver-registrar: they are in no Go module proxy. */
export async function requireRealDriver(): Promise<void> {
  if ((await isExecutable(plugin)) && (await isExecutable(registrar))) return;
  throw new Error(
    `build hostpathplugin of kubernetes-csi/csi-driver-host-path and csi-node-driver-registrar into ${folder}, or set CSI_BIN`,
  );
}

/** csi-driver-host-path, and beside it the registrar that every driver of kubernetes-csi has. */
export class RealDriver implements PluginProcesses {
  readonly #root: string;
  #driver: ChildProcess | undefined;
  #registrar: ChildProcess | undefined;

  /** `root`: the root directory of the agent. */
  constructor(root: string) {
    this.#root = root;
  }

  get socketPath(): string {
    return join(this.#root, 'plugins', 'hp', 'csi.sock');
  }

  /** The driver has a folder for each volume. */
  async volumeCount(): Promise<number> {
    return (await readdir(this.#stateFolder)).filter((name) => name !== 'state.json').length;
  }

  createVolume(name: string, { isBlock = false }: { readonly isBlock?: boolean } = {}): Promise<string> {
    return createVolume(this.socketPath, name, volumeBytes, isBlock);
  }

  async placesOf(volumeID: string): Promise<VolumePlaces> {
    const state = JSON.parse(await readFile(join(this.#stateFolder, 'state.json'), 'utf8'));
    const found = (state.Volumes ?? []).find(({ VolID }: { readonly VolID: string }) => VolID === volumeID);
    return { staged: found?.Staged ?? [], published: found?.Published ?? [] };
  }

  get #stateFolder(): string {
    return join(this.#root, 'csi-data');
  }

  async startDriver(): Promise<void> {
    await mkdir(join(this.#root, 'plugins', 'hp'), { recursive: true });
    const args = ['--drivername', driverName, '--endpoint', `unix://${this.socketPath}`, '--nodeid', 'node-1'];
    this.#driver = this.#spawn(plugin, [...args, '--statedir', this.#stateFolder, '--maxvolumespernode', '7']);
  }

  async startRegistrar(): Promise<void> {
    await mkdir(join(this.#root, 'plugins_registry'), { recursive: true });
    const paths = { '--csi-address': this.socketPath, '--kubelet-registration-path': this.socketPath };
    const args = Object.entries({ ...paths, '--plugin-registration-path': join(this.#root, 'plugins_registry') }).flat();
    this.#registrar = this.#spawn(registrar, args);
  }

  /** As when its pod is deleted: the registrar takes its socket away. */
  async stopRegistrar(): Promise<void> {
    await ended(this.#registrar, 'SIGTERM');
  }

  async stopDriver(): Promise<void> {
    await ended(this.#driver, 'SIGKILL');
  }

  /** The driver answers nothing, until it is continued. */
  hang(): void {
    this.#driver?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#driver?.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.goOn();
    await this.stopRegistrar();
    await this.stopDriver();
  }

  #spawn(file: string, args: readonly string[]): ChildProcess {
    const child = spawn(file, args, { stdio: 'ignore' });
    return child;
  }
}

async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
