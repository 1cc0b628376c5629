import type { Plugin } from '../../framework/plugin.ts';
import type { Rejection } from '../../framework/status.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { refuseArgs } from '../common/refuse-args.ts';

/**
 * Rejects a pod with a volume that needs a claim (`persistentVolumeClaim`, `ephemeral`): this scheduler does not bind
 * volumes, and does not know where they can be reached or how many a node can attach. Without this plugin such a pod is
 * placed as if its volumes were everywhere. No arguments.
 */
export function volumeBinding(args?: unknown): Plugin {
  return refusing('VolumeBinding', args, ({ pod: { spec } }) => {
    const volume = spec?.volumes?.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim || ephemeral);
    if (volume === undefined) return undefined;
    return `volume ${JSON.stringify(volume.name)} needs a PersistentVolumeClaim, which this scheduler does not bind`;
  });
}

/**
 * Rejects a pod with `spec.resourceClaims`: this scheduler does not allocate devices. Without this plugin such a pod is placed
 * as if it had no claims. No arguments.
 */
export function dynamicResources(args?: unknown): Plugin {
  const refusal = refusing('DynamicResources', args, ({ pod: { spec } }) => {
    const claim = spec?.resourceClaims?.[0];
    if (claim === undefined) return undefined;
    return `resource claim ${JSON.stringify(claim.name)} needs dynamic resource allocation, which this scheduler does not do`;
  });
  // kube-scheduler says so of every pod that fits nowhere
  return { ...refusal, postFilter: () => ({ nominatedNodeName: undefined, message: 'no new claims to deallocate' }) };
}

/** What a pod needs of this sort never changes, so no event can help it. */
function refusing(name: string, args: unknown, reasonFor: (pod: PodInfo) => string | undefined): Plugin {
  refuseArgs(name, args);
  const refusal = (pod: PodInfo): Rejection | 'skip' => {
    const reason = reasonFor(pod);
    return reason === undefined ? 'skip' : { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
  };
  return { name, eventsToRegister: () => [], preFilter: (_state, pod) => refusal(pod) };
}
