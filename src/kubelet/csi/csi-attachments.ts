// Behaviour of GenerateVerifyControllerAttachedVolumeFunc in pkg/volume/util/operationexecutor and of WaitForAttach in
// pkg/volume/csi/csi_attacher.go, v1.36.3.

import type { V1VolumeAttachment } from '@kubernetes/client-node';
import type { Pod, Wire, WireNode } from '../../api/json/types.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { attachmentID } from './volume-data.ts';
import { type CsiVolumeID, uniqueVolumeName } from './volume-ids.ts';

export interface CsiAttachmentsOptions {
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  /** The node as its watch has shown it last. */
  readonly node: () => WireNode | undefined;
  /** False: the agent does not have the node say now that the volume is in use. What the node still says of it is old. */
  readonly isSaid: (name: string) => boolean;
  readonly clock: SteadyClock;
}

/** What attaching the volume gave its driver. */
export type PublishContext = Readonly<Record<string, string>>;

/** A volume that is waited for. */
export interface WaitingVolume {
  readonly volume: string;
  readonly pod: Pod;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** What it waits for, in the kubelet's words. */
  readonly message: string;
}

/** A volume was not attached in time. */
export class NotAttached extends Error {
  override readonly name = 'NotAttached';
  /** What of the kubelet's steps waits. The message is what the attacher says, or the same. */
  readonly step: string;

  constructor(step: string, attachError: string | undefined) {
    super(attachError ?? step);
    this.step = step;
  }
}

interface ToldVolumes {
  readonly inUse: ReadonlySet<string>;
  readonly attached: ReadonlySet<string>;
}

const notReported = "Volume has not been added to the list of VolumesInUse in the node's volume status";
const notAttached = 'Volume not attached according to node status';
/** Until then nobody is told that a volume is waited for: attaching one takes its time. */
const quietMs = 20_000;
/** As long as a kubelet waits for the volumes of a pod. */
const patienceMs = 123_000;
/** How often what the watch has shown is looked at while a volume is waited for. No request comes of it. */
const lookMs = 100;

/** Waits until volumes are attached to the node: by the attach-detach controller, which says so in the status of the node. */
export class CsiAttachments {
  readonly #options: CsiAttachmentsOptions;
  readonly #attachments: ResourceClient<Wire<V1VolumeAttachment>>;
  /** Since when each is waited for, by the clock's elapsed time. */
  readonly #waiting = new Map<WaitingVolume, number>();
  #seen: { readonly atMs: number; readonly told: ToldVolumes } | undefined;

  constructor(options: CsiAttachmentsOptions) {
    this.#options = options;
    this.#attachments = new ResourceClient(options.transport, resources.volumeAttachments);
  }

  /** What has been waited for so long that somebody should look at it. */
  waiting(): readonly WaitingVolume[] {
    const nowMs = this.#options.clock.elapsed();
    return [...this.#waiting]
      .filter(([, sinceMs]) => nowMs - sinceMs >= quietMs)
      .map(([each]) => ({ ...each, message: this.#whyNot(each.volume) ?? each.message }));
  }

  /**
   * Resolves with what attaching gave, once the node says that the volume is in use and attached, and its VolumeAttachment says the same.
   * Rejects with what is wrong, which is tried again with the next sync, and with the signal's reason when that aborts.
   */
  async attached(volume: CsiVolumeID, pod: Pod, signal: AbortSignal): Promise<PublishContext> {
    const { clock } = this.#options;
    const waiting = { volume: uniqueVolumeName(volume), pod, since: clock.now(), message: notAttached };
    this.#waiting.set(waiting, clock.elapsed());
    try {
      await this.#untilTold(volume, signal);
    } finally {
      this.#waiting.delete(waiting);
    }
    return this.read(volume, signal);
  }

  /** The volumes in use by what the watch has shown of the node, as those that wait look at it. */
  toldInUse(): ReadonlySet<string> {
    return this.#told().inUse;
  }

  /** The same without a wait. */
  async read(volume: CsiVolumeID, signal: AbortSignal): Promise<PublishContext> {
    const { volumeHandle } = volume;
    const name = this.#nameOf(volume);
    const attachment = await this.#attachments.get({ name }, { signal }).catch((cause: unknown) => {
      signal.throwIfAborted();
      const words = `volume ${volumeHandle} has GET error for volume attachment ${name}: ${errorText(cause)}`;
      throw new Error(words, { cause });
    });
    const { metadata, status } = attachment;
    if (metadata?.deletionTimestamp) throw new Error('volume attachment is being deleted');
    if (status?.attached === true) return { ...status.attachmentMetadata };
    throw new Error(status?.attachError?.message || `volume ${volumeHandle} is not attached for volume attachment ${name}`);
  }

  #nameOf({ volumeHandle, driverName }: CsiVolumeID): string {
    return attachmentID(volumeHandle, driverName, this.#options.nodeName);
  }

  async #untilTold(volume: CsiVolumeID, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.elapsed() + patienceMs;
    for (;;) {
      signal.throwIfAborted();
      const why = this.#whyNot(uniqueVolumeName(volume));
      if (why === undefined) return;
      if (clock.elapsed() >= endMs) throw new NotAttached(why, await this.#attachError(volume, signal));
      await sleep(clock, lookMs, signal);
    }
  }

  /** What the attacher says; undefined where it says nothing. */
  async #attachError(volume: CsiVolumeID, signal: AbortSignal): Promise<string | undefined> {
    const found = await this.#attachments.get({ name: this.#nameOf(volume) }, { signal }).catch(ignoreFailure);
    signal.throwIfAborted();
    return found?.status?.attachError?.message || undefined;
  }

  #whyNot(name: string): string | undefined {
    const { inUse, attached } = this.#told();
    if (!inUse.has(name) || !this.#options.isSaid(name)) return notReported;
    return attached.has(name) ? undefined : notAttached;
  }

  /** All that wait look at the same copy. */
  #told(): ToldVolumes {
    const { clock, node } = this.#options;
    const atMs = clock.elapsed();
    if (this.#seen === undefined || atMs - this.#seen.atMs >= lookMs) {
      const { volumesInUse, volumesAttached } = node()?.status ?? {};
      const attached = new Set((volumesAttached ?? []).map(({ name }) => name));
      this.#seen = { atMs, told: { inUse: new Set(volumesInUse ?? []), attached } };
    }
    return this.#seen.told;
  }
}
