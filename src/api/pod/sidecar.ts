import type { Pod } from '../json/types.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

/** True for a sidecar: an init container that keeps running beside the regular ones. */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === 'Always';
}
