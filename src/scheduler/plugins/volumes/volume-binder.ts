// Behaviour of AssumePodVolumes and BindPodVolumes of the plugin volumebinding, v1.36.3.

import { isJsonObject } from '../../../api/json/json.ts';
import { isOlderThan } from '../../../api/json/resource-version.ts';
import type { WireNode, WirePersistentVolume, WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import type { Clock } from '../../../base/clock.ts';
import { onAbort, untilAborted } from '../../../base/concurrency/aborts.ts';
import { type ApiObject, type ApiResource, resources } from '../../../client/resources/api-resource.ts';
import type { SchedulerClient } from '../../framework/scheduler-client.ts';
import { type FoundVolumes, isAllBound, type StorageView } from './volume-finder.ts';
import { bindingPatch, claimKeyOf, isFullyBound, patchedVolume, selectedNodeKey, selectedNodeOf } from './volume-matching.ts';
import type { VolumePlaces } from './volume-places.ts';

/** A volume that is to belong to a claim. */
interface Binding {
  readonly claim: WirePersistentVolumeClaim;
  /** As it is on the server, once the server has taken the patch. */
  volume: WirePersistentVolume;
  /** What is assumed of it; undefined where another pod has it assumed already, or nothing changes. */
  readonly assumed: WirePersistentVolume | undefined;
  isWritten: boolean;
  /** What the watch had brought when the write left: until it brings more, the write cannot be seen. */
  seen?: WirePersistentVolume | undefined;
}

/** A claim whose volume is to be made for a node. */
interface Provision {
  /** As it is on the server, once the server has taken the node's name. */
  claim: WirePersistentVolumeClaim;
  readonly assumed: WirePersistentVolumeClaim;
  isWritten: boolean;
  seen?: WirePersistentVolumeClaim | undefined;
}

/** A change of an object that was sent, until the watch has brought it. */
interface SentWrite {
  readonly patch: string;
  readonly answer: Promise<ApiObject>;
}

/** The volumes of a pod that has its node, until they are bound. */
export interface ReservedVolumes {
  readonly nodeName: string;
  readonly places: VolumePlaces;
  readonly bindings: readonly Binding[];
  readonly provisions: readonly Provision[];
}

export interface VolumeBinderOptions {
  readonly view: StorageView;
  readonly client: SchedulerClient;
  readonly clock: Clock;
  /** The node as it is now. */
  readonly node: (name: string) => WireNode | undefined;
}

/** Who waits looks again so often though no claim and no volume of its has changed: its node may be gone, or labelled otherwise. */
const lookAgainMs = 10_000;

/** Takes volumes for pods that have a node, so that no other pod takes them, and has them bound. One for all profiles. */
export class VolumeBinder {
  readonly #options: VolumeBinderOptions;
  /** Who waits for an object, by what names the object. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Pods that share a claim share the write. */
  readonly #sent = new Map<string, SentWrite>();

  constructor(options: VolumeBinderOptions) {
    this.#options = options;
  }

  /** A claim has changed, or is gone: whoever waits for it looks again. */
  claimChanged(claim: WirePersistentVolumeClaim): void {
    this.#changed(nameOfClaim(claim));
  }

  /** A volume has changed, or is gone: whoever waits for it, or for the claim that it is for, looks again. */
  volumeChanged(volume: WirePersistentVolume): void {
    this.#changed(nameOfVolume(volume));
    const { claimRef } = volume.spec ?? {};
    if (claimRef != null) this.#changed(`claim ${claimRef.namespace}/${claimRef.name}`);
  }

  #changed(name: string): void {
    this.#sent.delete(name);
    for (const look of [...(this.#waiting.get(name) ?? [])]) look();
  }

  /** Undefined where every claim of the pod is bound already. Throws Error where a volume or a claim has changed since: nothing is taken then. */
  reserve(
    pod: WirePod,
    nodeName: string,
    { bindings, provisions }: FoundVolumes,
    places: VolumePlaces,
  ): ReservedVolumes | undefined {
    const { view } = this.#options;
    if (isAllBound(pod, view)) return undefined;
    const reserved = { nodeName, places, bindings: [] as Binding[], provisions: [] as Provision[] };
    try {
      for (const { claim, volume } of bindings) {
        const patch = bindingPatch(volume, claim);
        const assumed = patch && patchedVolume(volume, patch);
        if (assumed !== undefined) view.volumes.assume(assumed);
        reserved.bindings.push({ claim, volume, assumed, isWritten: false });
      }
      for (const claim of provisions) {
        const annotations = { ...claim.metadata?.annotations, [selectedNodeKey]: nodeName };
        const assumed = { ...claim, metadata: { ...claim.metadata, annotations } };
        view.claims.assume(assumed);
        reserved.provisions.push({ claim, assumed, isWritten: false });
      }
    } catch (error) {
      this.unreserve(reserved);
      throw error;
    }
    return reserved;
  }

  /** Gives back what was taken. What the server has taken stays as it says. */
  unreserve({ bindings, provisions }: ReservedVolumes): void {
    const { volumes, claims } = this.#options.view;
    for (const { assumed, isWritten } of bindings) if (assumed !== undefined && !isWritten) volumes.restore(assumed);
    for (const { assumed, isWritten } of provisions) if (!isWritten) claims.restore(assumed);
  }

  /** Resolves once all claims are bound. Rejects where one cannot be, and with the signal's reason. */
  async bind(reserved: ReservedVolumes, signal: AbortSignal): Promise<void> {
    for (const binding of reserved.bindings) await this.#writeVolume(binding, signal);
    for (const provision of reserved.provisions) await this.#writeClaim(provision, reserved.nodeName, signal);
    try {
      await this.#untilBound(reserved, signal);
    } finally {
      // a write that changed nothing brings no change
      for (const name of namesOf(reserved)) this.#sent.delete(name);
    }
  }

  async #writeVolume(binding: Binding, signal: AbortSignal): Promise<void> {
    const { volume, claim } = binding;
    const stored = this.#options.view.volumes.stored(undefined, volume.metadata?.name ?? '') ?? volume;
    const patch = bindingPatch(stored, claim);
    if (patch !== undefined) {
      binding.seen = stored;
      binding.volume = await this.#write(resources.persistentVolumes, nameOfVolume(volume), { object: volume, patch, signal });
    }
    binding.isWritten = true;
  }

  async #writeClaim(provision: Provision, nodeName: string, signal: AbortSignal): Promise<void> {
    const { claim } = provision;
    const { namespace, name = '' } = claim.metadata ?? {};
    const stored = this.#options.view.claims.stored(namespace, name);
    if (stored === undefined || selectedNodeOf(stored) !== nodeName) {
      provision.seen = stored;
      const patch = { metadata: { annotations: { [selectedNodeKey]: nodeName } } };
      provision.claim = await this.#write(resources.persistentVolumeClaims, nameOfClaim(claim), { object: claim, patch, signal });
    }
    provision.isWritten = true;
  }

  /** Sends the change, unless another pod has sent the same one and the watch has not brought it yet. */
  async #write<T extends ApiObject>(resource: ApiResource<T>, name: string, { object, patch, signal }: Write<T>): Promise<T> {
    // whoever gave the binding up may have done so while another object was written
    signal.throwIfAborted();
    const text = JSON.stringify(patch);
    const before = this.#sent.get(name);
    if (before?.patch === text) return untilAborted(before.answer as Promise<T>, signal);
    const { client } = this.#options;
    if (client.patchObject === undefined)
      throw new Error("the scheduler's client has no method patchObject, which binds volumes");
    const answer = answered(client.patchObject(resource, object, patch, signal));
    const sent: SentWrite = { patch: text, answer };
    this.#sent.set(name, sent);
    try {
      return await untilAborted(answer, signal);
    } catch (error) {
      if (this.#sent.get(name) === sent) this.#sent.delete(name);
      throw error;
    }
  }

  /** False: not yet. Throws Error where it will not be. */
  #isBound({ nodeName, places, bindings, provisions }: ReservedVolumes): boolean {
    const node = this.#options.node(nodeName);
    if (node === undefined)
      throw new Error(`failed to get node ${JSON.stringify(nodeName)}: node ${JSON.stringify(nodeName)} not found`);
    return (
      bindings.every((binding) => this.#isVolumeBound(binding, node, places)) &&
      provisions.every((provision) => this.#isClaimProvisioned(provision, node, places))
    );
  }

  #isVolumeBound({ claim, volume: written, seen }: Binding, node: WireNode, places: VolumePlaces): boolean {
    const { volumes } = this.#options.view;
    const name = written.metadata?.name ?? '';
    const volume = volumes.stored(undefined, name);
    if (volume === undefined) throw new Error(`failed to check binding: persistentvolumes ${JSON.stringify(name)} not found`);
    const now = this.#storedClaim(claim, 'failed to check binding');
    if (volume === seen || isOlderThan(volume, written)) return false;
    this.#requireReached(volume, node, places);
    if (!volume.spec?.claimRef?.uid) throw new Error(`ClaimRef got reset for pv ${JSON.stringify(name)}`);
    // another scheduler may have taken another volume for it, which need not reach this node
    const { volumeName } = now.spec ?? {};
    if (volumeName && volumeName !== name)
      throw new Error(
        `claim ${JSON.stringify(claimKeyOf(claim))} has the volume ${JSON.stringify(volumeName)} instead of ${JSON.stringify(name)}`,
      );
    return isFullyBound(now);
  }

  #isClaimProvisioned({ claim: written, seen }: Provision, node: WireNode, places: VolumePlaces): boolean {
    const claim = this.#storedClaim(written, 'failed to check provisioning pvc');
    if (claim === seen || isOlderThan(claim, written)) return false;
    const name = JSON.stringify(claim.metadata?.name);
    // who makes volumes takes the node's name away where it cannot
    if (claim.metadata?.annotations == null) throw new Error(`selectedNode annotation reset for PVC ${name}`);
    if (selectedNodeOf(claim) !== node.metadata?.name) throw new Error(`provisioning failed for PVC ${name}`);
    if (claim.spec?.volumeName) {
      const volume = this.#options.view.volumes.stored(undefined, claim.spec.volumeName);
      if (volume === undefined) return false;
      this.#requireReached(volume, node, places);
    }
    return isFullyBound(claim);
  }

  #storedClaim({ metadata }: WirePersistentVolumeClaim, doing: string): WirePersistentVolumeClaim {
    const { namespace, name = '' } = metadata ?? {};
    const claim = this.#options.view.claims.stored(namespace, name);
    if (claim !== undefined) return claim;
    throw new Error(`${doing}: persistentvolumeclaims ${JSON.stringify(`${namespace}/${name}`)} not found`);
  }

  #requireReached(volume: WirePersistentVolume, node: WireNode, places: VolumePlaces): void {
    const { csiNodes } = this.#options.view;
    const nodeName = node.metadata?.name ?? '';
    if (places.reachesAsServed(volume, node, csiNodes.get(undefined, nodeName))) return;
    const names = `pv ${JSON.stringify(volume.metadata?.name)} node affinity doesn't match node ${JSON.stringify(nodeName)}`;
    throw new Error(`${names}: no matching NodeSelectorTerms`);
  }

  /** Rejects where a claim will not be bound, and with the signal's reason. */
  async #untilBound(reserved: ReservedVolumes, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      try {
        if (this.#isBound(reserved)) resolve();
      } catch (error) {
        reject(error);
      }
    };
    const lookAgain = (): void => {
      look();
      cancel = this.#options.clock.setTimer(lookAgain, lookAgainMs);
    };
    let cancel = this.#options.clock.setTimer(lookAgain, lookAgainMs);
    const names = namesOf(reserved);
    for (const name of names) this.#waitingFor(name).add(look);
    const leave = onAbort(signal, () => reject(signal.reason));
    try {
      look();
      await promise;
    } finally {
      leave();
      cancel();
      for (const name of names) this.#leave(name, look);
    }
  }

  #waitingFor(name: string): Set<() => void> {
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting);
    return waiting;
  }

  #leave(name: string, look: () => void): void {
    const waiting = this.#waiting.get(name);
    waiting?.delete(look);
    if (waiting?.size === 0) this.#waiting.delete(name);
  }
}

async function answered<T>(work: Promise<T>): Promise<T> {
  const answer = await work;
  if (!isJsonObject(answer)) throw new TypeError("patchObject of the scheduler's client resolved to no object");
  return answer;
}

/** One change of an object. */
interface Write<T> {
  readonly object: T;
  readonly patch: object;
  readonly signal: AbortSignal;
}

function nameOfClaim(claim: WirePersistentVolumeClaim): string {
  return `claim ${claimKeyOf(claim)}`;
}

function nameOfVolume({ metadata }: WirePersistentVolume): string {
  return `volume ${metadata?.name}`;
}

/** What names the objects whose change may mean that the volumes are bound. */
function namesOf({ bindings, provisions }: ReservedVolumes): ReadonlySet<string> {
  const claims = [...bindings, ...provisions].map(({ claim }) => nameOfClaim(claim));
  return new Set([...claims, ...bindings.map(({ volume }) => nameOfVolume(volume))]);
}

/** Which claims a pod waits for, in words. */
export function awaitedClaims({ bindings, provisions }: ReservedVolumes): string {
  return [...bindings, ...provisions].map(({ claim }) => claimKeyOf(claim)).join(', ');
}
