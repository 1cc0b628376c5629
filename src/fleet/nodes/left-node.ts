import type { Logger } from '../../base/logging/logger.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { unlessGone } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

const nodeLeases = 'kube-node-lease';
/** How long each request may take. */
const timeoutMs = 10_000;

export interface LeftNodeOptions {
  /** Asks whether the node's shard is still this member's. */
  readonly transport: ResourceTransport;
  readonly logger: Logger;
}

/** Deletes the object and the Lease of a node that has left the fleet, where they are the ones that are read now. Never rejects. */
export async function removeLeftNode(name: string, { transport, logger }: LeftNodeOptions): Promise<void> {
  try {
    await Promise.all([
      remove(new ResourceClient(transport, resources.nodes), { name }),
      remove(new ResourceClient(transport, resources.leases), { namespace: nodeLeases, name }),
    ]);
    logger.info({ node: name }, 'the node has left the fleet, and is deleted');
  } catch (err) {
    logger.warn({ err, node: name }, 'a node has left the fleet, and its object or its Lease could not be deleted');
  }
}

async function remove(
  client: Pick<ResourceClient, 'get' | 'delete'>,
  target: { readonly namespace?: string; readonly name: string },
): Promise<void> {
  const object = await unlessGone(client.get(target, { timeoutMs }));
  if (object === undefined) return;
  await unlessGone(client.delete(target, { uid: object.metadata?.uid, timeoutMs }));
}
