import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { errorText } from '../../base/errors.ts';
import type { Problem } from '../../base/problem.ts';
import type { ReferencedObjects } from '../../node/object-managers/referenced-objects.ts';
import type { TokenManager } from '../../node/pod-files/token-manager.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodWorkers } from '../../node/workers/pod-workers.ts';
import type { SyncLoop } from '../../node/workers/sync-loop.ts';
import { CsiDrivers } from '../csi/csi-drivers.ts';
import { CsiNodeObject } from '../csi/csi-node-object.ts';
import { CsiNodeUpdates } from '../csi/csi-node-updates.ts';
import { CsiStorage } from '../csi/csi-storage.ts';
import { DeviceManager } from '../devices/device-manager.ts';
import { PodResourcesService } from '../devices/pod-resources-service.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import { NodePluginRegistry } from '../registration/node-plugin-registry.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { AgentClaims, type ClaimedPods } from './agent-claims.ts';
import type { AgentClients } from './agent-clients.ts';
import type { DeviceNeeds } from './agent-devices.ts';
import type { AgentNode } from './agent-node.ts';
import type { NodePlugins, ResolvedAgentOptions } from './node-agent-options.ts';

/** The parts of the agent that plugins need. */
interface PluginParts {
  readonly options: ResolvedAgentOptions;
  readonly clients: Pick<AgentClients, 'kubeClient' | 'eventRecorder'>;
  readonly referencedObjects: ReferencedObjects;
  readonly tokenManager: TokenManager;
  readonly node: Pick<AgentNode, 'object' | 'volumesChanged'>;
  // asked once all parts are there
  readonly loop: Pick<SyncLoop, 'sourcesReady' | 'podChanged'>;
  readonly pleg: Pick<PodLifecycle, 'getPods'>;
  readonly podWorkers: Pick<PodWorkers, 'couldHaveRunningContainers'>;
  /** The pods that are not over. */
  readonly activePods: () => readonly Pod[];
}

/** Undefined for an agent that speaks with no plugins. */
export function agentPlugins(parts: PluginParts, mounter: Mounter, needs: DeviceNeeds): AgentPlugins | undefined {
  const { plugins } = parts.options.given;
  return plugins && new AgentPlugins(plugins, parts, mounter, needs);
}

function claimedPods(parts: PluginParts): ClaimedPods {
  return {
    arePodsKnown: () => parts.loop.sourcesReady(),
    isActive: (podUID) =>
      parts.activePods().some((pod) => podUIDOf(pod) === podUID) || parts.podWorkers.couldHaveRunningContainers(podUID),
    podsThatRun: (signal) => parts.pleg.getPods(signal),
    podChanged: (podUID) => parts.loop.podChanged(podUID),
  };
}

/** The plugins of a node: they register themselves, storage drivers among them make volumes, and others give devices. */
export class AgentPlugins {
  readonly storage: CsiStorage;
  /** What drivers of dynamic resource allocation do for pods. */
  readonly claims: AgentClaims;
  readonly devices: DeviceManager;
  readonly #podResources: PodResourcesService;
  readonly #registry: NodePluginRegistry;
  readonly #nodeObject: CsiNodeObject;
  readonly #drivers: CsiDrivers;
  readonly #updates: CsiNodeUpdates;

  constructor(connector: NodePlugins, parts: PluginParts, mounter: Mounter, needs: DeviceNeeds) {
    const { referencedObjects, tokenManager: tokens, node } = parts;
    const { nodeName, settings, random, clock, logger, metrics } = parts.options;
    const { rootDirectory } = settings;
    const { kubeClient: transport, eventRecorder } = parts.clients;
    this.#nodeObject = new CsiNodeObject({ transport, nodeName, random, clock, logger });
    this.#drivers = new CsiDrivers({ connect: (path) => connector.csiNode(path), nodeObject: this.#nodeObject });
    const folder = join(rootDirectory, 'device-plugins');
    this.devices = new DeviceManager({ ...needs, folder, connector, clock, logger, metrics });
    const claims = new AgentClaims(connector, parts.options, transport, claimedPods(parts));
    this.claims = claims;
    const claimsOf = (pod: Pod, container: Container) => claims.listed(pod, container);
    this.#podResources = new PodResourcesService({
      ...{ ...needs, rootDirectory, connector, devices: this.devices, claimsOf, clock, logger, metrics },
    });
    this.#registry = new NodePluginRegistry({
      folder: join(rootDirectory, 'plugins_registry'),
      connect: (path) => connector.registration(path),
      handlers: { CSIPlugin: this.#drivers, DRAPlugin: this.claims.drivers, DevicePlugin: this.devices.plugins },
      ...{ clock, logger },
    });
    const { secretManager: secrets } = referencedObjects;
    const drivers = this.#drivers;
    this.#updates = new CsiNodeUpdates({ drivers, transport, clock, logger });
    this.storage = new CsiStorage({
      ...{ drivers, transport, nodeName, rootDirectory, mounter },
      ...{ secrets, tokens, eventRecorder, random, clock, logger },
      node: () => node.object.newest,
      inUseChanged: () => node.volumesChanged(),
    });
  }

  /** The Node must be there: what plugins say of the node is written to it. */
  start(): void {
    this.#nodeObject.start();
    this.claims.start();
    this.#registry.start();
    this.#updates.start();
    this.storage.start();
  }

  /** Before any pod is asked about: reads what pods have. Rejects where a socket of devices cannot be served. */
  async startDevices(): Promise<void> {
    await this.devices.start();
    await this.#podResources.start();
  }

  /** Calls of drivers that are under way reject as uncertain. Volumes and the CSINode stay. */
  async stop(): Promise<void> {
    this.#drivers.close();
    const parts = [this.#registry, this.#updates, this.#nodeObject, this.storage, this.claims, this.devices, this.#podResources];
    await Promise.all(parts.map((part) => part.stop()));
    // one may have been registered meanwhile
    this.#drivers.close();
    await this.claims.drivers.close();
  }

  problems(): readonly Problem[] {
    const { failing } = this.#registry;
    const { failure } = this.#nodeObject;
    const found: Problem[] = this.#registry.troubles().map(({ socketPath, message, ...trouble }) => ({
      ...{ ...trouble, ...helped('plugin') },
      message: `the plugin at ${socketPath} could not be registered: ${message}`,
    }));
    for (const { resource, message, ...trouble } of this.devices.plugins.troubles()) {
      const words = `the device plugin of ${resource} is gone: ${message}`;
      found.push({ ...trouble, ...helped('device-plugin'), message: words });
    }
    const { failing: unsaved } = this.devices;
    if (unsaved !== undefined) {
      found.push({ ...unsaved, ...helped('device-checkpoint'), message: `pods get no devices: ${unsaved.message}` });
    }
    if (failing !== undefined) {
      const message = `the sockets of plugins cannot be looked at: ${failing.message}`;
      found.push({ ...failing, ...helped('plugins-folder'), message });
    }
    if (failure !== undefined) {
      const { attempt, since, at, retryInMs } = failure;
      const message = `the CSINode could not be written: ${errorText(failure.error)}`;
      found.push({ attempt, since, retryAt: at + retryInMs, ...helped('csi-node'), message });
    }
    return [...found, ...this.storage.problems(), ...this.claims.problems()];
  }
}
