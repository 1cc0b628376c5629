import type { PluginCall } from '../registration/plugin-registration.ts';

/** A device as its plugin lists it. */
export interface PluginDevice {
  /** Its id, one among the devices of its resource. */
  readonly id: string;
  /** `Healthy`; anything else: the device is not given to pods. */
  readonly health: string;
  /** The NUMA nodes that it is near to. Empty: the plugin does not say. */
  readonly numaNodes: readonly number[];
}

/** What a device plugin wants to be asked. */
export interface DevicePluginOptions {
  /** True: it is asked before each start of a container that has its devices. */
  readonly preStartRequired: boolean;
  /** True: it is asked which devices it prefers to give. */
  readonly preferredAllocationAvailable: boolean;
}

/** A file or folder of the node that a container with a device sees. */
export interface DeviceMount {
  /** The path inside the container. */
  readonly containerPath: string;
  /** The path on the node. */
  readonly hostPath: string;
  /** True: the container cannot write. */
  readonly readOnly: boolean;
}

/** A device file of the node that a container with a device may use. */
export interface DeviceNode {
  /** The path inside the container. */
  readonly containerPath: string;
  /** The path on the node. */
  readonly hostPath: string;
  /** What is allowed: `r`, `w`, `m` in any combination. */
  readonly permissions: string;
}

/** What a container needs in order to use the devices that it has been given, as their plugin says. */
export interface DeviceAllocation {
  /** Environment variables, by name. */
  readonly envs: Readonly<Record<string, string>>;
  /** Files and folders of the node. */
  readonly mounts: readonly DeviceMount[];
  /** Device files of the node. */
  readonly devices: readonly DeviceNode[];
  /** Annotations of the container, for its runtime. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Names of the Container Device Interface. */
  readonly cdiDevices: readonly string[];
}

/** Which devices a plugin is asked for its preference among. */
export interface PreferredAllocationRequest {
  /** The ids of those that could be given. */
  readonly available: readonly string[];
  /** The ids of those that will be given in any case. */
  readonly mustInclude: readonly string[];
  /** How many are given, those of `mustInclude` among them. */
  readonly size: number;
}

/** A device plugin on this node (`v1beta1`). Every call rejects with a {@link PluginCallError}, which has the plugin's words. */
export interface DevicePlugin {
  /** What the plugin wants to be asked. */
  getOptions(call?: PluginCall): Promise<DevicePluginOptions>;
  /**
   * All its devices, again whenever something of them has changed. Ends when the signal aborts, and throws whenever else the plugin
   * has ended the list.
   */
  listAndWatch(signal: AbortSignal): AsyncGenerator<readonly PluginDevice[], void>;
  /** The ids of the devices that the plugin prefers to give. */
  getPreferredAllocation(request: PreferredAllocationRequest, call?: PluginCall): Promise<readonly string[]>;
  /** Gives these devices to one container; undefined where the plugin's answer is for no container. */
  allocate(deviceIDs: readonly string[], call?: PluginCall): Promise<DeviceAllocation | undefined>;
  /** A container that has these devices is about to start. */
  preStartContainer(deviceIDs: readonly string[], call?: PluginCall): Promise<void>;
  /** Ends the connection. Calls under way reject. */
  close(): void;
}

/** What a device plugin says of itself to the socket that plugins register at. */
export interface DevicePluginRegistration {
  /** The version of the API that it speaks: `v1beta1`. */
  readonly version: string;
  /** The name of its socket, in the folder of the socket that it registers at. */
  readonly endpoint: string;
  /** The resource whose devices it has, such as `example.com/gpu`. */
  readonly resourceName: string;
}

/** Something that is served on a socket of the node. */
export interface ServedSocket {
  /** Ends it; its socket is removed. Resolves when no call is under way. */
  close(): Promise<void>;
}

/** A device, as the API for the resources of pods shows it. One that is near to several NUMA nodes is there once for each. */
export interface ListedDevice {
  /** Its resource, such as `example.com/gpu`. */
  readonly resourceName: string;
  /** Its id. */
  readonly deviceID: string;
  /** The NUMA node that it is near to. Absent: its plugin does not say. */
  readonly numaNode?: number;
}

/** A device that a container has by a claim, as its driver says. */
export interface ClaimedDevice {
  /** The driver of dynamic resource allocation that has made it ready. */
  readonly driverName: string;
  /** The pool that has the device. */
  readonly poolName: string;
  /** The device's name in its pool. */
  readonly deviceName: string;
  /** Which share of the device it is. Absent: all of it. */
  readonly shareID?: string;
  /** Its names of the Container Device Interface. */
  readonly cdiDeviceIDs: readonly string[];
}

/** A ResourceClaim that a container uses, as the API for the resources of pods shows it. */
export interface ContainerClaim {
  /** The claim's namespace. */
  readonly namespace: string;
  /** The claim's name. */
  readonly name: string;
  /** All its devices, also those of requests that the container does not name. None: its drivers have not made it ready yet. */
  readonly devices: readonly ClaimedDevice[];
}

/** What a container has of the node. */
export interface ContainerResources {
  /** The container's name. */
  readonly name: string;
  /** Its devices of plugins. */
  readonly devices: readonly ListedDevice[];
  /** Its claims. */
  readonly claims: readonly ContainerClaim[];
}

/** What the containers of a pod have of the node: init containers that run on, and all others. */
export interface PodResources {
  /** The pod's name. */
  readonly name: string;
  /** Its namespace. */
  readonly namespace: string;
  /** Its containers. */
  readonly containers: readonly ContainerResources[];
}

/** What the API for the resources of pods is asked. */
export interface PodResourcesLister {
  /** The pods that are not over. */
  list(): readonly PodResources[];
  /** All pods, as the version `v1alpha1` has them. */
  listAlpha(): readonly PodResources[];
  /** One pod; undefined where there is none of that name. */
  get(namespace: string, name: string): PodResources | undefined;
  /** The devices that could be given, also those that pods have. */
  allocatable(): readonly ListedDevice[];
}

/** Speaks with device plugins, such as `GrpcPlugins` of `pod-status-manager/plugins`. */
export interface DevicePluginConnector {
  /** Opens the socket of a device plugin. Nothing is connected before the first call. */
  devicePlugin(socketPath: string): DevicePlugin;
  /** Serves the socket that device plugins register at. What `register` throws is told to the plugin. The path must be free. */
  serveDeviceRegistration(
    socketPath: string,
    register: (plugin: DevicePluginRegistration) => Promise<void>,
  ): Promise<ServedSocket>;
  /** Serves the API for the resources of pods (`v1`, `v1alpha1`), 100 calls a second after a burst of 10. The path must be free. */
  servePodResources(socketPath: string, lister: PodResourcesLister): Promise<ServedSocket>;
  /** The bytes of an allocation in the plugins' own protocol: the kubelet keeps these in a file. */
  allocationBytes(allocation: DeviceAllocation): Uint8Array;
  /** Reads such bytes. Throws where they are none. */
  readAllocation(bytes: Uint8Array): DeviceAllocation;
}
