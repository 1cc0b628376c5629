// Behaviour of GenerateMountVolumeFunc in pkg/volume/util/operationexecutor for volumes of CSI drivers, v1.36.3.

import { basename, join } from 'node:path';
import { goQuote } from '../../api/json/go-quote.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { errorText, rejectionsOf, throwAll } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { pathsIn } from '../claims/claim-folders.ts';
import { removeDeviceLink } from '../claims/device-map.ts';
import type {
  PersistentVolumeKind,
  PersistentVolumeRequest,
  PodVolumeFolders,
  VolumeUsage,
} from '../claims/persistent-volume-kind.ts';
import { VolumeStepError, volumeStepError } from '../volumes/driver-volumes.ts';
import { driverVolumesFolder, type MountedVolume } from '../volumes/pod-folder.ts';
import { csiAccessMode } from './access-modes.ts';
import type { BlockDevices, DeviceOrder } from './block-devices.ts';
import { type CsiAttachments, NotAttached, type PublishContext } from './csi-attachments.ts';
import { type CsiDriverObjects, isAttachable, type WireCsiDriver } from './csi-driver-objects.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import type { CsiNodeCapability, CsiVolumeUse } from './csi-node.ts';
import type { CsiStaging } from './csi-staging.ts';
import { unmountFolders } from './csi-volumes.ts';
import { capabilitiesOf, registeredDriver } from './driver-calls.ts';
import type { MountedExpansions } from './mounted-expansions.ts';
import type { NodeVolumes } from './node-volumes.ts';
import { type ContextSources, podInfo, publishContext, type SecretPlace, secretTexts } from './publish-context.ts';
import type { PublishedVolumes, PublishOrder } from './published-volumes.ts';
import { attachmentID, ephemeralMode, loadVolumeData, persistentMode, type VolumeData } from './volume-data.ts';
import type { ExpandTarget, VolumeExpansion } from './volume-expansion.ts';
import { type CsiVolumeID, volumeOf } from './volume-ids.ts';
import { measureVolume } from './volume-stats.ts';

export interface CsiPersistentVolumesOptions {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  readonly driverObjects: CsiDriverObjects;
  readonly attachments: CsiAttachments;
  readonly nodeVolumes: NodeVolumes;
  readonly staging: CsiStaging;
  readonly published: PublishedVolumes;
  readonly expansion: VolumeExpansion;
  readonly mountedExpansions: MountedExpansions;
  readonly devices: BlockDevices;
  readonly tokens: ContextSources['tokens'];
  readonly transport: ResourceTransport;
  readonly nodeName: string;
}

type CsiSource = NonNullable<NonNullable<PersistentVolumeRequest['persistentVolume']['spec']>['csi']>;
type MeasuredParts = Parameters<NonNullable<PersistentVolumeKind['measure']>>[0];
type SecretReference = CsiSource['nodeStageSecretRef'];

/** One volume of a pod, with what the cluster and its driver say of it. */
interface Prepared {
  readonly request: PersistentVolumeRequest;
  readonly source: CsiSource;
  readonly id: CsiVolumeID;
  readonly driver: WireCsiDriver;
  readonly onNode: CsiDriverOnNode;
  readonly capabilities: ReadonlySet<CsiNodeCapability>;
  readonly context: PublishContext;
}

/** PersistentVolumes of storage drivers: `spec.csi`. */
export class CsiPersistentVolumes implements PersistentVolumeKind {
  readonly takesMountOptions = true;
  readonly takesBlock = true;
  readonly #options: CsiPersistentVolumesOptions;
  readonly #secrets: ContextSources['secrets'];
  /** What this process has made ready to its end, by the uid of the pod and the name of the PersistentVolume. */
  readonly #mounted = new Map<string, Map<string, MountedVolume>>();
  /** By which paths their drivers know them. */
  readonly #paths = new WeakMap<MountedVolume, string>();

  constructor(options: CsiPersistentVolumesOptions) {
    this.#options = options;
    // those of a PersistentVolume are named by no pod
    const secrets = new ResourceClient(options.transport, resources.secrets);
    this.#secrets = { getSecret: async (namespace, name) => secrets.get({ namespace, name }) };
  }

