import type { ApiObject } from '../client/api-resource.ts';
import { classifyApiError } from '../client/error-class.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import type { CallOptions, ObjectName } from '../client/resource-requests.ts';
import type { Logger } from '../seams/logger.ts';

/** What became of an object that `stop` was to delete. */
export type RemovalOutcome =
  /** Gone, or with finalizers marked as deleted. */
  | 'removed'
  /** This process has not created it, or another one has replaced it: it stays. */
  | 'notOurs'
  /** The server refused, or gave no answer in time; the log says why. */
  | 'failed'
  /** `removeOnStop` is false. */
  | 'kept';

export interface RemovalRequest<T extends ApiObject> {
  readonly client: ResourceClient<T>;
  readonly target: ObjectName;
  /** The uid of what this process has created; nothing else is deleted. */
  readonly uid: string | undefined;
  readonly send: <R>(what: string, send: (call: CallOptions) => Promise<R>) => Promise<R>;
  readonly logger: Logger;
}

/** Deletes one object of ours, by its uid. Never rejects. */
export async function removeOwn<T extends ApiObject>(request: RemovalRequest<T>): Promise<RemovalOutcome> {
  const { client, target, uid, send, logger } = request;
  const { kind } = client.resource;
  if (uid === undefined) return 'notOurs';
  try {
    await send(`the deletion of the ${kind}`, (call) => client.delete(target, { ...call, uid }));
    logger.info({ ...target, uid }, `deleted the ${kind}`);
    return 'removed';
  } catch (err) {
    const errorClass = classifyApiError(err);
    if (errorClass === 'gone') return 'removed';
    if (errorClass === 'conflict') return 'notOurs';
    logger.warn({ err, ...target, uid }, `the ${kind} could not be deleted, and stays`);
    return 'failed';
  }
}
