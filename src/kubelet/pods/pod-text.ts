import type { Pod } from '../../api/json/types.ts';
import { podFullName } from '../../api/pod/pod-identity.ts';

/** A pod as the kubelet's messages name it, such as `web_default(uid)`. */
export function podText(pod: Pod): string {
  return `${podFullName(pod)}(${pod.metadata?.uid ?? ''})`;
}
