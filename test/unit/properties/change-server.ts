import type { ServerOperation } from './operations.ts';
import type { World } from './properties-world.ts';

const marked = { deletionTimestamp: '2000-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };

/** Changes a pod on the server, as users and other controllers do. The agent sees it when the watch delivers it. */
export function changeServer(world: World, name: string, operation: ServerOperation): void {
  const pod = world.onServer(name);
  if (operation.op === 'recreate') world.recreate(name);
  if (pod === undefined) return;
  const { metadata, status } = pod;
  switch (operation.op) {
    case 'vanish':
      world.vanish(name);
      break;
    case 'delete':
      if (metadata?.deletionTimestamp === undefined) world.cluster({ ...pod, metadata: { ...metadata, ...marked } });
      break;
    case 'revert':
      world.cluster({ ...pod, status: { ...status, message: 'rival', podIP: '10.9.9.9', podIPs: [{ ip: '10.9.9.9' }] } });
      break;
    case 'condition': {
      const others = (status?.conditions ?? []).filter(({ type }) => type !== operation.type);
      const condition = { type: operation.type, status: operation.status, lastTransitionTime: '2000-01-01T00:00:00Z' };
      world.cluster({ ...pod, status: { ...status, conditions: [...others, condition] } });
    }
  }
}
