// Rules of k8s.io/csi-translation-lib, v0.36.3, as far as they decide where a volume can be used and how often it counts.
import type { V1NodeSelectorTerm } from '@kubernetes/client-node';
import type { Wire, WirePersistentVolume } from '../../../api/json/types.ts';
import type { SpecVolume } from '../../../api/pod/pod-containers.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';

/** A volume of Kubernetes' own as the driver that serves it today sees it. */
export interface TranslatedVolume {
  readonly driver: string;
  readonly handle: string;
}

/** A sort of volumes that was once served by Kubernetes itself, and is served by a driver today. */
export interface InTreeVolumes {
  /** The name of the sort, as classes and CSINodes have it. */
  readonly name: string;
  readonly driver: string;
  /** The label of the driver's nodes that says their zone; undefined where the driver has none. */
  readonly topologyKey: string | undefined;
}

type Volume = SpecVolume;
type PersistentVolumeSpec = NonNullable<WirePersistentVolume['spec']>;
type Term = Wire<V1NodeSelectorTerm>;

interface Kind extends InTreeVolumes {
  /** True where the scheduler of v1.36 sees the driver in the place of the sort. */
  readonly isMigrated: boolean;
  isIn(source: Volume | PersistentVolumeSpec): boolean;
  /** Throws Error where the driver could not serve the volume. */
  handleOf(source: Volume | PersistentVolumeSpec, labels: Readonly<Record<string, string>> | undefined): string;
}

const kinds: readonly Kind[] = [
  {
    name: 'kubernetes.io/gce-pd',
    driver: 'pd.csi.storage.gke.io',
    topologyKey: 'topology.gke.io/zone',
    isMigrated: true,
    isIn: ({ gcePersistentDisk }) => gcePersistentDisk != null,
    handleOf: ({ gcePersistentDisk }, labels) => googleHandle(gcePersistentDisk?.pdName ?? '', labels),
  },
  {
    name: 'kubernetes.io/aws-ebs',
    driver: 'ebs.csi.aws.com',
    topologyKey: 'topology.ebs.csi.aws.com/zone',
    isMigrated: true,
    isIn: ({ awsElasticBlockStore }) => awsElasticBlockStore != null,
    handleOf: ({ awsElasticBlockStore }) => amazonHandle(awsElasticBlockStore?.volumeID ?? ''),
  },
  {
    name: 'kubernetes.io/cinder',
    driver: 'cinder.csi.openstack.org',
    topologyKey: 'topology.cinder.csi.openstack.org/zone',
    isMigrated: true,
    isIn: ({ cinder }) => cinder != null,
    handleOf: ({ cinder }) => cinder?.volumeID ?? '',
  },
  {
    name: 'kubernetes.io/azure-disk',
    driver: 'disk.csi.azure.com',
    topologyKey: undefined,
    isMigrated: true,
    isIn: ({ azureDisk }) => azureDisk != null,
    handleOf({ azureDisk }) {
      const { kind, diskURI = '' } = azureDisk ?? {};
      if (kind == null || kind.toLowerCase() === 'managed') return diskURI;
      throw new Error(`kind(${kind}) is not supported in csi migration`);
    },
  },
  {
    name: 'kubernetes.io/portworx-volume',
    driver: 'pxd.portworx.com',
    topologyKey: undefined,
    isMigrated: true,
    isIn: ({ portworxVolume }) => portworxVolume != null,
    handleOf: ({ portworxVolume }) => portworxVolume?.volumeID ?? '',
  },
  {
    name: 'kubernetes.io/azure-file',
    driver: 'file.csi.azure.com',
    topologyKey: undefined,
    isMigrated: false,
    isIn: ({ azureFile }) => azureFile != null,
    handleOf: () => '',
  },
  {
    name: 'kubernetes.io/vsphere-volume',
    driver: 'csi.vsphere.vmware.com',
    topologyKey: undefined,
    isMigrated: false,
    isIn: ({ vsphereVolume }) => vsphereVolume != null,
    handleOf: () => '',
  },
];

/** The sort of a pod's own volume that a driver may serve, whether it does so on a node or not; undefined for any other volume. */
export function migratableVolumes(volume: Volume): InTreeVolumes | undefined {
  return kinds.find((kind) => kind.isIn(volume));
}

/** The sort of a volume that a driver serves in the place of Kubernetes; undefined for any other volume. */
export function migratedVolumes(source: Volume | PersistentVolumeSpec): InTreeVolumes | undefined {
  return kinds.find((kind) => kind.isMigrated && kind.isIn(source));
}

/** What serves the volumes of a class's provisioner: a driver for one of Kubernetes' own, else undefined. */
export function inTreeProvisioner(provisioner: string): (InTreeVolumes & { readonly isMigrated: boolean }) | undefined {
  return kinds.find(({ name }) => name === provisioner);
}

/** A pod's own volume of a sort that was found by `migratedVolumes`. Throws Error where the driver could not serve it. */
export function translatedVolume({ name, driver }: InTreeVolumes, volume: Volume): TranslatedVolume {
  // a pod's own disk says nothing of zones
  return { driver, handle: kindNamed(name).handleOf(volume, undefined) };
}

