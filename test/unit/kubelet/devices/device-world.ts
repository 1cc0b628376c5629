import { join } from 'node:path';
import { type Metrics, noMetrics } from '../../../../src/base/metrics/metrics.ts';
import type { Pod } from '../../../../src/index.ts';
import type { DeviceAnswer } from '../../../../src/kubelet/devices/device-admissions.ts';
import { DeviceManager } from '../../../../src/kubelet/devices/device-manager.ts';
import { GrpcPlugins } from '../../../../src/plugins.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';
import { FakeDevicePlugin } from '../../../support/plugins/fake-device-plugin.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

export const resource = 'example.com/resource';

/** A pod whose containers ask for so many devices each, by their names; init containers are named `init…`. */
export function podWith(uid: string, containers: Readonly<Record<string, number>>, more: object = {}, name = resource): Pod {
  const all = Object.entries(containers).map(([container, count]) => ({
    ...{ name: container, image: 'app:1', resources: { limits: { [name]: String(count) } } },
    ...(container.startsWith('initr') && { restartPolicy: 'Always' }),
  }));
  const initContainers = all.filter((container) => container.name.startsWith('init'));
  const spec = { initContainers, containers: all.filter((container) => !container.name.startsWith('init')) };
  return buildPod({ metadata: { uid, name: uid }, spec, ...more } as object);
}

/** A device manager with real sockets, in virtual time. */
export class DeviceWorld {
  readonly root: string;
  readonly clock = new FakeClock();
  metrics: Metrics = noMetrics;
  readonly logs: string[] = [];
  readonly changedPods: string[] = [];
  /** The uids of the pods that are not over. */
  readonly active = new Set<string>();
  readonly running = new Set<string>();
  sourcesReady = true;
  readonly #managers: DeviceManager[] = [];
  readonly #plugins: FakeDevicePlugin[] = [];

  private constructor(root: string) {
    this.root = root;
  }

  static async make(): Promise<DeviceWorld> {
    return new DeviceWorld(await tempDir());
  }

  get folder(): string {
    return join(this.root, 'device-plugins');
  }

  async start(): Promise<DeviceManager> {
    const note = (fields: object, message: string): void => void this.logs.push(`${message} ${JSON.stringify(fields)}`);
    const manager = new DeviceManager({
      folder: this.folder,
      connector: new GrpcPlugins(),
      sourcesReady: () => this.sourcesReady,
      runs: async (podUID) => this.running.has(podUID),
      holders: () => (podUID) => (this.active.has(podUID) ? 'holds' : this.running.has(podUID) ? 'ends' : 'gone'),
      nodeChanged: () => {},
      podChanged: (podUID) => void this.changedPods.push(podUID),
      clock: this.clock,
      logger: { debug: () => {}, info: note, warn: note, error: note },
      metrics: this.metrics,
    });
    this.#managers.push(manager);
    await manager.start();
    return manager;
  }

  /** A plugin that has registered and listed its devices. */
  async plugin(
    manager: DeviceManager,
    options: ConstructorParameters<typeof FakeDevicePlugin>[1] = {},
    set: Partial<FakeDevicePlugin> = {},
  ) {
    const plugin = new FakeDevicePlugin(this.root, options);
    Object.assign(plugin, set);
    this.#plugins.push(plugin);
    await plugin.start();
    await until(() => manager.counts().capacity[plugin.resource] === String(plugin.devices.length));
    return plugin;
  }

  /** Asks for the pod until there is an answer. */
  async admit(manager: DeviceManager, pod: Pod): Promise<DeviceAnswer> {
    this.active.add(pod.metadata?.uid ?? '');
    for (;;) {
      const answer = manager.admit(pod);
      if (answer.state !== 'asked') return answer;
      await answer.until;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#managers.map((manager) => manager.stop()), ...this.#plugins.map((plugin) => plugin.stop())]);
  }
}

/** The words of a refusal; `given` where there is none. */
export function wordsOf(answer: DeviceAnswer): string {
  return answer.state === 'refused' ? `${answer.refusal.reason}: ${answer.refusal.message}` : answer.state;
}

export function idsOf(manager: DeviceManager, podUID: string, container: string): string[] {
  return [...(manager.devicesOf(podUID, container).get(resource)?.byNUMA ?? [])].flatMap(([, ids]) => ids);
}
