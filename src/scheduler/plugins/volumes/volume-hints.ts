import type { WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import { claimNameOf } from '../../../api/pod/volume-claims.ts';
import type { ClusterEventWithHint } from '../../framework/plugin.ts';

/** The hint that a change of an object of this type helps where the function says so. `after` is what was there, where it is gone. */
export function hintWhere<T>(
  helps: (pod: WirePod, before: T | undefined, after: T) => boolean,
): NonNullable<ClusterEventWithHint['hint']> {
  return (pod, before, after) => (helps(pod, before as T | undefined, (after ?? before) as T) ? 'Queue' : 'Skip');
}

/** True for a claim that the pod names, or that is made for one of its volumes. */
export function isClaimOf(pod: WirePod, { metadata }: WirePersistentVolumeClaim): boolean {
  if (metadata?.namespace !== pod.metadata?.namespace) return false;
  return (pod.spec?.volumes ?? []).some((volume) => claimNameOf(pod, volume) === metadata?.name);
}

/** True for a claim that the pod names itself. */
export function isNamedClaimOf(pod: WirePod, { metadata }: WirePersistentVolumeClaim): boolean {
  if (metadata?.namespace !== pod.metadata?.namespace) return false;
  return (pod.spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata?.name);
}
