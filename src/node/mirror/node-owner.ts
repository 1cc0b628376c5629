import type { V1Node, V1OwnerReference } from '@kubernetes/client-node';
import type { Loose, Wire } from '../../api/json/types.ts';
import type { WaitLimits } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { limitedCall } from '../../client/resources/limited-call.ts';

/** What the library reads of a node. */
export type MirrorNode = Pick<Loose<V1Node>, 'metadata'>;

/** Answers with the node of this name as the agent knows it, from memory or from a server; undefined when it knows none. */
export type GetNode = (nodeName: string) => MirrorNode | undefined | Promise<MirrorNode | undefined>;

/**
 * The one owner reference of a mirror pod, which the admission plugin NodeRestriction asks for. Rejects with ERR_NO_NODE
 * unless the node is known, has this name and a uid, and is not being deleted.
 */
export async function nodeOwner(getNode: GetNode, nodeName: string, limits: WaitLimits): Promise<Wire<V1OwnerReference>> {
  let node: unknown;
  try {
    node = await limitedCall('getNode()', () => getNode(nodeName), limits).answer;
  } catch (error) {
    throw noNode(nodeName, `getNode() failed: ${messageOf(error)}`, error);
  }
  const { name, uid, deletionTimestamp } = (node as MirrorNode | undefined | null)?.metadata ?? {};
  if (node === undefined || node === null) throw noNode(nodeName, 'the node is not known');
  if (name !== undefined && name !== nodeName) throw noNode(nodeName, 'getNode() answered with another node');
  if (typeof uid !== 'string' || uid === '') throw noNode(nodeName, 'the node has no uid');
  if (deletionTimestamp) throw noNode(nodeName, 'the node is being deleted');
  return { apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true };
}

function noNode(nodeName: string, why: string, cause?: unknown): StatusManagerError {
  const message = `Mirror pods need their node ${nodeName} as owner: ${why}`;
  return new StatusManagerError('ERR_NO_NODE', message, cause === undefined ? undefined : { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error && typeof error.message === 'string' ? error.message.slice(0, 500) : typeof error;
}