  async mount(request: PersistentVolumeRequest): Promise<MountedVolume> {
    const { pod, persistentVolume } = request;
    const { name } = persistentVolume.metadata;
    const podUID = podUIDOf(pod);
    const source = sourceOf(request);
    const id = volumeOf(source);
    const known = this.#mounted.get(podUID)?.get(name);
    if (known !== undefined) {
      await this.#keep(request, source, id);
      return known;
    }
    const mounted = mountedVolume(request, await this.#make(request, source, id));
    request.signal.throwIfAborted();
    const { published, devices } = this.#options;
    this.#paths.set(mounted, request.isBlock ? devices.shownPath(name, podUID) : published.targetPath(podUID, name));
    this.#mounted.set(podUID, (this.#mounted.get(podUID) ?? new Map()).set(name, mounted));
    return mounted;
  }

  /** How full the volume is, as its driver says. */
  async measure({ persistentVolume, mounted }: MeasuredParts): Promise<VolumeUsage | undefined> {
    const source = persistentVolume.spec?.csi;
    const path = this.#paths.get(mounted);
    return source == null || path === undefined ? undefined : measureVolume(this.#options.drivers, volumeOf(source), path);
  }

  /** Has the drivers take back what the pod has of them. What no pod has any more leaves the node beside that. */
  async unmount(podUID: string, { volumesFolder, devicesFolder }: PodVolumeFolders): Promise<void> {
    const { published, nodeVolumes, mountedExpansions } = this.#options;
    published.forget(podUID);
    this.#mounted.delete(podUID);
    await mountedExpansions.end(podUID);
    const results = await Promise.allSettled([
      unmountFolders(volumesFolder, (folder) => this.#unmountFiles(podUID, folder)),
      unmountFolders(devicesFolder, (link) => this.#unmapDevice(podUID, link)),
    ]);
    // what is still there of the pod is on disk
    nodeVolumes.end(podUID);
    throwAll(rejectionsOf(results));
  }

  /** The folders of volumes that stand in the pod's spec are beside them, by names of the pod's own. */
  async volumesOnDisk({ volumesFolder, devicesFolder }: PodVolumeFolders): Promise<readonly string[]> {
    const folders = await pathsIn(join(volumesFolder, driverVolumesFolder));
    const modes = await Promise.all(folders.map((folder) => loadVolumeData(folder).catch(ignoreFailure)));
    const claimed = folders.filter((_, index) => modes[index]?.volumeLifecycleMode !== ephemeralMode);
    return [...claimed, ...(await pathsIn(join(devicesFolder, driverVolumesFolder)))].map((path) => basename(path));
  }

  async #unmountFiles(podUID: string, folder: string): Promise<void> {
    const data = await this.#options.published.dataOf(folder);
    if (data === undefined || data.volumeLifecycleMode === ephemeralMode) return;
    await this.#options.published.unpublish(podUID, folder, data);
    this.#options.nodeVolumes.wake();
  }

  async #unmapDevice(podUID: string, link: string): Promise<void> {
    const { devices, nodeVolumes } = this.#options;
    const name = basename(link);
    // one that was not whole when the process ended
    if (name.startsWith('..')) return removeDeviceLink(link);
    const volume = await devices.dataOf(name);
    if (volume === undefined) throw new Error(`nobody can say by which driver the device ${name} is`);
    await devices.unpublish(name, podUID, link, volume);
    nodeVolumes.wake();
  }

  /** Makes the volume ready for the node, and then for the pod. */
  async #make(request: PersistentVolumeRequest, source: CsiSource, id: CsiVolumeID): Promise<string> {
    const { pod, persistentVolume, signal } = request;
    const { name } = persistentVolume.metadata;
    const { driverObjects, nodeVolumes, expansion } = this.#options;
    const driver = await driverObjects.requireMode(id.driverName, persistentMode, signal);
    nodeVolumes.begin(podUIDOf(pod), id, isAttachable(driver));
    const context = await this.#attached(request, id, driver);
    // a driver may take minutes: nothing else is done with the volume meanwhile
    return nodeVolumes.inTurn(
      id,
      async () => {
        const step = request.isBlock ? 'MapVolume.SetUpDevice' : 'MountVolume.MountDevice';
        const prepared = await this.#prepare({ request, source, id, driver, context }).catch(inStep(request, step));
        const hostPath = await (request.isBlock ? this.#makeDevice(prepared) : this.#makeFiles(prepared));
        await expansion
          .whileMounting(request, id, async () => this.#targetOf(prepared))
          .catch((cause: unknown) => {
            const failed = request.isBlock ? 'MapVolume.MarkVolumeAsMounted failed' : 'MountVolume.Setup failed';
            const words = `${failed} while expanding volume for volume ${goQuote(name)} : ${errorText(cause)}`;
            throw new VolumeStepError(request.isBlock ? 'FailedMapVolume' : 'FailedMount', words, { cause });
          });
        return hostPath;
      },
      signal,
    );
  }

  async #makeFiles(prepared: Prepared): Promise<string> {
    const { request } = prepared;
    await this.#stage(prepared).catch(inStep(request, 'MountVolume.MountDevice'));
    const pod = { name: request.persistentVolume.metadata.name, mode: persistentMode };
    return this.#options.published.ensure(request, pod, () => this.#order(prepared));
  }

  /** Resolves with the path that containers get the device by. */
  async #makeDevice(prepared: Prepared): Promise<string> {
    const { request, source, id, driver, onNode, capabilities, context: publishContext } = prepared;
    const { pod, persistentVolume, devicesFolder, readOnly } = request;
    const { devices } = this.#options;
    const { name } = persistentVolume.metadata;
    const { accessMode } = useOf(prepared);
    const common = { accessMode, publishContext };
    const told = driver.spec?.podInfoOnMount === true ? podInfo(pod, false) : {};
    const secrets = await this.#secretOf(request, source.nodePublishSecretRef, 'failed to get NodePublishSecretRef');
    const stageSecrets = await this.#secretOf(request, source.nodeStageSecretRef, 'failed to get NodeStageSecretRef');
    request.signal.throwIfAborted();
    const order: DeviceOrder = {
      ...{ onNode, data: this.#dataFor(name, id), podUID: podUIDOf(pod) },
      podLink: join(devicesFolder, driverVolumesFolder, name),
      stage: capabilities.has('STAGE_UNSTAGE_VOLUME')
        ? { ...common, volumeContext: { ...source.volumeAttributes }, secrets: stageSecrets }
        : undefined,
      publish: { ...common, volumeContext: { ...source.volumeAttributes, ...told }, secrets, readonly: readOnly },
    };
    await devices.stage(order).catch(inStep(request, 'MapVolume.SetUpDevice'));
    await devices.publish(order);
    return order.podLink;
  }

  #dataFor(name: string, { driverName, volumeHandle }: CsiVolumeID): VolumeData {
    const { nodeName } = this.#options;
    return {
      attachmentID: attachmentID(volumeHandle, driverName, nodeName),
      ...{ driverName, nodeName, specVolID: name, volumeHandle, volumeLifecycleMode: persistentMode },
    };
  }

  /** Sees to a volume that the pod has: its driver may want to be asked again, and it may have grown. */
  async #keep(request: PersistentVolumeRequest, source: CsiSource, id: CsiVolumeID): Promise<void> {
    const { nodeVolumes, published, expansion, mountedExpansions } = this.#options;
    const { name } = request.persistentVolume.metadata;
    const order = async (): Promise<PublishOrder> => this.#order(await this.#prepareAgain(request, source, id));
    if (!request.isBlock) await published.ensure(request, { name, mode: persistentMode }, order);
    mountedExpansions.begin(request, id, (growing) => {
      const target = async (): Promise<ExpandTarget> => this.#targetOf(await this.#prepareAgain(growing, source, id));
      return nodeVolumes.inTurn(id, () => expansion.whileMounted(growing, id, target), growing.signal);
    });
  }

