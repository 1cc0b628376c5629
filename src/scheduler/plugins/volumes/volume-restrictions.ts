// Behaviour of pkg/scheduler/framework/plugins/volumerestrictions, v1.36.3.

import type { WirePod } from '../../../api/json/types.ts';
import type { JsonMembers } from '../../../client/transport/api-answer.ts';
import type { QueueingHint } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { Rejection } from '../../framework/status.ts';
import { refuseArgs } from '../common/refuse-args.ts';
import { anyConflict, exclusiveVolumes } from './volume-conflicts.ts';

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
