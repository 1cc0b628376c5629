// Behaviour of component-helpers/storage/volume CheckNodeAffinity, v0.36.3, and of tryTranslatePVToCSI of the plugin volumebinding, v1.36.3.
import type { V1CSINode, V1StorageClass } from '@kubernetes/client-node';
import type { Wire, WireNode, WirePersistentVolume } from '../../../api/json/types.ts';
import { type LabelSelector, labelOf, parseLabelSelector, selectsNothing } from '../../../api/selectors/label-selector.ts';
import { type NodeTest, nodeSelectorTest } from '../../../api/selectors/node-selector.ts';
import { errorText } from '../../../base/errors.ts';
import { type InTreeVolumes, migratedVolumes, translatedPersistentVolume, translatedTerms } from './csi-translation.ts';
import { pinOf, type VolumePin } from './volumes-by-node.ts';

export type WireCsiNode = Wire<V1CSINode>;
export type WireStorageClass = Wire<V1StorageClass>;

const migratedKey = 'storage.alpha.kubernetes.io/migrated-plugins';
const everywhere: NodeTest = () => true;
const nowhere: NodeTest = () => false;

/** What a CSINode says of the sorts of volumes that its drivers serve in the place of Kubernetes; empty where it says nothing. */
export function migratedNote(csiNode: WireCsiNode | undefined): string {
  const note: unknown = labelOf(csiNode?.metadata?.annotations, migratedKey);
  return typeof note === 'string' ? note : '';
}

/** True where the drivers of the node serve volumes of the sort in the place of Kubernetes, as its CSINode says. */
export function isMigratedOn(csiNode: WireCsiNode | undefined, { name }: Pick<InTreeVolumes, 'name'>): boolean {
  return migratedNote(csiNode).split(',').includes(name);
}

/** Where persistent volumes can be used, and made. What an object says of that is read once: it never changes. */
export class VolumePlaces {
  readonly #allowed = new WeakMap<WireStorageClass, readonly LabelSelector[]>();
  readonly #own = new WeakMap<WirePersistentVolume, NodeTest>();
  readonly #pins = new WeakMap<WirePersistentVolume, { readonly pin: VolumePin | undefined }>();
  readonly #served = new WeakMap<WirePersistentVolume, NodeTest>();
  readonly #mayMigrate: (kind: InTreeVolumes) => boolean;

  /** `mayMigrate`: the sorts of volumes that the version of Kubernetes leaves to drivers, where a node does. Default: all. */
  constructor(mayMigrate: (kind: InTreeVolumes) => boolean = () => true) {
    this.#mayMigrate = mayMigrate;
  }

  /** By the volume's own words. One whose words cannot be read reaches no node. */
  reaches(volume: WirePersistentVolume, node: WireNode): boolean {
    const required = volume.spec?.nodeAffinity?.required;
    if (required == null) return true;
    return testOf(this.#own, volume, () => readTest(required.nodeSelectorTerms))(labelsAlone(node));
  }

  /** A label without which the volume reaches no node; undefined where there is none. */
  pinOf(volume: WirePersistentVolume): VolumePin | undefined {
    let known = this.#pins.get(volume);
    if (known === undefined) {
      known = { pin: pinOf(volume) };
      this.#pins.set(volume, known);
    }
    return known.pin;
  }

  /** True for a node in one of the places that the class allows; without any, everywhere. Behaviour of MatchTopologySelectorTerms. */
  allows(storageClass: WireStorageClass, { metadata }: WireNode): boolean {
    let allowed = this.#allowed.get(storageClass);
    if (allowed === undefined) {
      allowed = allowedPlaces(storageClass);
      this.#allowed.set(storageClass, allowed);
    }
    return allowed.some((selector) => selector.matches(metadata?.labels));
  }

  /**
   * As whoever serves the volume on the node sees it: a driver, where one has taken the place of Kubernetes there. Throws Error where the
   * driver could not serve it.
   */
  reachesAsServed(volume: WirePersistentVolume, node: WireNode, csiNode: WireCsiNode | undefined): boolean {
    const kind = volume.spec && migratedVolumes(volume.spec);
    if (kind === undefined || !this.#mayMigrate(kind) || !isMigratedOn(csiNode, kind)) return this.reaches(volume, node);
    const read = (): NodeTest => {
      try {
        translatedPersistentVolume(kind, volume);
      } catch (cause) {
        throw new Error(`could not translate pv: ${errorText(cause)}`, { cause });
      }
      const terms = translatedTerms(kind, volume);
      const isEverywhere = terms === undefined && volume.spec?.nodeAffinity?.required == null;
      return isEverywhere ? everywhere : readTest(terms ?? []);
    };
    return testOf(this.#served, volume, read)(labelsAlone(node));
  }
}

function readTest(terms: Parameters<typeof nodeSelectorTest>[0]): NodeTest {
  try {
    return nodeSelectorTest(terms);
  } catch {
    return nowhere;
  }
}

function allowedPlaces({ allowedTopologies }: WireStorageClass): readonly LabelSelector[] {
  const terms: unknown = allowedTopologies ?? [];
  if (!Array.isArray(terms)) return [];
  if (terms.length === 0) return [parseLabelSelector('allowedTopologies', {})];
  return (allowedTopologies ?? []).map((term) => topologySelector(term));
}

/** A term that breaks a rule allows nothing: the other terms count. */
function topologySelector(term: NonNullable<WireStorageClass['allowedTopologies']>[number]): LabelSelector {
  try {
    const given = term.matchLabelExpressions ?? [];
    if (given.length === 0) return selectsNothing;
    return parseLabelSelector('allowedTopologies', {
      matchExpressions: given.map(({ key, values }) => ({ key, operator: 'In', values })),
    });
  } catch {
    return selectsNothing;
  }
}

function testOf(known: WeakMap<WirePersistentVolume, NodeTest>, volume: WirePersistentVolume, read: () => NodeTest): NodeTest {
  let test = known.get(volume);
  if (test === undefined) {
    test = read();
    known.set(volume, test);
  }
  return test;
}

/** A volume may not ask for a node by its name. */
function labelsAlone({ metadata }: WireNode): WireNode {
  const { labels } = metadata ?? {};
  return { metadata: labels === undefined ? {} : { labels } };
}