  /** The same for a volume that the pod has: its attachment is there, or it is not. */
  async #prepareAgain(request: PersistentVolumeRequest, source: CsiSource, id: CsiVolumeID): Promise<Prepared> {
    const { driverObjects, attachments } = this.#options;
    const driver = await driverObjects.requireMode(id.driverName, persistentMode, request.signal);
    const context = isAttachable(driver) ? await attachments.read(id, request.signal) : {};
    return this.#prepare({ request, source, id, driver, context });
  }

  async #attached(request: PersistentVolumeRequest, id: CsiVolumeID, driver: WireCsiDriver): Promise<PublishContext> {
    if (!isAttachable(driver)) return {};
    return this.#options.attachments.attached(id, request.pod, request.signal).catch((error: unknown) => {
      // the controller's part is no step of a mount
      if (error instanceof NotAttached) throw notAttached(request, error);
      return inStep(request, `${request.isBlock ? 'MapVolume' : 'MountVolume'}.WaitForAttach`)(error);
    });
  }

  async #prepare(facts: Omit<Prepared, 'onNode' | 'capabilities'>): Promise<Prepared> {
    const { driverName } = facts.id;
    const onNode = registeredDriver(this.#options.drivers, driverName);
    return { ...facts, onNode, capabilities: await capabilitiesOf(onNode, driverName, facts.request.signal) };
  }

  async #stage(prepared: Prepared): Promise<void> {
    const { request, source, id, onNode, capabilities, context: publishContext } = prepared;
    if (!capabilities.has('STAGE_UNSTAGE_VOLUME')) return;
    const secrets = await this.#secretOf(request, source.nodeStageSecretRef, 'fetching NodeStageSecretRef');
    request.signal.throwIfAborted();
    const volumeContext = { ...source.volumeAttributes };
    await this.#options.staging.stage(id, onNode, { ...useOf(prepared), publishContext, volumeContext, secrets });
  }

  async #order(prepared: Prepared): Promise<PublishOrder> {
    const { request, source, id, driver, onNode, capabilities, context } = prepared;
    const { staging, tokens } = this.#options;
    const secrets = await this.#secretOf(request, source.nodePublishSecretRef, 'fetching NodePublishSecretRef');
    const told = await publishContext(
      tokens,
      request,
      { attributes: source.volumeAttributes, secrets, isEphemeral: false },
      driver,
    );
    return {
      onNode,
      data: this.#dataFor(request.persistentVolume.metadata.name, id),
      call: {
        ...useOf(prepared),
        ...told,
        publishContext: context,
        readonly: request.readOnly,
        ...(capabilities.has('STAGE_UNSTAGE_VOLUME') && { stagingTargetPath: staging.pathOf(id) }),
      },
      isForGroup: !capabilities.has('VOLUME_MOUNT_GROUP') && isForGroup(prepared),
      requiresRepublish: driver.spec?.requiresRepublish === true,
    };
  }

  #targetOf(prepared: Prepared): ExpandTarget {
    const { request, source, id, onNode, capabilities } = prepared;
    const { staging, published, devices } = this.#options;
    const { pod, persistentVolume, isBlock } = request;
    const { name } = persistentVolume.metadata;
    const podUID = podUIDOf(pod);
    const paths = isBlock
      ? { volumePath: devices.publishPath(name, podUID), stagingTargetPath: devices.stagingPath(name), block: true }
      : { volumePath: published.targetPath(podUID, name), stagingTargetPath: staging.pathOf(id) };
    return {
      id,
      canExpand: capabilities.has('EXPAND_VOLUME'),
      expand: async ({ requiredBytes }) => {
        const secrets = await this.#secretOf(
          request,
          source.nodeExpandSecretRef,
          'expander.NodeExpand failed to get NodeExpandSecretRef',
        );
        request.signal.throwIfAborted();
        // the group is for those that publish
        const { volumeMountGroup: _, ...use } = useOf(prepared);
        await onNode.node.expandVolume({ ...use, ...paths, volumeID: id.volumeHandle, requiredBytes, secrets });
      },
    };
  }

  #secretOf({ signal }: PersistentVolumeRequest, reference: SecretReference, purpose: string): Promise<Record<string, string>> {
    const { namespace, name } = reference ?? {};
    const place: SecretPlace | undefined = reference == null ? undefined : { namespace: namespace ?? '', name: name ?? '' };
    return secretTexts(this.#secrets, place, purpose, signal);
  }
}

