import type { WireLease } from '../../api/json/types.ts';
import { objectFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import type { TimeLeft } from '../../base/concurrency/aborts.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ApiObject, resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { CallOptions, ObjectName } from '../../client/resources/resource-requests.ts';
import { leaseNamespace } from './node-lease.ts';
import { NodeRequests } from './node-requests.ts';

/** What became of an object that `stop` was to delete. */
export type RemovalOutcome =
  /** Gone, or with finalizers marked as deleted. */
  | 'removed'
  /** This process has not created it, another one has replaced it, or another agent lives under its name: it stays. */
  | 'notOurs'
  /** The server refused, gave no answer in time, or did not say whose the Lease is: it stays. The log says why. */
  | 'failed'
  /** `removeOnStop` is false. */
  | 'kept'
  /** It was never started: nothing was made, and nobody was asked. */
  | 'notStarted';

/** What `stop` has done. */
export interface NodeObjectStopped {
  /** What became of the Node. */
  readonly node: RemovalOutcome;
  /** What became of its Lease. */
  readonly lease: RemovalOutcome;
}

export interface NodeRemovalRequest {
  readonly transport: ResourceTransport;
  readonly nodeName: string;
  /** The uids of what this process has created; nothing else is deleted. */
  readonly createdUIDs: { readonly node: string | undefined; readonly lease: string | undefined };
  /** True when another agent lives under the name of the node. Undefined: there is no Lease. */
  readonly isAnotherAlive: (lease: WireLease | undefined) => boolean;
  readonly requestTimeoutMs: number;
  /** For all requests together. */
  readonly timeLeft: TimeLeft;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Deletes the node and the Lease that this process has created, at once. The Lease is read before: where another agent lives
 * under the name of the node, as in a rolling update, both are its own by now and stay. Never rejects.
 */
export async function removeNode(request: NodeRemovalRequest): Promise<NodeObjectStopped> {
  const { transport, nodeName: name, createdUIDs, isAnotherAlive, requestTimeoutMs, timeLeft, clock, logger } = request;
  if (createdUIDs.node === undefined && createdUIDs.lease === undefined) return { node: 'notOurs', lease: 'notOurs' };
  const limits = { clock, timeoutMs: requestTimeoutMs, leavesBehind: true };
  // one for each object: what one of them waits for does not hold up the other
  const requests = { node: new NodeRequests(limits), lease: new NodeRequests(limits) };
  const leases = new ResourceClient<WireLease>(transport, resources.leases);
  const ofLease = { namespace: leaseNamespace, name };
  const remove = async (): Promise<NodeObjectStopped> => {
    const read = await readLease((what, send) => requests.lease.call(what, send), leases, ofLease);
    if ('error' in read) {
      logger.warn({ err: read.error, node: name }, 'the Lease could not be read; the Node and the Lease stay');
      return outcomes(createdUIDs, 'failed');
    }
    if (isAnotherAlive(read.lease)) {
      const { holderIdentity, renewTime } = read.lease?.spec ?? {};
      logger.warn({ node: name, holderIdentity, renewTime }, 'another agent has taken over the node, which stays');
      return outcomes(createdUIDs, 'notOurs');
    }
    const { resourceVersion } = read.lease?.metadata ?? {};
    const [lease, node] = await Promise.all([
      removeOwn({ client: leases, target: ofLease, uid: createdUIDs.lease, resourceVersion, requests: requests.lease, logger }),
      removeOwn({
        client: new ResourceClient(transport, resources.nodes),
        target: { name },
        uid: createdUIDs.node,
        requests: requests.node,
        logger,
      }),
    ]);
    return { node, lease };
  };
  const removal = remove();
  if (!(await timeLeft.allows(removal))) for (const each of Object.values(requests)) each.stop();
  return removal;
}

function outcomes(uids: NodeRemovalRequest['createdUIDs'], ours: RemovalOutcome): NodeObjectStopped {
  const outcome = (uid: string | undefined): RemovalOutcome => (uid === undefined ? 'notOurs' : ours);
  return { node: outcome(uids.node), lease: outcome(uids.lease) };
}

async function readLease(
  send: NodeRequests['call'],
  leases: ResourceClient<WireLease>,
  target: ObjectName,
): Promise<{ readonly lease: WireLease | undefined } | { readonly error: unknown }> {
  try {
    return { lease: await send('the read of the Lease', (call: CallOptions) => leases.get(target, call)) };
  } catch (error) {
    return classifyApiError(error) === 'gone' ? { lease: undefined } : { error };
  }
}

interface RemovalRequest<T extends ApiObject> {
  readonly client: ResourceClient<T>;
  readonly target: ObjectName;
  readonly uid: string | undefined;
  /** One that somebody has written since is not deleted. */
  readonly resourceVersion?: string | undefined;
  readonly requests: NodeRequests;
  readonly logger: Logger;
}

/** Deletes one object of ours, by its uid. Never rejects. */
async function removeOwn<T extends ApiObject>(request: RemovalRequest<T>): Promise<RemovalOutcome> {
  const { client, target, uid, resourceVersion, requests, logger } = request;
  const { kind } = client.resource;
  if (uid === undefined) return 'notOurs';
  const preconditions = { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
  try {
    await requests.call(`the deletion of the ${kind}`, (call) => client.delete(target, { ...call, ...preconditions }));
    logger.info({ ...objectFields(kind, target), uid }, 'deleted an object of the node');
    return 'removed';
  } catch (err) {
    const errorClass = classifyApiError(err);
    if (errorClass === 'gone') return 'removed';
    if (errorClass === 'conflict') return 'notOurs';
    logger.warn({ err, errorClass, ...objectFields(kind, target), uid }, 'an object of the node could not be deleted, and stays');
    return 'failed';
  }
}
