import type { Logger } from '../../base/logging/logger.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError, unlessGone } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

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
  readonly logger: Logger;
}

/**
 * Deletes the object and the Lease of a node that has left the fleet, as they were read: one that has changed since is read again. So a
 * deletion that comes late takes nothing from the same node that has come again and has written. Never rejects.
 */
export async function removeLeftNode(name: string, { transport, isWanted, logger }: LeftNodeOptions): Promise<void> {
  try {
    await Promise.all([
      remove(new ResourceClient(transport, resources.nodes), { name }, isWanted),
      remove(new ResourceClient(transport, resources.leases), { namespace: nodeLeases, name }, isWanted),
    ]);
    if (isWanted()) logger.info({ node: name }, 'the node has left the fleet, and has come again');
    else logger.info({ node: name }, 'the node has left the fleet, and is deleted');
  } catch (err) {
    logger.warn({ err, node: name }, 'a node has left the fleet, and its object or its Lease could not be deleted');
  }
}

async function remove(
  client: Pick<ResourceClient, 'get' | 'delete'>,
  target: { readonly namespace?: string; readonly name: string },
  isWanted: () => boolean,
): Promise<void> {
  for (let attempt = 1; !isWanted(); attempt++) {
    const object = await unlessGone(client.get(target, { timeoutMs }));
    if (object === undefined || isWanted()) return;
    const { uid, resourceVersion } = object.metadata ?? {};
    try {
      await unlessGone(client.delete(target, { uid, resourceVersion, timeoutMs }));
      return;
    } catch (error) {
      if (classifyApiError(error) !== 'conflict' || attempt === attempts) throw error;
    }
  }
}