function mountedVolume({ volume, readOnly, isBlock }: PersistentVolumeRequest, path: string): MountedVolume {
  const common = { name: volume.name, type: 'persistentVolumeClaim', readonly: readOnly };
  if (isBlock) return { ...common, hostPath: '', devicePath: path, selinuxRelabel: false };
  return { ...common, hostPath: path, selinuxRelabel: !readOnly };
}

function sourceOf({ persistentVolume }: PersistentVolumeRequest): CsiSource {
  const source = persistentVolume.spec?.csi;
  if (source == null) throw new Error('the PersistentVolume is of no CSI driver');
  return source;
}

function useOf({ request, source, capabilities }: Prepared): CsiVolumeUse {
  const { persistentVolume, fsGroup } = request;
  return {
    accessMode: csiAccessMode(persistentVolume.spec?.accessModes, capabilities),
    // as they are: those of the older annotation are for other kinds
    mountFlags: persistentVolume.spec?.mountOptions ?? [],
    ...(source.fsType && { fsType: source.fsType }),
    ...(capabilities.has('VOLUME_MOUNT_GROUP') && fsGroup !== undefined && { volumeMountGroup: String(fsGroup) }),
  };
}

/** Whether the group of the pod is given to the files by the agent. */
function isForGroup({ request, source, driver }: Prepared): boolean {
  const policy = driver.spec?.fsGroupPolicy;
  if (request.readOnly || policy === 'None') return false;
  if (policy === 'File') return true;
  const modes = request.persistentVolume.spec?.accessModes ?? [];
  return Boolean(source.fsType) && modes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
}

/** A step of the kubelet's that has failed. */
function inStep({ persistentVolume, isBlock, signal }: PersistentVolumeRequest, step: string): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted();
    throw volumeStepError(isBlock ? 'FailedMapVolume' : 'FailedMount', step, persistentVolume.metadata.name, error);
  };
}

function notAttached({ persistentVolume }: PersistentVolumeRequest, cause: NotAttached): VolumeStepError {
  const { step, message } = cause;
  const words = `${step} for volume ${goQuote(persistentVolume.metadata.name)}`;
  return new VolumeStepError('FailedMount', `${words} ${message === step ? '' : `: ${message}`}`, { cause });
}
