import type { Container } from '../../status/conditions/restart-policy.ts';

/** True for a sidecar: an init container that keeps running beside the regular ones. */
export function isRestartableInitContainer(container: Container): boolean {
  return container.restartPolicy === 'Always';
}
