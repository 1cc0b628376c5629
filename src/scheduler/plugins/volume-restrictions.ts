// Behaviour of pkg/scheduler/framework/plugins/volumerestrictions, v1.36.3.
import type { WirePod } from '../../api/json/types.ts';
import { invalidOption } from '../../base/errors.ts';
import { integerOption, requireKnownOptions } from '../../base/options.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { Plugin, QueueingHint, Rejection } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { refuseArgs } from './common.ts';

const diskConflict: Rejection = { code: 'Unschedulable', reasons: ['node(s) had no available disk'] };

/**
 * Rejects a node where a pod already has a disk that the two may not share: disks of GCE, of EBS, of iSCSI and of RBD that
 * stand in the pod itself. Claims are the business of `VolumeBinding`. No arguments.
 */
export function volumeRestrictions(args?: unknown): Plugin {
  refuseArgs('VolumeRestrictions', args);
  return {
    name: 'VolumeRestrictions',
    eventsToRegister: () => [
      { resource: 'Pod', actions: ['Delete'], hint: freesDisk },
      { resource: 'Node', actions: ['Add'] },
    ],
    preFilter: (_state, { pod }) => (exclusiveVolumes(pod).length === 0 ? 'skip' : undefined),
    filter: (_state, { pod }, { pods }) => {
      const wanted = exclusiveVolumes(pod);
      const conflicts = pods.some((other) => anyConflict(wanted, other.pod.spec?.volumes ?? []));
      return conflicts ? diskConflict : undefined;
    },
  };
}

/** A pod that ends helps where it had one of the pod's disks, or one of its claims. */
function freesDisk(pod: WirePod, before: JsonMembers | undefined): QueueingHint {
  const ended = before as WirePod | undefined;
  if (ended?.metadata?.namespace !== pod.metadata?.namespace) return 'Skip';
  const volumes = ended?.spec?.volumes ?? [];
  if (anyConflict(exclusiveVolumes(pod), volumes)) return 'Queue';
  const claims = new Set(claimNames(pod.spec?.volumes));
  return claimNames(volumes).some((name) => claims.has(name)) ? 'Queue' : 'Skip';
}

function claimNames(volumes: NonNullable<WirePod['spec']>['volumes']): string[] {
  return (volumes ?? []).flatMap(({ persistentVolumeClaim }) => (persistentVolumeClaim ? [persistentVolumeClaim.claimName] : []));
}

// Behaviour of pkg/scheduler/framework/plugins/volumerestrictions, v1.36.3.

type Volume = NonNullable<NonNullable<WirePod['spec']>['volumes']>[number];

/** The volumes of a pod that only so many pods of a node may share. */
function exclusiveVolumes({ spec }: WirePod): readonly Volume[] {
  return spec?.volumes?.filter(isExclusive) ?? [];
}

/** True where two of the volumes are one disk that the two pods may not share. */
function anyConflict(volumes: readonly Volume[], others: readonly Volume[]): boolean {
  return volumes.some((volume) => others.some((other) => conflict(volume, other)));
}

function isExclusive(volume: Volume): boolean {
  return Boolean(volume.gcePersistentDisk ?? volume.awsElasticBlockStore ?? volume.rbd ?? volume.iscsi);
}

/** One disk of Amazon's belongs to one pod; any other disk may be shared by pods that only read it. */
function conflict(one: Volume, other: Volume): boolean {
  return (
    isSameDisk(one.gcePersistentDisk, other.gcePersistentDisk, ({ pdName }) => pdName) ||
    isSameDisk(one.iscsi, other.iscsi, ({ iqn }) => iqn) ||
    isSameImage(one.rbd, other.rbd) ||
    isSameElasticDisk(one.awsElasticBlockStore, other.awsElasticBlockStore)
  );
}

function isSameDisk<Disk extends { readOnly?: boolean }>(
  one: Disk | undefined,
  other: Disk | undefined,
  nameOf: (disk: Disk) => string | undefined,
): boolean {
  if (!one || !other) return false;
  return (nameOf(one) ?? '') === (nameOf(other) ?? '') && !(one.readOnly && other.readOnly);
}

function isSameElasticDisk(one: Volume['awsElasticBlockStore'], other: Volume['awsElasticBlockStore']): boolean {
  return Boolean(one && other) && (one?.volumeID ?? '') === (other?.volumeID ?? '');
}

/** Two images are one where they have a monitor, the pool and the name in common. */
function isSameImage(one: Volume['rbd'], other: Volume['rbd']): boolean {
  if (!one || !other || (one.readOnly && other.readOnly)) return false;
  if ((one.pool ?? '') !== (other.pool ?? '') || (one.image ?? '') !== (other.image ?? '')) return false;
  return (one.monitors ?? []).some((monitor) => other.monitors?.includes(monitor));
}

/**
 * Rejects a pod with a volume that needs a claim (`persistentVolumeClaim`, `ephemeral`): this scheduler does not bind
 * volumes, and does not know where they can be reached or how many a node can attach. Without this plugin such a pod is
 * placed as if its volumes were everywhere. Takes kube-scheduler's `bindTimeoutSeconds`, which changes nothing here.
 */
export function volumeBinding(args?: unknown): Plugin {
  const { bindTimeoutSeconds } = argsOf('VolumeBinding', args, ['bindTimeoutSeconds']);
  if (bindTimeoutSeconds != null) integerOption('VolumeBinding.bindTimeoutSeconds', bindTimeoutSeconds, 0);
  return refusing('VolumeBinding', ({ pod: { spec } }) => {
    const volume = spec?.volumes?.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim || ephemeral);
    if (volume === undefined) return undefined;
    return `volume ${JSON.stringify(volume.name)} needs a PersistentVolumeClaim, which this scheduler does not bind`;
  });
}

/**
 * Rejects a pod with `spec.resourceClaims`: this scheduler does not allocate devices. Without this plugin such a pod is placed
 * as if it had no claims. Takes kube-scheduler's `filterTimeout` and `bindingTimeout`, which change nothing here.
 */
export function dynamicResources(args?: unknown): Plugin {
  const times = argsOf('DynamicResources', args, ['filterTimeout', 'bindingTimeout']);
  for (const [name, value] of Object.entries(times)) {
    if (value == null || name === 'apiVersion' || name === 'kind' || duration.test(String(value))) continue;
    throw invalidOption(`DynamicResources.${name}`, 'a duration that is not below 0, such as "10s"', value);
  }
  const refusal = refusing('DynamicResources', ({ pod: { spec } }) => {
    const claim = spec?.resourceClaims?.[0];
    if (claim === undefined) return undefined;
    return `resource claim ${JSON.stringify(claim.name)} needs dynamic resource allocation, which this scheduler does not do`;
  });
  // kube-scheduler says so of every pod that fits nowhere
  return { ...refusal, postFilter: () => ({ nominatedNodeName: undefined, message: 'no new claims to deallocate' }) };
}

/** A time as Go writes it, which is not below 0. */
const duration = /^\+?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

function argsOf(plugin: string, args: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  const given = args ?? {};
  requireKnownOptions(plugin, given, ['apiVersion', 'kind', ...known]);
  return given as Readonly<Record<string, unknown>>;
}

/** What a pod needs of this sort never changes, so no event can help it. */
function refusing(name: string, reasonFor: (pod: PodInfo) => string | undefined): Plugin {
  const refusal = (pod: PodInfo): Rejection | 'skip' => {
    const reason = reasonFor(pod);
    return reason === undefined ? 'skip' : { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
  };
  return { name, eventsToRegister: () => [], preFilter: (_state, pod) => refusal(pod) };
}
