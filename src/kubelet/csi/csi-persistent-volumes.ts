// Behaviour of GenerateMountVolumeFunc in pkg/volume/util/operationexecutor for volumes of CSI drivers, v1.36.3.

import { basename } from 'node:path';
import { goQuote } from '../../api/json/go-quote.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest, PodVolumeFolders } from '../claims/persistent-volume-kind.ts';
import { VolumeStepError, volumeStepError } from '../volumes/driver-volumes.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { MountedVolume } from '../volumes/pod-folder.ts';
import { csiAccessMode } from './access-modes.ts';
import type { CsiAttachments, PublishContext } from './csi-attachments.ts';
import { type CsiDriverObjects, isAttachable, type WireCsiDriver } from './csi-driver-objects.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import type { CsiNodeCapability, CsiVolumeUse } from './csi-node.ts';
import type { CsiStaging } from './csi-staging.ts';
import { unmountFolders } from './csi-volumes.ts';
import { capabilitiesOf, registeredDriver } from './driver-calls.ts';
import type { NodeVolumes } from './node-volumes.ts';
import { type ContextSources, publishContext, type SecretPlace, secretTexts } from './publish-context.ts';
import type { PublishedVolumes, PublishOrder } from './published-volumes.ts';
import { attachmentID, ephemeralMode, type LoadedVolumeData, loadVolumeData, persistentMode } from './volume-data.ts';
import type { ExpandTarget, VolumeExpansion } from './volume-expansion.ts';
import { type CsiVolumeID, volumeOf } from './volume-ids.ts';

export interface CsiPersistentVolumesOptions {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  readonly driverObjects: CsiDriverObjects;
  readonly attachments: CsiAttachments;
  readonly nodeVolumes: NodeVolumes;
  readonly staging: CsiStaging;
  readonly published: PublishedVolumes;
  readonly expansion: VolumeExpansion;
  readonly tokens: ContextSources['tokens'];
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  readonly mounter: Pick<Mounter, 'mountsBelow'>;
}

