// Behaviour of pkg/volume/csi/csi_mounter.go for volumes that live with their pod, v1.36.3.

import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { goQuote } from '../../api/json/go-quote.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settledAtOnce, untilAborted } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { PluginCallError } from '../registration/plugin-registration.ts';
import type { DriverVolumeRequest, DriverVolumes } from '../volumes/driver-volumes.ts';
import { applyFsGroup } from '../volumes/fs-group.ts';
import { MountTurns } from '../volumes/mount-turns.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { driverVolumesFolder, type MountedVolume, podFolder } from '../volumes/pod-folder.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import { type ContextSources, type InlineSource, inlineContext, type WireCsiDriver } from './inline-context.ts';
import {
  attachmentID,
  inlineVolumeHandle,
  loadVolumeData,
  mountFolder,
  removeVolumeFolder,
  saveVolumeData,
  volumeFolders,
} from './volume-data.ts';

export interface CsiVolumesOptions extends ContextSources {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  /** As it was given. A driver knows its volumes' folders below this path, which its own pod mounts, and by no other. */
  readonly rootDirectory: string;
  readonly mounter: Mounter;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

interface Published {
  readonly driver: WireCsiDriver;
  /** By the clock's elapsed time. */
  publishedMs: number;
}

/** A volume is published anew at most so often, however often its pod is synced. */
const leastRepublishMs = 10_000;
const unmountsAtOnce = 8;

/** Volumes of storage drivers that live with their pod: `volumes[].csi`. */
export class CsiVolumes implements DriverVolumes {
  readonly #options: CsiVolumesOptions;
  readonly #csiDrivers: ResourceClient<WireCsiDriver>;
  readonly #mountTurns = new MountTurns();
  /** What this process has published, by the uid of the pod and the name of the volume. */
  readonly #published = new Map<string, Map<string, Published>>();
  /** Of which volumes this process has asked a driver first. */
  readonly #begun = new Map<string, Set<string>>();

  constructor(options: CsiVolumesOptions) {
    this.#options = options;
    this.#csiDrivers = new ResourceClient(options.transport, resources.csiDrivers);
  }

