import type { JsonObject, WirePersistentVolumeClaim } from '../../../src/api/json/types.ts';
import type { AdminClient } from '../admin-client.ts';
import { zoneLabel } from './storage-record.ts';

/** The name by which classes know it, and that of the driver of its volumes. */
export const makerName = 'zones.test.example.com';

const selectedNode = 'volume.kubernetes.io/selected-node';
/** Set by the controller that binds volumes, where another program has to make one. */
const wantsMaker = 'volume.kubernetes.io/storage-provisioner';

export interface VolumeMakerOptions {
  readonly admin: AdminClient;
  readonly zoneOfNode: ReadonlyMap<string, string>;
  /** Default: `makerName`. */
  readonly name?: string;
  /** True: the claim gets no volume on this node, and its node's name is taken away. Default: none is refused. */
  readonly refuses?: (claim: string, nodeName: string) => boolean;
  /** Waited for before each volume. */
  readonly before?: () => Promise<unknown>;
  /** True: it makes two volumes for each claim, as a broken one would. */
  readonly makesTwice?: boolean;
}

/** Makes a volume for each claim that has its node, in the node's zone, as a provisioner of a storage driver does. */
export class VolumeMaker implements AsyncDisposable {
  /** Names of claims. */
  readonly refused: string[] = [];
  made = 0;
  readonly #options: VolumeMakerOptions;
  readonly #name: string;
  readonly #underWay = new Map<string, Promise<void>>();
  #failure: unknown;
  #isOver = false;

  constructor(options: VolumeMakerOptions) {
    this.#options = options;
    this.#name = options.name ?? makerName;
    this.#follow().catch((error: unknown) => {
      if (!this.#isOver) this.#failure = error;
    });
  }

  /** Ends with the connections of its client. Rejects where it has failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#underWay.values());
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #follow(): Promise<void> {
    const path = '/api/v1/persistentvolumeclaims';
    while (!this.#isOver) {
      // without a version a watch begins with all that there is
      for await (const event of this.#options.admin.watch<WirePersistentVolumeClaim>(path)) {
        if (event.type === 'ERROR') throw new Error(`the watch of claims said ${JSON.stringify(event.object)}`);
        if (event.type !== 'DELETED') this.#see(event.object);
      }
    }
  }

  /** One version of a claim after the other. */
  #see(claim: WirePersistentVolumeClaim): void {
    const { metadata, spec } = claim;
    const nodeName = metadata?.annotations?.[selectedNode];
    if (spec?.volumeName || nodeName === undefined || metadata?.annotations?.[wantsMaker] !== this.#name) return;
    const key = metadata.uid ?? '';
    const before = this.#underWay.get(key) ?? Promise.resolve();
    const work = before.then(() => this.#serve(claim, nodeName));
    this.#underWay.set(key, work);
    work.catch((error: unknown) => {
      if (!this.#isOver) this.#failure ??= error;
    });
  }

  async #serve(claim: WirePersistentVolumeClaim, nodeName: string): Promise<void> {
    const { before, refuses, admin } = this.#options;
    const { name = '', namespace = '', resourceVersion } = claim.metadata ?? {};
    await before?.();
    if (refuses?.(name, nodeName)) {
      const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
      const body = { metadata: { resourceVersion, annotations: { [selectedNode]: null } } };
      const { status } = await admin.patch(path, body, 'merge');
      // another version of the claim follows where this one is not the newest
      if (status === 200) this.refused.push(name);
      else if (status !== 409 && status !== 404) throw new Error(`a claim was not changed: ${status}`);
      return;
    }
    await this.#make(this.#volume(claim, nodeName));
    if (this.#options.makesTwice) await this.#make(this.#volume(claim, nodeName, '-again'));
  }

  async #make(volume: JsonObject): Promise<void> {
    const { status, body } = await this.#options.admin.send('POST', '/api/v1/persistentvolumes', { body: volume });
    if (status === 201) this.made += 1;
    else if (status !== 409) throw new Error(`a volume was not made: ${status} ${JSON.stringify(body)}`);
  }

  /** By its name no claim gets two. */
  #volume({ metadata, spec }: WirePersistentVolumeClaim, nodeName: string, more = ''): JsonObject {
    const { uid = '', name = '', namespace = '' } = metadata ?? {};
    const zone = this.#options.zoneOfNode.get(nodeName) ?? '';
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', uid, name, namespace };
    const { storageClassName = '', accessModes = [], resources } = spec ?? {};
    const size = resources?.requests?.storage ?? '1Gi';
    const volume = zonalVolume(`pvc-${uid}${more}`, { zone, storageClassName, size, accessModes, driver: this.#name });
    return {
      ...volume,
      metadata: { ...volume.metadata, annotations: { 'pv.kubernetes.io/provisioned-by': this.#name } },
      spec: { ...volume.spec, claimRef },
    };
  }
}

interface VolumeShape {
  readonly zone: string;
  readonly storageClassName: string;
  readonly size?: string;
  readonly accessModes?: readonly string[];
  /** The driver that serves it. Default: none, the volume is of NFS. */
  readonly driver?: string;
}

/** A volume that nodes of one zone reach. */
export function zonalVolume(
  name: string,
  { zone, storageClassName, size = '1Gi', accessModes = ['ReadWriteOnce'], driver }: VolumeShape,
) {
  const nodeSelectorTerms = [{ matchExpressions: [{ key: zoneLabel, operator: 'In', values: [zone] }] }];
  const source: JsonObject =
    driver === undefined ? { nfs: { server: 'none', path: '/' } } : { csi: { driver, volumeHandle: name } };
  const spec: JsonObject = {
    ...source,
    capacity: { storage: size },
    accessModes: [...accessModes],
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName,
    nodeAffinity: { required: { nodeSelectorTerms } },
  };
  return { metadata: { name }, spec };
}

/** A claim of one volume of a class. */
export function claimJson(name: string, storageClassName: string, more: JsonObject = {}): JsonObject {
  const resources = { requests: { storage: '1Gi' } };
  return { metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources, ...more } };
}
