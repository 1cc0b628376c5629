import { join } from 'node:path';
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Problem } from '../../base/problem.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodManager } from '../../status/pods/pod-manager.ts';
import type { ContainerClaim } from '../devices/device-plugin.ts';
import { withClaimHealth } from '../dra/claim-health.ts';
import { DeviceHealth } from '../dra/device-health.ts';
import type { DraConnector } from '../dra/dra-driver.ts';
import { DraDrivers } from '../dra/dra-drivers.ts';
import { KeptClaims } from '../dra/kept-claims.ts';
import { listedClaims } from '../dra/listed-claims.ts';
import { ResourceClaims, type ResourceClaimsOptions } from '../dra/resource-claims.ts';
import { ResourceSlices } from '../dra/resource-slices.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

/** What the agent knows of its pods, as far as claims need it. */
export interface ClaimedPods extends Pick<ResourceClaimsOptions, 'arePodsKnown'> {
  /** False for a pod that is over, and for one that nobody knows. */
  readonly isActive: (podUID: string) => boolean;
  readonly podsThatRun: (signal: AbortSignal) => Promise<readonly { readonly uid: string }[]>;
  /** A device of the pod is otherwise than it was. */
  readonly podChanged: (podUID: string) => void;
}

/** Dynamic resource allocation on this node: its drivers, the claims that they make ready for pods, and how the devices are. */
export class AgentClaims {
  readonly drivers: DraDrivers;
  readonly #claims: ResourceClaims;
  readonly #health: DeviceHealth;
  readonly #slices: ResourceSlices;
  readonly #kept: KeptClaims;
  readonly #podManager: Pick<PodManager, 'getPodByUID'>;

  constructor(connector: DraConnector, agent: ResolvedAgentOptions, transport: ResourceTransport, pods: ClaimedPods) {
    const { nodeName, settings, random, clock, logger, metrics } = agent;
    this.#podManager = agent.podManager;
    this.#kept = new KeptClaims({ path: join(settings.rootDirectory, 'dra_manager_state'), clock, logger });
    const onChange = (driver: string, devices: readonly { readonly poolName: string; readonly deviceName: string }[]): void => {
      for (const podUID of this.#podsWith(driver, devices)) pods.podChanged(podUID);
    };
    this.#health = new DeviceHealth({ onChange, clock });
    this.#slices = new ResourceSlices({ transport, nodeName, random, clock, logger });
    this.drivers = new DraDrivers({
      connect: (path, service) => connector.draDriver(path, service),
      ...{ slices: this.#slices, health: this.#health, clock, logger },
    });
    this.#claims = new ResourceClaims({
      ...{ kept: this.#kept, drivers: this.drivers, transport, metrics, clock, logger },
      arePodsKnown: pods.arePodsKnown,
      // of a pod that its source has dropped something may still run
      mayUse: async (podUID, signal) =>
        pods.isActive(podUID) || (await pods.podsThatRun(signal)).some(({ uid }) => uid === podUID) || pods.isActive(podUID),
    });
  }

  start(): void {
    void this.#kept.open().catch(ignoreFailure);
    this.#slices.start();
    this.#claims.start();
  }

  /** Calls of drivers that are under way reject as uncertain. What they have made ready stays, and so do the slices. */
  async stop(): Promise<void> {
    await Promise.all([this.drivers.close(), this.#slices.stop(), this.#claims.stop()]);
  }

  prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    return this.#claims.prepare(this.#newest(pod), signal);
  }

  unprepare(pod: Pod, signal: AbortSignal): Promise<void> {
    return this.#claims.unprepare(this.#newest(pod), signal);
  }

  mayHold(pod: Pod): boolean {
    return this.#claims.mayHold(pod);
  }

  cdiDevicesOf(pod: Pod, container: Container): Promise<readonly string[]> {
    return this.#claims.cdiDevicesOf(this.#newest(pod), container);
  }

  /** The claims that the container has, as far as they are known now. */
  listed(pod: Pod, container: Container): Iterable<ContainerClaim> {
    return listedClaims(this.#newest(pod), container, (namespace, name) => this.#kept.get(namespace, name));
  }

  withHealth(pod: Pod, status: WirePodStatus): WirePodStatus {
    const claimOf = (namespace: string, name: string) => this.#kept.get(namespace, name);
    return withClaimHealth(pod, status, { claimOf, health: this.#health });
  }

  problems(): readonly Problem[] {
    const found: Problem[] = this.#slices.troubles().map(({ driver, message, ...trouble }) => {
      const whose = driver === '' ? 'of drivers that are not here' : `of the driver ${driver}, which does not answer,`;
      return {
        ...trouble,
        ...helped('resource-slices'),
        message: `the resource slices ${whose} could not be deleted: ${message}`,
      };
    });
    const { failing: file } = this.#kept;
    const { failing: left } = this.#claims;
    if (file !== undefined) {
      const message = `the file of resource claims cannot be used: ${file.message}`;
      found.push({ ...file, ...helped('claims-file'), message });
    }
    if (left !== undefined) {
      const message = `the claims of a pod that is gone could not be taken back: ${left.message}`;
      found.push({ ...left, ...helped('claims-left'), message });
    }
    return found;
  }

  /** Which claims were made for a pod stands in its status, which others write: no sync begins for it alone. */
  #newest(pod: Pod): Pod {
    return this.#podManager.getPodByUID(podUIDOf(pod)) ?? pod;
  }

  #podsWith(driver: string, devices: readonly { readonly poolName: string; readonly deviceName: string }[]): Set<string> {
    const changed = new Set(devices.map(({ poolName, deviceName }) => `${poolName}/${deviceName}`));
    const affected = this.#kept
      .all()
      .filter(({ drivers }) => drivers.get(driver)?.some(({ poolName, deviceName }) => changed.has(`${poolName}/${deviceName}`)));
    return new Set(affected.flatMap(({ podUIDs }) => [...podUIDs]));
  }
}