  async mount(request: DriverVolumeRequest): Promise<MountedVolume> {
    const { pod, volume, volumesFolder, signal } = request;
    const source: InlineSource = { driver: '', ...volume.csi };
    const folder = join(volumesFolder, driverVolumesFolder, volume.name);
    const published = this.#publishedOf(podUIDOf(pod));
    const known = published.get(volume.name);
    if (known === undefined) {
      const driver = await this.#publish(request, source, folder, false);
      signal.throwIfAborted();
      published.set(volume.name, { driver, publishedMs: this.#options.clock.elapsed() });
    } else if (known.driver.spec?.requiresRepublish === true) {
      await this.#republish(request, source, folder, known);
    }
    const readonly = source.readOnly === true;
    return { name: volume.name, type: 'csi', hostPath: mountFolder(folder), readonly, selinuxRelabel: !readonly };
  }

  async unmount(podUID: string, volumesFolder: string): Promise<void> {
    this.#published.delete(podUID);
    this.#begun.delete(podUID);
    const typeFolder = join(volumesFolder, driverVolumesFolder);
    const folders = await volumeFolders(typeFolder);
    const results = await settledAtOnce(folders, unmountsAtOnce, (folder) => this.#unpublish(podUID, folder));
    const failures = results.flatMap((result, index) =>
      result.status === 'fulfilled'
        ? []
        : [
            new Error(
              `UnmountVolume.TearDown failed for volume ${goQuote(basename(folders[index] ?? ''))} : ${errorText(result.reason)}`,
            ),
          ],
    );
    const [first] = failures;
    if (first !== undefined)
      throw failures.length === 1 ? first : new AggregateError(failures, failures.map(errorText).join('; '));
  }

  #publishedOf(podUID: string): Map<string, Published> {
    const found = this.#published.get(podUID) ?? new Map<string, Published>();
    this.#published.set(podUID, found);
    return found;
  }

  /**
   * Once the driver is asked, it settles only after the answer, also where the pod is to end: what the driver may have mounted is taken back after it.
   */
  async #publish(request: DriverVolumeRequest, source: InlineSource, folder: string, isAgain: boolean): Promise<WireCsiDriver> {
    const { pod, volume, fsGroup, signal } = request;
    const { nodeName, drivers } = this.#options;
    const onNode = registered(drivers, source.driver);
    const driver = await this.#driverObject(source.driver, signal);
    const volumeHandle = inlineVolumeHandle(podUIDOf(pod), volume.name);
    const capabilities = await capabilitiesOf(onNode, source.driver, signal);
    const context = await inlineContext(this.#options, request, source, driver);
    const appliesGroup = capabilities.has('VOLUME_MOUNT_GROUP');
    signal.throwIfAborted();
    await mkdir(folder, { recursive: true, mode: 0o750 });
    const isOwn = await this.#isOwn(podUIDOf(pod), volume.name, folder);
    await saveVolumeData(folder, {
      attachmentID: attachmentID(volumeHandle, source.driver, nodeName),
      driverName: source.driver,
      nodeName,
      specVolID: volume.name,
      volumeHandle,
      volumeLifecycleMode: 'Ephemeral',
    });
    try {
      await onNode.node.publishVolume({
        ...context,
        volumeID: volumeHandle,
        targetPath: this.#targetPath(podUIDOf(pod), volume.name),
        readonly: source.readOnly === true,
        accessMode: capabilities.has('SINGLE_NODE_MULTI_WRITER') ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER',
        ...(source.fsType && { fsType: source.fsType }),
        ...(appliesGroup && fsGroup !== undefined && { volumeMountGroup: String(fsGroup) }),
      });
    } catch (error) {
      // what an earlier process has published may be in use
      if (isOwn && !isAgain && error instanceof PluginCallError && error.isFinal) await this.#forget(folder).catch(ignoreFailure);
      throw driverError(source.driver, error);
    }
    if (!appliesGroup && isForGroup(driver, source)) {
      const refusal = await this.#giveToGroup(request, folder, !isOwn && !isAgain);
      if (refusal !== undefined && !isAgain) this.#tellOfRefusal(request, source, refusal);
    }
    return driver;
  }

  /** Resolves with the first error of a file that the driver's file system keeps as it is: it keeps no pod from its start. */
  async #giveToGroup(
    { pod, volume, fsGroup, signal }: DriverVolumeRequest,
    folder: string,
    unlessRootIsRight: boolean,
  ): Promise<unknown> {
    if (fsGroup === undefined) return undefined;
    const { mounter } = this.#options;
    const onRootMismatch = unlessRootIsRight || pod.spec?.securityContext?.fsGroupChangePolicy === 'OnRootMismatch';
    const driver = volume.csi?.driver ?? '';
    const inTurn = <T>(call: () => Promise<T>): Promise<T> => this.#mountTurns.run(driver, call, signal);
    const group = { mounter, folder: mountFolder(folder), gid: fsGroup, onRootMismatch, signal, inTurn };
    return applyFsGroup(group).catch((cause: unknown) => {
      signal.throwIfAborted();
      const volumeHandle = inlineVolumeHandle(podUIDOf(pod), volume.name);
      throw new Error(`applyFSGroup failed for vol ${volumeHandle}: ${errorText(cause)}`, { cause });
    });
  }

  #tellOfRefusal({ pod, volume }: DriverVolumeRequest, { driver }: InlineSource, err: unknown): void {
    const fields = { err, name: volume.name, driver, ...podFields(pod.metadata) };
    this.#options.logger.warn(
      fields,
      'the group of files in the volume of a storage driver could not be changed; the pod goes on with them as they are',
    );
  }

