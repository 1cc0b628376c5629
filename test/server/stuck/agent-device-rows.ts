import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type DeviceAllocation,
  type DevicePlugin,
  type DevicePluginRegistration,
  type NodePlugins,
  PluginCallError,
} from '../../../src/kubelet.ts';
import { type AgentRow, type StuckAgent, silentPlugins } from './stuck-agent.ts';

const resource = 'example.com/gpu';
const nothing: DeviceAllocation = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

/** A device plugin as an object, and the agent's side of it. */
class ScriptedPlugin {
  readonly connector: NodePlugins;
  readonly allocated = Promise.withResolvers<void>();
  #lost = Promise.withResolvers<never>();
  #register: (plugin: DevicePluginRegistration) => Promise<void> = async () => {};

  constructor() {
    this.#lost.promise.catch(() => {});
    this.connector = {
      ...silentPlugins,
      serveDeviceRegistration: async (_path, register) => {
        this.#register = register;
        return { close: async () => {} };
      },
      devicePlugin: () => this.#plugin(this.#lost.promise),
    };
  }

  register(): Promise<void> {
    return this.#register({ version: 'v1beta1', endpoint: 'gpu.sock', resourceName: resource });
  }

  lose(): void {
    this.#lost.reject(new PluginCallError('Unavailable', 'ListAndWatch', 'the plugin has crashed'));
    this.#lost = Promise.withResolvers();
    this.#lost.promise.catch(() => {});
  }

  #plugin(lost: Promise<never>): DevicePlugin {
    const closed = Promise.withResolvers<void>();
    return {
      getOptions: async () => ({ preStartRequired: false, preferredAllocationAvailable: false }),
      async *listAndWatch() {
        yield [{ id: 'gpu-1', health: 'Healthy', numaNodes: [] }];
        await Promise.race([lost, closed.promise]);
      },
      getPreferredAllocation: async () => [],
      allocate: async () => {
        await this.allocated.promise;
        return nothing;
      },
      preStartContainer: async () => {},
      close: () => closed.resolve(),
    };
  }
}

const plugins = new WeakMap<StuckAgent, ScriptedPlugin>();

/** An agent with a device plugin that has registered. */
async function startWith(world: StuckAgent): Promise<ScriptedPlugin> {
  const plugin = new ScriptedPlugin();
  plugins.set(world, plugin);
  await world.start({ plugins: plugin.connector });
  await plugin.register();
  await world.pass(5000);
  return plugin;
}

/** What is wrong with the devices of a node agent. */
export const agentDeviceRows: readonly AgentRow[] = [
  {
    id: 'device-plugin-gone',
    title: 'a device plugin that is gone',
    about: 'node',
    kind: 'device-plugin',
    words: 'rpc error: code = Unavailable desc = the plugin has crashed',
    log: { message: 'a device plugin is gone; its devices are given to no pod' },
    retried: 'untimed',
    help: 'See the log of the device plugin that the message names, and start it again: its devices are given to no pod until it lists them.',
    arrange: async (world) => {
      const plugin = await startWith(world);
      plugin.lose();
      await world.pass(5000);
    },
    mend: (world) => plugins.get(world)?.register(),
  },
  {
    id: 'device-checkpoint',
    title: 'a file of the devices of pods that cannot be read',
    about: 'node',
    kind: 'device-checkpoint',
    words: 'checkpoint is corrupted',
    log: { message: 'no pod gets devices: nobody knows which ones other pods have' },
    retried: 'untimed',
    help: 'See whether the agent may read and write device-plugins in its root directory, and whether the disk has room. A file that cannot be read: end the pods that have devices, remove it, and start the agent again.',
    arrange: async (world) => {
      const rootDirectory = await world.folder();
      await mkdir(join(rootDirectory, 'device-plugins'));
      const text = '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":1}';
      await writeFile(join(rootDirectory, 'device-plugins', 'kubelet_internal_checkpoint'), text);
      await world.start({ rootDirectory, plugins: new ScriptedPlugin().connector });
      await world.pass(5000);
    },
  },
];

/** How a pod waits for its devices. */
export const devicePodRows: readonly AgentRow[] = [
  {
    id: 'device-plugin-hangs',
    title: 'a device plugin that does not give a pod its devices, or refuse to',
    about: 'pod',
    kind: 'admission-waits',
    words: `the device plugin of ${resource} has not given its devices yet`,
    retried: false,
    help: 'See why what the message names gives no answer: the pod waits for it, and is asked for by itself when there is one.',
    arrange: async (world) => {
      await startWith(world);
      const resources = { limits: { [resource]: '1' }, requests: { [resource]: '1' } };
      world.create({ containers: [{ name: 'app', image: 'app:1', resources }] });
      await world.pass(10_000);
    },
    mend: (world) => plugins.get(world)?.allocated.resolve(),
  },
];
