import type { Pod, WireNode } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Problem } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { helped } from '../../node/problem-help.ts';
import { FileSystemProbes } from '../claims/file-system-probes.ts';
import { MountTurns, type MountTurnsOptions } from '../claims/mount-turns.ts';
import type { PersistentVolumeKind } from '../claims/persistent-volume-kind.ts';
import type { DriverVolumes } from '../volumes/driver-volumes.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { BlockDevices } from './block-devices.ts';
import { ClaimStatuses } from './claim-status.ts';
import { CsiAttachments } from './csi-attachments.ts';
import { CsiDriverObjects, isAttachable } from './csi-driver-objects.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { CsiPersistentVolumes } from './csi-persistent-volumes.ts';
import { CsiStaging } from './csi-staging.ts';
import { CsiVolumes } from './csi-volumes.ts';
import { MountedExpansions } from './mounted-expansions.ts';
import { NodeVolumes } from './node-volumes.ts';
import type { ContextSources } from './publish-context.ts';
import { PublishedVolumes } from './published-volumes.ts';
import { VolumeExpansion } from './volume-expansion.ts';

export interface CsiStorageOptions extends ContextSources {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  /** As it was given. A driver knows its volumes' folders below this path, which its own pod mounts, and by no other. */
  readonly rootDirectory: string;
  readonly mounter: Mounter;
  /** The node as its watch has shown it last. */
  readonly node: () => WireNode | undefined;
  /** What the node says of volumes in use has changed. */
  readonly inUseChanged: () => void;
  /** Default: that of `fileSystems`. */
  readonly askFileSystem?: MountTurnsOptions['ask'];
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** The volumes of storage drivers: those that live with their pod, and PersistentVolumes. */
export class CsiStorage {
  readonly inline: DriverVolumes;
  readonly persistentVolumes: PersistentVolumeKind;
  /** For all that this process does in mounts that are not its own. */
  readonly mountTurns: MountTurns;
  /** For all that this process asks such mounts. */
  readonly fileSystems: FileSystemProbes;
  readonly #nodeVolumes: NodeVolumes;
  readonly #attachments: CsiAttachments;
  readonly #mountedExpansions: MountedExpansions;

  constructor(options: CsiStorageOptions) {
    const { drivers, transport, nodeName, rootDirectory, mounter, node, secrets, tokens } = options;
    const { eventRecorder, clock, random, logger } = options;
    this.fileSystems = new FileSystemProbes({ rootDirectory, logger });
    const mountTurns = new MountTurns({ clock, ask: options.askFileSystem ?? this.fileSystems.ask, logger });
    this.mountTurns = mountTurns;
    const driverObjects = new CsiDriverObjects(transport);
    const published = new PublishedVolumes({ drivers, rootDirectory, mounter, mountTurns, eventRecorder, clock, logger });
    const staging = new CsiStaging({ drivers, rootDirectory, mounter });
    const devices = new BlockDevices({ drivers, rootDirectory, mounter });
    const claims = new ClaimStatuses(transport, clock);
    const expansion = new VolumeExpansion({ claims, nodeName, eventRecorder, logger });
    const mountedExpansions = new MountedExpansions({ expansion, eventRecorder, clock, logger });
    this.#mountedExpansions = mountedExpansions;
    // what an earlier process has said counts until the disk is known
    const isSaid = (name: string): boolean => this.#nodeVolumes.inUse()?.includes(name) !== false;
    this.#attachments = new CsiAttachments({ transport, nodeName, node, isSaid, clock });
    this.#nodeVolumes = new NodeVolumes({
      unstage: async (volume) => {
        await staging.unstage(volume);
        await devices.unstage(volume);
        expansion.forget(volume);
        mountedExpansions.forget(volume);
      },
      isAttachable: async (name) => isAttachable(await driverObjects.find(name)),
      told: () => this.#attachments.toldInUse(),
      changed: options.inUseChanged,
      ...{ rootDirectory, mounter, clock, random, logger },
    });
    this.inline = new CsiVolumes({ drivers, driverObjects, published, nodeName, secrets, tokens });
    this.persistentVolumes = new CsiPersistentVolumes({
      ...{
        drivers,
        driverObjects,
        published,
        staging,
        expansion,
        mountedExpansions,
        devices,
        tokens,
        transport,
        nodeName,
      },
      attachments: this.#attachments,
      nodeVolumes: this.#nodeVolumes,
    });
  }

  /** The unique names of attachable volumes that may be in use; undefined until that is known. */
  volumesInUse(): readonly string[] | undefined {
    return this.#nodeVolumes.inUse();
  }

  start(): void {
    this.#nodeVolumes.start();
  }

  async stop(): Promise<void> {
    this.#mountedExpansions.stop();
    await this.#nodeVolumes.stop();
  }

  problems(): readonly Problem[] {
    const { failure } = this.#nodeVolumes;
    const waiting = this.#attachments.waiting().map(({ volume, pod, since, message }) => ({
      ...{ attempt: 1, since, ...helped('volume-attach') },
      message: `the pod ${podText(pod)} waits for the volume ${volume}: ${message}`,
    }));
    const stuck = this.#nodeVolumes.stuck().map(({ volume, message, ...trouble }) => ({
      ...{ ...trouble, ...helped('csi-unstage') },
      message: `the volume ${volume}, which no pod uses, is not given back: ${message}`,
    }));
    if (failure === undefined) return [...waiting, ...stuck];
    const { attempt, since, at, retryInMs, error } = failure;
    const message = `it is not sure which volumes of storage drivers are in use: ${errorText(error)}`;
    return [...waiting, ...stuck, { attempt, since, retryAt: at + retryInMs, ...helped('csi-unsure'), message }];
  }
}

function podText({ metadata }: Pod): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
