import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError, unlessGone } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { leftNodeProblem } from './fleet-node-problems.ts';

const nodeLeases = 'kube-node-lease';
/** How long each request may take. */
const timeoutMs = 10_000;

/** How often what is removed is read again, where somebody else always changes it. */
const attempts = 5;

export interface LeftNodeOptions {
  /** Asks whether the node's shard is still this member's. */
  readonly transport: ResourceTransport;
  /** True where the node has come again: nothing more of it is deleted then. */
  readonly isWanted: () => boolean;
  /** When it left, in milliseconds since the epoch: what was made later is somebody else's, and stays. */
  readonly leftAt: number;
  readonly logger: Logger;
}

/**
 * Deletes the object and the Lease of a node that has left the fleet, as they were read: one that has changed since is read again. So a
 * deletion that comes late takes nothing from the same node that has come again and has written. Never rejects; false where it has failed.
 */
export async function removeLeftNode(name: string, options: LeftNodeOptions): Promise<boolean> {
  const { transport, isWanted, logger } = options;
  try {
    const removed = await Promise.all([
      remove(new ResourceClient(transport, resources.nodes), { name }, options),
      remove(new ResourceClient(transport, resources.leases), { namespace: nodeLeases, name }, options),
    ]);
    if (isWanted()) logger.info({ node: name }, 'the node has left the fleet, and has come again');
    else if (removed.includes(true)) logger.info({ node: name }, 'the node has left the fleet, and is deleted');
    return true;
  } catch (err) {
    const problem = problemFields(leftNodeProblem(name, err));
    logger.warn({ err, node: name, ...problem }, 'a node has left the fleet, and its object or its Lease could not be deleted');
    return false;
  }
}

/** True where something was deleted. */
async function remove(
  client: Pick<ResourceClient, 'get' | 'delete'>,
  target: { readonly namespace?: string; readonly name: string },
  { isWanted, leftAt }: Pick<LeftNodeOptions, 'isWanted' | 'leftAt'>,
): Promise<boolean> {
  for (let attempt = 1; !isWanted(); attempt++) {
    const object = await unlessGone(client.get(target, { timeoutMs }));
    if (object === undefined || isWanted()) return false;
    const { uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
    if (Date.parse(String(creationTimestamp)) > leftAt) return false;
    try {
      await unlessGone(client.delete(target, { uid, resourceVersion, timeoutMs }));
      return true;
    } catch (error) {
      if (classifyApiError(error) !== 'conflict' || attempt === attempts) throw error;
    }
  }
  return false;
}
