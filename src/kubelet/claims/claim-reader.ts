// Behaviour of pkg/kubelet/volumemanager/populator createVolumeSpec, v1.36.3.

import type { Pod, WirePersistentVolume, WirePersistentVolumeClaim } from '../../api/json/types.ts';
import { containersOfPod, type SpecVolume } from '../../api/pod/pod-containers.ts';
import { claimNameOf, whyNotOwnClaim } from '../../api/pod/volume-claims.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorText } from '../../base/errors.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { PersistentVolumeRequest } from './persistent-volume-kind.ts';

/** A claim and what it is bound to. */
export type BoundClaim = Pick<PersistentVolumeRequest, 'claim' | 'persistentVolume' | 'isBlock'>;

/** Asked again after 50, 100 and 200 ms. */
const afterForbidden = { firstMs: 50, tries: 4 };
const protection = 'kubernetes.io/pvc-protection';

/** Reads claims as a kubelet does: the claim and its persistent volume, each by its name, and whether they belong together. */
export class ClaimReader {
  readonly #claims: ResourceClient<WirePersistentVolumeClaim>;
  readonly #persistentVolumes: ResourceClient<WirePersistentVolume>;

  readonly #clock: Clock;

  constructor(transport: ResourceTransport, clock: Clock) {
    this.#clock = clock;
    this.#claims = new ResourceClient(transport, resources.persistentVolumeClaims);
    this.#persistentVolumes = new ResourceClient(transport, resources.persistentVolumes);
  }

  /** Rejects with the kubelet's words where the pod may not use the claim, or not yet. */
  async read(pod: Pod, volume: SpecVolume, signal: AbortSignal): Promise<BoundClaim> {
    const { namespace = '' } = pod.metadata ?? {};
    const name = claimNameOf(pod, volume) ?? '';
    const processed = async <T>(work: Promise<T>): Promise<T> =>
      work.catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new Error(`error processing PVC ${namespace}/${name}: ${errorText(cause)}`, { cause });
      });
    const claim = await processed(this.#claim(namespace, name, signal));
    const problem = volume.ephemeral == null ? undefined : whyNotOwnClaim(pod, claim);
    if (problem !== undefined) throw new Error(problem);
    const persistentVolume = await processed(this.#persistentVolume(claim, signal));
    return { claim: trimmedClaim(claim), persistentVolume, isBlock: isBlockIn(pod, volume.name, persistentVolume) };
  }

  /** The Node authorizer learns just after the agent which pods the node has, and what they may read. */
  async #get<T>(get: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await get();
      } catch (error) {
        if (tries === afterForbidden.tries || classifyApiError(error) !== 'forbidden') throw error;
        await sleep(this.#clock, nthDelayMs(tries, afterForbidden), signal);
        signal.throwIfAborted();
      }
    }
  }

  async #claim(namespace: string, name: string, signal: AbortSignal): Promise<WirePersistentVolumeClaim> {
    const claim = await this.#get(() => this.#claims.get({ namespace, name }, { signal }), signal).catch((cause: unknown) => {
      throw new Error(`failed to fetch PVC from API server: ${errorText(cause)}`, { cause });
    });
    const { metadata, spec, status } = claim;
    if (metadata?.deletionTimestamp && !metadata.finalizers?.includes(protection)) throw new Error('PVC is being deleted');
    if (status?.phase !== 'Bound') throw new Error('PVC is not bound');
    if (!spec?.volumeName) throw new Error('PVC has empty pvc.Spec.VolumeName');
    return claim;
  }

  async #persistentVolume(
    { metadata, spec }: WirePersistentVolumeClaim,
    signal: AbortSignal,
  ): Promise<BoundClaim['persistentVolume']> {
    const name = spec?.volumeName ?? '';
    const found = await this.#get(() => this.#persistentVolumes.get({ name }, { signal }), signal).catch((cause: unknown) => {
      throw new Error(`failed to fetch PV ${name} from API server: ${errorText(cause)}`, { cause });
    });
    const { claimRef } = found.spec ?? {};
    if (claimRef == null) {
      throw new Error(`found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
    }
    if (claimRef.uid !== metadata?.uid || !claimRef.uid) {
      const uids = `pv.Spec.ClaimRef.UID ${claimRef.uid} does not point to claim.UID ${metadata?.uid}`;
      throw new Error(`found PV object ${name} but its ${uids}`);
    }
    // it becomes the name of folders
    if (!isDnsSubdomain(name) || found.metadata?.name !== name) throw new Error(`PV ${name} has no valid name`);
    // its author is an administrator
    const { managedFields, ...rest } = found.metadata ?? {};
    return { ...found, metadata: { ...rest, name } };
  }
}

/** Rejects where a container uses it as what it is not: also a pod that uses it as both. */
function isBlockIn(pod: Pod, name: string, { metadata, spec }: BoundClaim['persistentVolume']): boolean {
  const { volumeMode } = spec ?? {};
  if (!volumeMode) throw new Error(`cannot get volumeMode for volume: ${metadata.name}`);
  const isUsedIn = (uses: readonly { readonly name: string }[] | null | undefined): boolean =>
    uses?.some((use) => use.name === name) === true;
  const containers = containersOfPod(pod);
  const wrong = (field: string): Error => new Error(`volume ${name} has volumeMode ${volumeMode}, but is specified in ${field}`);
  if (volumeMode !== 'Filesystem' && containers.some(({ volumeMounts }) => isUsedIn(volumeMounts))) throw wrong('volumeMounts');
  if (volumeMode !== 'Block' && containers.some(({ volumeDevices }) => isUsedIn(volumeDevices))) throw wrong('volumeDevices');
  return volumeMode === 'Block';
}

const ofVolumes = /^volume\.(beta\.)?kubernetes\.io\//;
const longestNote = 1024;
const mostNotes = 16;

/** What may be needed of a claim. It is kept as long as the pod has the volume, and the rest may be as large as its author likes. */
function trimmedClaim({ metadata, spec, ...claim }: WirePersistentVolumeClaim): WirePersistentVolumeClaim {
  const { name, namespace, uid, resourceVersion, annotations } = metadata ?? {};
  const { selector, dataSource, dataSourceRef, ...kept } = spec ?? {};
  const notes = Object.entries(annotations ?? {}).filter(([key, text]) => ofVolumes.test(key) && text.length <= longestNote);
  const names = {
    ...defined({ name, namespace, uid, resourceVersion }),
    annotations: Object.fromEntries(notes.slice(0, mostNotes)),
  };
  return { ...claim, metadata: names, spec: kept };
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