type CsiSource = NonNullable<NonNullable<PersistentVolumeRequest['persistentVolume']['spec']>['csi']>;
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
  readonly takesBlock = false;
  readonly #options: CsiPersistentVolumesOptions;
  readonly #persistentVolumes: ResourceClient<PersistentVolumeRequest['persistentVolume']>;
  readonly #secrets: ContextSources['secrets'];
  /** What this process has made ready to its end, by the uid of the pod: the names of PersistentVolumes. */
  readonly #mounted = new Map<string, Set<string>>();

  constructor(options: CsiPersistentVolumesOptions) {
    this.#options = options;
    this.#persistentVolumes = new ResourceClient(options.transport, resources.persistentVolumes as never);
    // those of a PersistentVolume are named by no pod
    const secrets = new ResourceClient(options.transport, resources.secrets);
    this.#secrets = { getSecret: async (namespace, name) => secrets.get({ namespace, name }) };
  }

  async mount(request: PersistentVolumeRequest): Promise<MountedVolume> {
    const { pod, volume, persistentVolume, readOnly } = request;
    const { name } = persistentVolume.metadata;
    const podUID = podUIDOf(pod);
    const source = sourceOf(request);
    const id = volumeOf(source);
    const mounted = this.#mounted.get(podUID) ?? new Set<string>();
    this.#mounted.set(podUID, mounted);
    const isMounted = mounted.has(name);
    const hostPath = isMounted ? await this.#keep(request, source, id) : await this.#make(request, source, id);
    request.signal.throwIfAborted();
    mounted.add(name);
    return { name: volume.name, type: 'persistentVolumeClaim', hostPath, readonly: readOnly, selinuxRelabel: !readOnly };
  }

  /** Has the drivers take back what the pod has of them. What no pod has any more leaves the node beside that. */
  async unmount(podUID: string, { volumesFolder }: PodVolumeFolders): Promise<void> {
    const { published, nodeVolumes } = this.#options;
    published.forget(podUID);
    this.#mounted.delete(podUID);
    try {
      await unmountFolders(volumesFolder, async (folder) => {
        const data = await this.#dataOf(folder);
        if (data === undefined || data.volumeLifecycleMode === ephemeralMode) return;
        await published.unpublish(podUID, folder, data);
        nodeVolumes.wake();
      });
    } finally {
      // what is still there of the pod is on disk
      nodeVolumes.end(podUID);
    }
  }

  /** Makes the volume ready for the node, and then for the pod. */
  async #make(request: PersistentVolumeRequest, source: CsiSource, id: CsiVolumeID): Promise<string> {
    const { pod, persistentVolume, signal } = request;
    const { name } = persistentVolume.metadata;
    const { driverObjects, nodeVolumes, published, expansion } = this.#options;
    const driver = await driverObjects.requireMode(id.driverName, persistentMode, signal);
    nodeVolumes.begin(podUIDOf(pod), id, isAttachable(driver));
    const context = await this.#attached(request, id, driver);
    // a driver may take minutes: nothing else is done with the volume meanwhile
    return nodeVolumes.inTurn(
      id,
      async () => {
        const prepared = await this.#prepare({ request, source, id, driver, context }).catch(inStep(request, 'MountDevice'));
        await this.#stage(prepared).catch(inStep(request, 'MountDevice'));
        const hostPath = await published.ensure(request, { name, mode: persistentMode }, () => this.#order(prepared));
        await expansion
          .whileMounting(request, id, async () => this.#targetOf(prepared))
          .catch((cause: unknown) => {
            const words = `MountVolume.Setup failed while expanding volume for volume ${goQuote(name)} : ${errorText(cause)}`;
            throw new VolumeStepError('FailedMount', words, { cause });
          });
        return hostPath;
      },
      signal,
    );
  }

  /** Sees to a volume that the pod has: its driver may want to be asked again, and it may have grown. */
  async #keep(request: PersistentVolumeRequest, source: CsiSource, id: CsiVolumeID): Promise<string> {
    const { driverObjects, attachments, nodeVolumes, published, expansion } = this.#options;
    const { signal } = request;
    const { name } = request.persistentVolume.metadata;
    const prepare = async (): Promise<Prepared> => {
      const driver = await driverObjects.requireMode(id.driverName, persistentMode, signal);
      const context = isAttachable(driver) ? await attachments.read(id, signal) : {};
      return this.#prepare({ request, source, id, driver, context });
    };
    const hostPath = await published.ensure(request, { name, mode: persistentMode }, async () => this.#order(await prepare()));
    const expand = () => expansion.whileMounted(request, id, async () => this.#targetOf(await prepare()));
    if (expansion.isDue(request, id)) await nodeVolumes.inTurn(id, expand, signal);
    return hostPath;
  }

  async #attached(request: PersistentVolumeRequest, id: CsiVolumeID, driver: WireCsiDriver): Promise<PublishContext> {
    if (!isAttachable(driver)) return {};
    return this.#options.attachments.attached(id, request.pod, request.signal).catch(inStep(request, 'WaitForAttach'));
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
    const { nodeName, staging, tokens } = this.#options;
    const secrets = await this.#secretOf(request, source.nodePublishSecretRef, 'fetching NodePublishSecretRef');
    const told = await publishContext(
      tokens,
      request,
      { attributes: source.volumeAttributes, secrets, isEphemeral: false },
      driver,
    );
    const { driverName, volumeHandle } = id;
    return {
      onNode,
      data: {
        attachmentID: attachmentID(volumeHandle, driverName, nodeName),
        ...{ driverName, nodeName, volumeHandle, volumeLifecycleMode: persistentMode },
        specVolID: request.persistentVolume.metadata.name,
      },
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
    const { staging, published } = this.#options;
    const { pod, persistentVolume } = request;
    return {
      id,
      canExpand: capabilities.has('EXPAND_VOLUME'),
      expand: async ({ requiredBytes }) => {
        const secrets = await this.#secretOf(
          request,
          source.nodeExpandSecretRef,
          'expander.NodeExpand failed to get NodeExpandSecretRef',
        );
        // the group is for those that publish
        const { volumeMountGroup: _, ...use } = useOf(prepared);
        await onNode.node.expandVolume({
          ...use,
          ...{ volumeID: id.volumeHandle, requiredBytes, secrets },
          volumePath: published.targetPath(podUIDOf(pod), persistentVolume.metadata.name),
          stagingTargetPath: staging.pathOf(id),
        });
      },
    };
  }

  #secretOf({ signal }: PersistentVolumeRequest, reference: SecretReference, purpose: string): Promise<Record<string, string>> {
    const { namespace, name } = reference ?? {};
    const place: SecretPlace | undefined = reference == null ? undefined : { namespace: namespace ?? '', name: name ?? '' };
    return secretTexts(this.#secrets, place, purpose, signal);
  }

  /** What is kept of the volume; where that is damaged, what its PersistentVolume says. */
  async #dataOf(folder: string): Promise<LoadedVolumeData | undefined> {
    try {
      const data = await loadVolumeData(folder);
      if (data !== undefined || (await this.#options.mounter.mountsBelow(folder)).length === 0) return data;
    } catch (error) {
      return (await this.#named(folder)) ?? Promise.reject(error);
    }
    return this.#named(folder);
  }

  async #named(folder: string): Promise<LoadedVolumeData | undefined> {
    const found = await this.#persistentVolumes.get({ name: basename(folder) }).catch(ignoreFailure);
    const source = found?.spec?.csi;
    return source == null ? undefined : { ...volumeOf(source), volumeLifecycleMode: persistentMode };
  }
}

function sourceOf({ persistentVolume }: PersistentVolumeRequest): CsiSource {
  const source = persistentVolume.spec?.csi;
  if (source == null) throw new Error('the PersistentVolume is of no CSI driver');
  return source;
}

function useOf({ request, source, capabilities }: Prepared): CsiVolumeUse {
  const { persistentVolume, mountOptions, fsGroup } = request;
  return {
    accessMode: csiAccessMode(persistentVolume.spec?.accessModes, capabilities),
    mountFlags: mountOptions,
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
function inStep({ persistentVolume, signal }: PersistentVolumeRequest, step: string): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted();
    throw volumeStepError('FailedMount', `MountVolume.${step}`, persistentVolume.metadata.name, error);
  };
}
