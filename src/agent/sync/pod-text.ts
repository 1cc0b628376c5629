import { podFullName } from '../../pod/pod-identity.ts';
import type { Pod } from '../../wire/types.ts';

/** A pod as the kubelet's messages name it, such as `web_default(uid)`. */
export function podText(pod: Pod): string {
  return `${podFullName(pod)}(${pod.metadata?.uid ?? ''})`;
}