/** A persistent volume of a sort that was found by `migratedVolumes`. Throws Error where the driver could not serve it. */
export function translatedPersistentVolume(
  { name, driver }: InTreeVolumes,
  { metadata, spec }: WirePersistentVolume,
): TranslatedVolume {
  return { driver, handle: kindNamed(name).handleOf(spec ?? {}, metadata?.labels) };
}

function kindNamed(wanted: string): Kind {
  return kinds.find(({ name }) => name === wanted) as Kind;
}

/** Where the volume can be used, by the labels that the driver gives nodes; undefined: everywhere. */
export function translatedTerms(
  { topologyKey }: InTreeVolumes,
  { metadata, spec }: WirePersistentVolume,
): readonly Term[] | undefined {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  if (topologyKey === undefined) return terms;
  const labels = metadata?.labels;
  const { zone, region } = topologyLabels(terms ?? [], labels);
  const zoned = hasValues(terms ?? [], zone)
    ? renamed(terms ?? [], zone, topologyKey)
    : withZones(terms, topologyKey, labelOf(labels, zone)?.split(zoneSeparator));
  if (region !== oldRegion || !hasValues(zoned ?? [], region)) return zoned;
  return renamed(zoned ?? [], region, newRegion);
}

const zoneSeparator = '__';
const [newZone, newRegion] = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];
const [oldZone, oldRegion] = ['failure-domain.beta.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region'];

/** The labels by which a volume says where it is: the newer ones, unless it has only the old ones. */
function topologyLabels(terms: readonly Term[], labels: Readonly<Record<string, string>> | undefined) {
  const newer = { zone: newZone, region: newRegion };
  const older = { zone: oldZone, region: oldRegion };
  if (hasKey(terms, newZone)) return newer;
  if (hasKey(terms, oldZone)) return older;
  return labelOf(labels, newZone) === undefined && labelOf(labels, oldZone) !== undefined ? older : newer;
}

function hasKey(terms: readonly Term[], key: string): boolean {
  return terms.some(({ matchExpressions }) => matchExpressions?.some((expression) => expression.key === key));
}

function hasValues(terms: readonly Term[], key: string): boolean {
  return terms.some(({ matchExpressions }) => matchExpressions?.some((one) => one.key === key && (one.values?.length ?? 0) > 0));
}

function renamed(terms: readonly Term[], from: string, to: string): readonly Term[] {
  return terms.map((term) => ({
    ...term,
    ...(term.matchExpressions && {
      matchExpressions: term.matchExpressions.map((one) => (one.key === from ? { ...one, key: to } : one)),
    }),
  }));
}

/** Each term also asks for one of the zones. Names without a letter do not count. */
function withZones(terms: readonly Term[] | undefined, key: string, given: readonly string[] | undefined) {
  const values = [...new Set((given ?? []).map((zone) => zone.trim()).filter((zone) => zone !== ''))].toSorted();
  if (values.length === 0) return terms;
  const zones = { key, operator: 'In', values };
  const from: readonly Term[] = terms === undefined || terms.length === 0 ? [{}] : terms;
  return from.map((term) => ({ ...term, matchExpressions: [...(term.matchExpressions ?? []), zones] }));
}

const unspecified = 'UNSPECIFIED';

/** A disk in several zones belongs to their region. */
function googleHandle(disk: string, labels: Readonly<Record<string, string>> | undefined): string {
  const [first = '', ...others] = (labelOf(labels, oldZone) || labelOf(labels, newZone) || '').split(zoneSeparator);
  if (others.length === 0) return `projects/${unspecified}/zones/${first || unspecified}/disks/${disk}`;
  const regions = new Set([first, ...others].map(regionOfZone));
  const [region] = regions;
  if (regions.size !== 1) {
    const list = [...regions].toSorted().map((one) => `${one}:{}`);
    throw new Error(`failed to get region from zones: multiple or no regions gotten from zones, got: map[${list.join(' ')}]`);
  }
  return `projects/${unspecified}/regions/${region}/disks/${disk}`;
}

function regionOfZone(zone: string): string {
  const parts = zone.split('-');
  if (parts.length === 3) return `${parts[0]}-${parts[1]}`;
  const expected = 'zone in unexpected format, expected: {locale}-{region}-{zone}';
  throw new Error(`failed to get region from zones: ${expected}, got: ${zone}`);
}

/** Disks are named `vol-…`, or by an address with their zone: `aws://eu-1a/vol-…`. */
function amazonHandle(id: string): string {
  if (!id.startsWith('aws://')) return id;
  const handle = id
    .slice('aws://'.length)
    .replace(/^[^/?#]*/, '')
    .replace(/[?#].*$/s, '')
    .replace(/^\/+|\/+$/g, '');
  if (/^vol-[^/]*$/.test(handle)) return handle;
  throw new Error(`failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${id})`);
}
