import type { WirePod } from '../../../../src/api/json/types.ts';
import type { Clock } from '../../../../src/base/clock.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { ObjectKind } from './object-truth.ts';

/** A watch that the server holds open for the agent. */
export interface OpenWatch {
  readonly resource: string;
  /** The one object that it is for; undefined for a wider one. */
  readonly name: string | undefined;
}

/** The server past all faults: the way of the other hands, and of the checks. Each call is tried until it is answered. */
export interface ServerSide {
  list(resource: ObjectKind): Promise<readonly ApiObject[]>;
  /** Creates the object, or replaces the one that is there. */
  write(resource: ObjectKind, object: ApiObject): Promise<void>;
  delete(resource: ObjectKind, name: string): Promise<void>;
  pods(): Promise<readonly WirePod[]>;
  /** Undefined where the name is taken. */
  createPod(pod: WirePod): Promise<WirePod | undefined>;
  /** False where no pod has this uid. */
  deletePod(name: string, options: { readonly uid: string; readonly force: boolean }): Promise<boolean>;
}

/** The server, the network and the time of one run. All times in its own milliseconds: virtual ones, or hasty ones. */
export interface PartsWorld {
  readonly clock: Clock;
  /** The clock of the agent: its wall time may jump. */
  readonly agentClock: Clock;
  readonly namespace: string;
  readonly nodeName: string;
  readonly server: ServerSide;
  readonly transport: ResourceTransport;
  /** Reads from a server's cache may be older than what was read before. */
  readonly cachesLag: boolean;
  openWatches(): readonly OpenWatch[];
  /** A watch that the agent has closed is open no more when the server is looked at so often, each time half a second later. */
  readonly noticedWithinLooks: number;
  /** How long it may take after the last fault until all is in step. */
  readonly convergeWithinMs: number;
  /** Resolves when the faults are over, early once `isOver`. `deeds` counts what the other hand has done to objects. */
  storm(isOver: () => boolean, deeds: () => number): Promise<void>;
  /** From now on the watches bring nothing. */
  silenceWatches(): void;
  /** The watches that bring nothing end with a 410. */
  expireWatches(): void;
  /** Closes the transport. Resolves to what the agent has left behind: requests, watches, sockets, timers. */
  leftovers(): Promise<readonly string[]>;
}
