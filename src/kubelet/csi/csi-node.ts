import type { PluginCall, PluginRegistration } from '../registration/plugin-registration.ts';

/** What a storage driver says of its node. */
export interface CsiNodeInfo {
  /** How the driver calls the node. */
  readonly nodeID: string;
  /** So many volumes of the driver can be attached to the node; 0: the driver does not say. */
  readonly maxVolumesPerNode: number;
  /** Where the node is, by the driver's keys. */
  readonly topology: Readonly<Record<string, string>>;
}

/** What the node service of a driver can do beside publishing volumes. */
export type CsiNodeCapability =
  | 'STAGE_UNSTAGE_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'EXPAND_VOLUME'
  | 'VOLUME_CONDITION'
  | 'SINGLE_NODE_MULTI_WRITER'
  | 'VOLUME_MOUNT_GROUP';

/** Who may use a volume at the same time, by the names of CSI. */
export type CsiAccessMode =
  | 'SINGLE_NODE_WRITER'
  | 'SINGLE_NODE_READER_ONLY'
  | 'MULTI_NODE_READER_ONLY'
  | 'MULTI_NODE_SINGLE_WRITER'
  | 'MULTI_NODE_MULTI_WRITER'
  | 'SINGLE_NODE_SINGLE_WRITER'
  | 'SINGLE_NODE_MULTI_WRITER';

/** How a volume is used. */
export interface CsiVolumeUse {
  /** Who may use it at the same time. */
  readonly accessMode: CsiAccessMode;
  /** True: as a block device. Default false: as a file system. */
  readonly block?: boolean;
  /** The type of the file system. Default: the driver's choice. */
  readonly fsType?: string;
  /** Options of the mount. */
  readonly mountFlags?: readonly string[];
  /** The group that owns the volume's files, where the driver has `VOLUME_MOUNT_GROUP`. */
  readonly volumeMountGroup?: string;
}

type Texts = Readonly<Record<string, string>>;

/** The key under which a driver is given the tokens of the pod's service account: JSON, by audience. */
export const serviceAccountTokensKey = 'csi.storage.k8s.io/serviceAccount.tokens';

/** A volume that is made ready once for the node, before pods use it. */
export interface StageVolumeRequest extends CsiVolumeUse {
  /** The volume's id, as the driver has it. */
  readonly volumeID: string;
  /** Where the driver is to make it ready. */
  readonly stagingTargetPath: string;
  /** What attaching the volume gave. */
  readonly publishContext?: Texts;
  /** What is told of the volume. Service account tokens in it are in no log and no error. */
  readonly volumeContext?: Texts;
  /** Credentials. They are in no log and no error. */
  readonly secrets?: Texts;
}

/** A volume that is made ready for one pod. */
export interface PublishVolumeRequest extends Omit<StageVolumeRequest, 'stagingTargetPath'> {
  /** Where it was made ready for the node; absent for a driver without that step. */
  readonly stagingTargetPath?: string;
  /** Where the pod is to have it. The driver makes the folder; the one that it is in is there. */
  readonly targetPath: string;
  /** True: nobody writes. */
  readonly readonly: boolean;
}

/** A volume that is to grow. */
export interface ExpandVolumeRequest extends CsiVolumeUse {
  /** The volume's id, as the driver has it. */
  readonly volumeID: string;
  /** Where it is. */
  readonly volumePath: string;
  /** Where it was made ready for the node. */
  readonly stagingTargetPath?: string;
  /** Its least size, in bytes. */
  readonly requiredBytes: number;
  /** Credentials. They are in no log and no error. */
  readonly secrets?: Texts;
}

/** How full a volume is, in one unit. */
export interface CsiVolumeUsage {
  /** What is measured. */
  readonly unit: 'BYTES' | 'INODES';
  /** What is left. */
  readonly available: number;
  /** What there is. */
  readonly total: number;
  /** What is used. */
  readonly used: number;
}

/**
 * A storage driver on this node: the identity and node services of CSI v1. Every call rejects with a {@link PluginCallError}, which has the
 * driver's words and none of the secrets.
 */
export interface CsiNode {
  /** What the driver is called, and in which version it runs. */
  getPluginInfo(call?: PluginCall): Promise<{ readonly name: string; readonly vendorVersion: string }>;
  /** Whether the driver is ready. */
  probe(call?: PluginCall): Promise<boolean>;
  /** What the driver says of this node. */
  getInfo(call?: PluginCall): Promise<CsiNodeInfo>;
  /** What the driver can do beside publishing volumes. */
  getCapabilities(call?: PluginCall): Promise<ReadonlySet<CsiNodeCapability>>;
  /** Makes a volume ready for the node. */
  stageVolume(request: StageVolumeRequest, call?: PluginCall): Promise<void>;
  /** Undoes that. */
  unstageVolume(volumeID: string, stagingTargetPath: string, call?: PluginCall): Promise<void>;
  /** Makes a volume ready for a pod. */
  publishVolume(request: PublishVolumeRequest, call?: PluginCall): Promise<void>;
  /** Undoes that. The driver removes the target. */
  unpublishVolume(volumeID: string, targetPath: string, call?: PluginCall): Promise<void>;
  /** Lets a volume grow, and resolves with its new size in bytes; 0 where the driver does not say. */
  expandVolume(request: ExpandVolumeRequest, call?: PluginCall): Promise<number>;
  /** How full a volume is. */
  getVolumeStats(volumeID: string, volumePath: string, call?: PluginCall): Promise<readonly CsiVolumeUsage[]>;
  /** Ends the connection. Calls under way reject as uncertain. */
  close(): void;
}

/** Speaks with the plugins of a node over their sockets, such as `GrpcPlugins` of `pod-status-manager/plugins`. */
export interface PluginConnector {
  /** Opens the registration socket of a plugin. Nothing is connected before the first call. */
  registration(socketPath: string): PluginRegistration;
  /** Opens the socket of a storage driver. Nothing is connected before the first call. */
  csiNode(socketPath: string): CsiNode;
}
