import type { PluginCall } from '../registration/plugin-registration.ts';

/** The services by which a driver of dynamic resource allocation gives claims to a node, as it names them at its registration. */
export type DraService = 'v1.DRAPlugin' | 'v1beta1.DRAPlugin';

/** What names a ResourceClaim to a driver. */
export interface DraClaim {
  /** The claim's namespace. */
  readonly namespace: string;
  /** The claim's uid. */
  readonly uid: string;
  /** The claim's name. */
  readonly name: string;
}

/** A device that a driver has made ready for a claim. */
export interface DraDevice {
  /** The pool that has the device. */
  readonly poolName: string;
  /** The device's name in its pool. */
  readonly deviceName: string;
  /** Which share of a device it is that several claims have. Absent: all of it. */
  readonly shareID?: string;
  /** The requests of the claim that it is for. Empty: all of them. */
  readonly requestNames: readonly string[];
  /** Its names of the Container Device Interface, which the container runtime gets. */
  readonly cdiDeviceIDs: readonly string[];
}

/** What a driver answers for one claim that it was to make ready. */
export interface PreparedClaim {
  /** The devices; they count only without an error. */
  readonly devices: readonly DraDevice[];
  /** Why the claim could not be made ready; empty where it was. */
  readonly error: string;
}

/** How a device is, as its driver says. */
export interface DraDeviceHealth {
  /** The pool that has the device. */
  readonly poolName: string;
  /** The device's name in its pool. */
  readonly deviceName: string;
  /** How the device is. */
  readonly health: 'Healthy' | 'Unhealthy' | 'Unknown';
  /** For how many seconds that counts; 0 or less: 30. */
  readonly timeoutSeconds: number;
  /** Why it is so, in words; empty: the driver does not say. */
  readonly message: string;
}

/** A driver of dynamic resource allocation on this node. Its calls reject with a `PluginCallError`, which has the driver's words. */
export interface DraDriver {
  /** Makes claims ready for this node: `NodePrepareResources`. Resolves with what the driver answers, by the uids that it names. */
  prepare(claims: readonly DraClaim[], call?: PluginCall): Promise<ReadonlyMap<string, PreparedClaim>>;
  /** Undoes that: `NodeUnprepareResources`. Resolves with what could not be undone and why, by the uids that the driver names; empty text: it was undone. */
  unprepare(claims: readonly DraClaim[], call?: PluginCall): Promise<ReadonlyMap<string, string>>;
  /** What the driver says of its devices, each time all that it says at once. Ends with the signal, and throws when it ends otherwise. */
  watchHealth(signal: AbortSignal): AsyncIterable<readonly DraDeviceHealth[]>;
  /** Calls `onChange` whenever the driver's socket begins or ceases to answer, first when it begins. */
  watchConnection(onChange: (isConnected: boolean) => void): void;
  /** Ends the connection. Calls under way reject as uncertain. */
  close(): void;
}

/** Speaks with drivers of dynamic resource allocation over their sockets, such as `GrpcPlugins` of `pod-status-manager/plugins`. */
export interface DraConnector {
  /** Opens the socket of a driver, which is spoken with by that service. Nothing is connected before the first call, or watch. */
  draDriver(socketPath: string, service: DraService): DraDriver;
}
