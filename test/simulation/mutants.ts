import {
  ApiError,
  type PodClient,
  type PodDeletionSafety,
  type PodMetadata,
  type PodStatusPatch,
  type RequestOptions,
} from '../../src/index.ts';
import type { ManagerTuning } from './world.ts';

/** A manager broken on purpose, from outside. The checker must catch every one of them. */
export interface Mutant {
  readonly name: string;
  /** The rule expected to catch it, or one of several. */
  readonly rules: readonly string[];
  readonly client?: (client: PodClient) => PodClient;
  readonly tuning?: Partial<ManagerTuning>;
  readonly safety?: Partial<PodDeletionSafety>;
}

type Body = { metadata?: Record<string, unknown>; status?: Record<string, unknown> };

const strategic: Partial<ManagerTuning> = { patchFormat: 'strategic' };

export const mutants: readonly Mutant[] = [
  {
    name: 'a patch carries no resourceVersion',
    rules: ['nothing older lands after something newer'],
    tuning: strategic,
    client: patching(({ metadata: { resourceVersion: _, ...metadata } = {}, ...body }) => ({ ...body, metadata })),
  },
  {
    name: 'a patch carries no uid',
    rules: ['every write names its pod'],
    tuning: strategic,
    client: patching(({ metadata: { uid: _, ...metadata } = {}, ...body }) => ({ ...body, metadata })),
  },
  {
    name: 'a patch carries neither uid nor resourceVersion',
    rules: ['every write names its pod', 'nothing older lands after something newer', 'no other pod is touched'],
    tuning: strategic,
    client: patching(({ status }) => (status === undefined ? {} : { status })),
  },
  {
    name: 'conditions are replaced as a whole',
    rules: ['no other writer’s data is touched'],
    tuning: strategic,
    client: patching(({ status, ...body }) => ({ ...body, status: withReplacedConditions(status) })),
  },
  {
    name: 'a delete carries no uid',
    rules: ['every write names its pod', 'only what has ended is deleted'],
    client: (client) => ({
      ...bound(client),
      deletePod: (namespace, name, options) => client.deletePod(namespace, name, { ...options, uid: '' }),
    }),
  },
  {
    name: 'nothing is tried again',
    rules: ['everything is brought up to date', 'flush settles'],
    client: postponing,
  },
  {
    name: 'an aborted request is given up before it has settled',
    rules: ['one write of a pod at a time', 'nothing is left after stop', 'requests in flight are bounded'],
    client: hasty,
  },
  {
    name: 'nobody is asked whether containers could run',
    rules: ['no terminal phase while containers could run'],
    safety: { podCouldHaveRunningContainers: () => false },
  },
  {
    name: 'nobody is asked whether resources are reclaimed',
    rules: ['only what has ended is deleted'],
    safety: { podResourcesAreReclaimed: () => true },
  },
  {
    name: 'pods are not looked at again',
    rules: ['everything is brought up to date'],
    tuning: { syncPeriodMs: 2 ** 31 - 1 },
  },
  {
    name: 'failed patches count as done',
    rules: ['flush resolves when everything is there', 'everything is brought up to date', 'only what has ended is deleted'],
    client: (client) => ({
      ...bound(client),
      patchPodStatus: (namespace, name, patch, options) =>
        client.patchPodStatus(namespace, name, patch, options).catch((): PodMetadata => ({ uid: '', resourceVersion: '' })),
    }),
  },
];

function bound(client: PodClient): PodClient {
  return {
    getPod: (...request) => client.getPod(...request),
    patchPodStatus: (...request) => client.patchPodStatus(...request),
    deletePod: (...request) => client.deletePod(...request),
  };
}

function patching(change: (body: Body) => Body): (client: PodClient) => PodClient {
  return (client) => ({
    ...bound(client),
    patchPodStatus: (namespace, name, { type, body }: PodStatusPatch, options) =>
      client.patchPodStatus(namespace, name, { type, body: change(body as Body) }, options),
  });
}

function withReplacedConditions(all: Record<string, unknown> = {}): Record<string, unknown> {
  const { '$setElementOrder/conditions': _, ...status } = all;
  const { conditions } = status;
  return Array.isArray(conditions) ? { ...status, conditions: [...conditions, { $patch: 'replace' }] } : status;
}

/** Every failure of the server asks for the longest wait there is: longer than the end of the faults is away. */
function postponing(client: PodClient): PodClient {
  const later = (error: unknown): never => {
    if (!(error instanceof ApiError) || (error.status ?? 500) < 500) throw error;
    const { status, reason, message } = error;
    throw new ApiError({ status, reason, message, retryAfterMs: 300_000 });
  };
  return {
    getPod: (...request) => client.getPod(...request).catch(later),
    patchPodStatus: (...request) => client.patchPodStatus(...request).catch(later),
    deletePod: (...request) => client.deletePod(...request).catch(later),
  };
}

/** Rejects at once when the signal aborts, though the request is still on its way. */
function hasty(client: PodClient): PodClient {
  const orAborted = <T>({ signal }: RequestOptions, answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      answer.then(resolve, reject);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  return {
    getPod: (namespace, name, options) => orAborted(options, client.getPod(namespace, name, options)),
    patchPodStatus: (namespace, name, patch, options) =>
      orAborted(options, client.patchPodStatus(namespace, name, patch, options)),
    deletePod: (namespace, name, options) => orAborted(options, client.deletePod(namespace, name, options)),
  };
}