  /** False for a volume that an earlier process may have published. */
  async #isOwn(podUID: string, volumeName: string, folder: string): Promise<boolean> {
    const begun = this.#begun.get(podUID) ?? new Set<string>();
    if (begun.has(volumeName)) return true;
    const data = await loadVolumeData(folder).catch(ignoreFailure);
    if (data !== undefined || (await this.#options.mounter.mountsBelow(folder)).length > 0) return false;
    this.#begun.set(podUID, begun.add(volumeName));
    return true;
  }

  /** A volume that is in use stays as it is where it cannot be published anew. */
  async #republish(request: DriverVolumeRequest, source: InlineSource, folder: string, known: Published): Promise<void> {
    const { clock, eventRecorder, logger } = this.#options;
    if (clock.elapsed() - known.publishedMs < leastRepublishMs) return;
    known.publishedMs = clock.elapsed();
    try {
      await this.#publish(request, source, folder, true);
    } catch (err) {
      request.signal.throwIfAborted();
      const { pod, volume } = request;
      const message = `MountVolume.SetUp failed for volume ${goQuote(volume.name)} : ${errorText(err)}`;
      eventRecorder.event(pod, 'Warning', 'FailedMount', message);
      const fields = { err, name: volume.name, driver: source.driver, ...podFields(pod.metadata) };
      logger.warn(
        fields,
        'a volume could not be published anew; the pod goes on with it as it is, and the next sync tries again',
      );
    }
  }

  async #driverObject(name: string, signal: AbortSignal): Promise<WireCsiDriver> {
    let driver: WireCsiDriver;
    try {
      driver = await this.#csiDrivers.get({ name }, { signal });
    } catch (cause) {
      signal.throwIfAborted();
      const isGone = classifyApiError(cause) === 'gone';
      const why = isGone
        ? `volume mode "Ephemeral" not supported by driver ${name} (no CSIDriver object)`
        : `the CSIDriver ${name} could not be read: ${errorText(cause)}`;
      throw new Error(why, { cause });
    }
    const modes = driver.spec?.volumeLifecycleModes ?? [];
    if (modes.includes('Ephemeral')) return driver;
    const shown = modes.map((mode) => JSON.stringify(mode)).join(' ');
    throw new Error(`volume mode "Ephemeral" not supported by driver ${name} (only supports [${shown}])`);
  }

  /** The path by which the driver knows the folder that it mounts a volume at. */
  #targetPath(podUID: string, volumeName: string): string {
    const volumesFolder = join(podFolder(this.#options.rootDirectory, podUID), 'volumes');
    return mountFolder(join(volumesFolder, driverVolumesFolder, volumeName));
  }

  async #unpublish(podUID: string, folder: string): Promise<void> {
    const data = await loadVolumeData(folder);
    if (data !== undefined) {
      const { node } = registered(this.#options.drivers, data.driverName);
      await node.unpublishVolume(data.volumeHandle, this.#targetPath(podUID, basename(folder))).catch((error: unknown) => {
        // the driver has no such volume: what is not mounted is gone
        if (error instanceof PluginCallError && error.grpcCode === 'NotFound') return;
        throw driverError(data.driverName, error);
      });
    }
    await this.#forget(folder);
  }

  /** Removes the folder of a volume, unless something is mounted there. */
  async #forget(folder: string): Promise<void> {
    const mounts = await this.#options.mounter.mountsBelow(folder);
    if (mounts.length > 0) throw new Error(`${mounts[0]} is still mounted`);
    await removeVolumeFolder(folder);
  }
}

function registered(drivers: Pick<CsiDrivers, 'driver'>, name: string): CsiDriverOnNode {
  try {
    return drivers.driver(name);
  } catch (cause) {
    throw new Error(`kubernetes.io/csi: failed to get CSI client: ${errorText(cause)}`, { cause });
  }
}

/** Nothing follows from this question: nobody waits for its answer longer than for the pod. */
async function capabilitiesOf(driver: CsiDriverOnNode, name: string, signal: AbortSignal) {
  try {
    return await untilAborted(driver.capabilities(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw driverError(name, error);
  }
}

function driverError(name: string, cause: unknown): Error {
  return new Error(`the driver ${name} says: ${errorText(cause)}`, { cause });
}

/** Whether the group of the pod is given to the files by the agent. A volume of a pod is its alone. */
function isForGroup({ spec }: WireCsiDriver, { readOnly, fsType }: InlineSource): boolean {
  const policy = spec?.fsGroupPolicy;
  if (readOnly === true || policy === 'None') return false;
  return policy === 'File' || Boolean(fsType);
}
