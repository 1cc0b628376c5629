import {
  ApiError,
  type PodClient,
  type PodDeletionSafety,
  type PodStatusPatch,
  type RequestOptions,
  type StatusManagerOptions,
} from '../../../src/index.ts';
import type { Rule } from './rules.ts';
import { agentsTypes } from './said/plain-status.ts';
import type { Manager } from './said/voice.ts';

type Options = Omit<StatusManagerOptions, 'podClient' | 'podManager' | 'podDeletionSafety' | 'clock' | 'logger'>;

/**
 * A manager broken on purpose, from outside: something stands between it and its client, or between it and the agent, or
 * an option is wrong. Simulation and fault suite must catch every one of them.
 */
export interface Mutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly Rule[];
  readonly client?: (client: PodClient) => PodClient;
  readonly manager?: (manager: Manager) => Manager;
  readonly options?: Partial<Options>;
  readonly safety?: Partial<PodDeletionSafety>;
  /** Its damage shows only where the pod manager offers no subscription. */
  readonly withoutSubscription?: boolean;
}

type Fields = Record<string, unknown>;
type Body = { readonly metadata?: Fields; readonly status?: Fields };

const strategic = { patchFormat: 'strategic' } as const;
const whole: Rule = 'what lands is what the agent said';
const order: Rule = 'nothing older lands after something newer';

/** Each patch is changed on its way out. */
const wireMutants: readonly Mutant[] = [
  {
    name: 'a patch carries no resourceVersion',
    // the newest status over a copy that is older is a mixture of both
    breaks: [order, whole],
    options: strategic,
    client: patching(({ metadata: { resourceVersion: _, ...metadata } = {}, ...body }) => ({ ...body, metadata })),
  },
  {
    name: 'a patch goes to the pod that has the name now',
    breaks: ['no other pod is touched', order, whole],
    options: strategic,
    client: (client) => ({
      ...bound(client),
      patchPodStatus: async (namespace, name, { type, body }, options) => {
        const { uid, resourceVersion } = (await client.getPod(namespace, name, options)).metadata ?? {};
        const patch: PodStatusPatch = { type, body: { ...(body as Body), metadata: { uid, resourceVersion } } };
        return client.patchPodStatus(namespace, name, patch, options);
      },
    }),
  },
  {
    name: 'a patch carries no uid',
    breaks: ['every write names its pod'],
    options: strategic,
    client: patching(({ metadata: { uid: _, ...metadata } = {}, ...body }) => ({ ...body, metadata })),
  },
  {
    name: 'a patch carries neither uid nor resourceVersion',
    breaks: ['every write names its pod'],
    options: strategic,
    client: patching(({ status }) => (status === undefined ? {} : { status })),
  },
  {
    name: 'conditions are replaced as a whole',
    // the agent’s own that a patch does not carry are lost as well
    breaks: ['no other writer’s data is touched', whole],
    options: strategic,
    client: patching(({ status = {}, ...body }) => ({ ...body, status: withReplacedConditions(status) })),
  },
  {
    name: 'conditions of others are taken away',
    breaks: ['no other writer’s data is touched'],
    options: strategic,
    client: patching(({ status = {}, ...body }) => ({ ...body, status: withoutForeignConditions(status) })),
  },
  changing('a restart count is wrong', 'containerStatuses', ([first, ...rest]) =>
    first === undefined ? [] : [{ ...first, restartCount: Number(first.restartCount) + 1 }, ...rest],
  ),
  changing('a last state is lost', 'containerStatuses', (containers) => containers.map((c) => ({ ...c, lastState: {} }))),
  changing('the message of a container is lost', 'containerStatuses', (containers) =>
    containers.map((container) => ({ ...container, state: withoutMessage(container.state as Fields) })),
  ),
  changing('an init container is lost', 'initContainerStatuses', (containers) => containers.slice(1)),
  changing('an init container’s readiness is lost', 'initContainerStatuses', (containers) =>
    containers.map((container) => ({ ...container, ready: false })),
  ),
  changing('a second address is lost', 'podIPs', (addresses) =>
    addresses.filter(({ ip, $patch }) => $patch || !`${ip}`.includes(':')),
  ),
  changing('a condition’s transition time is moved', 'conditions', (conditions) =>
    conditions.map((condition) => ({ ...condition, ...later(condition.lastTransitionTime) })),
  ),
  changing('the message of a condition is lost', 'conditions', (conditions) =>
    conditions.map((condition) => (condition.type === 'Ready' ? { ...condition, message: null } : condition)),
  ),
  {
    name: 'the reason of a failure is lost',
    breaks: [whole],
    options: strategic,
    client: patching(({ status: { reason: _, ...status } = {}, ...body }) => ({ ...body, status })),
  },
  {
    name: 'a start time is moved',
    breaks: [whole],
    options: strategic,
    client: patching(({ status = {}, ...body }) => ({ ...body, status: { ...status, startTime: '2001-01-01T00:00:00Z' } })),
  },
  { name: 'a stale version is written last', breaks: [order, whole], options: strategic, client: writingStaleOnes },
  {
    name: 'a delete carries no uid',
    breaks: ['every write names its pod'],
    client: (client) => ({
      ...bound(client),
      // a precondition without a uid holds for every pod
      deletePod: (namespace, name, options) =>
        client.deletePod(namespace, name, { ...options, uid: undefined as unknown as string }),
    }),
  },
];

/** Something the manager must do is not done, or too early. */
const otherMutants: readonly Mutant[] = [
  {
    name: 'readiness is ignored',
    // a later version of the status shows, too, that it was not heard
    breaks: ['everything is brought up to date', 'flush resolves when everything is there', whole],
    manager: (manager) => ({ ...boundManager(manager), setContainerReadiness: () => true }),
  },
  {
    name: 'startup is ignored',
    breaks: ['everything is brought up to date', 'flush resolves when everything is there', whole],
    manager: (manager) => ({ ...boundManager(manager), setContainerStartup: () => true }),
  },
  {
    name: 'the end of a pod is not heard',
    breaks: ['everything is brought up to date', 'what is over is deleted', 'flush resolves when everything is there'],
    options: { terminateWhenReclaimed: false },
    manager: (manager) => ({ ...boundManager(manager), terminatePod: () => true }),
  },
  {
    name: 'nothing is tried again',
    breaks: ['everything is brought up to date', 'flush settles'],
    client: postponing,
  },
  {
    name: 'an aborted request is given up before it has settled',
    breaks: ['one write of a pod at a time', 'nothing is left after stop', 'requests in flight are bounded'],
    client: hasty,
  },
  {
    name: 'the deletion safety is not asked whether containers could run',
    breaks: ['no terminal phase while containers could run'],
    safety: { podCouldHaveRunningContainers: () => false },
  },
  {
    name: 'the deletion safety is not asked whether resources are reclaimed',
    breaks: ['only what has ended is deleted'],
    safety: { podResourcesAreReclaimed: () => true },
  },
  {
    name: 'pods are not looked at again',
    breaks: ['everything is brought up to date', 'the status of a pod that is gone goes by itself'],
    options: { syncPeriodMs: 2 ** 31 - 1 },
    withoutSubscription: true,
  },
  {
    name: 'failed patches count as done',
    breaks: ['flush resolves when everything is there', 'everything is brought up to date', 'only what has ended is deleted'],
    client: (client) => ({
      ...bound(client),
      patchPodStatus: (...request) => client.patchPodStatus(...request).catch(() => ({ uid: '', resourceVersion: '' })),
    }),
  },
];

export const mutants: readonly Mutant[] = [...wireMutants, ...otherMutants];

function bound(client: PodClient): PodClient {
  return {
    getPod: (...request) => client.getPod(...request),
    patchPodStatus: (...request) => client.patchPodStatus(...request),
    deletePod: (...request) => client.deletePod(...request),
  };
}

function boundManager(manager: Manager): Manager {
  return {
    setPodStatus: (...said) => manager.setPodStatus(...said),
    setContainerReadiness: (...said) => manager.setContainerReadiness(...said),
    setContainerStartup: (...said) => manager.setContainerStartup(...said),
    terminatePod: (pod) => manager.terminatePod(pod),
    getPodStatus: (uid) => manager.getPodStatus(uid),
  };
}

function patching(change: (body: Body) => Body): (client: PodClient) => PodClient {
  return (client) => ({
    ...bound(client),
    patchPodStatus: (namespace, name, { type, body }, options) => {
      const patch: PodStatusPatch = { type, body: change(structuredClone(body as Body)) };
      return client.patchPodStatus(namespace, name, patch, options);
    },
  });
}

/** A mutant that changes one list of the status wherever a patch carries it. */
function changing(name: string, list: string, change: (items: readonly Fields[]) => readonly Fields[]): Mutant {
  const client = patching(({ status = {}, ...body }) => {
    const items = status[list];
    return { ...body, status: Array.isArray(items) ? { ...status, [list]: change(items) } : status };
  });
  return { name, breaks: [whole], options: strategic, client };
}

function withoutMessage(state: Fields): Fields {
  const { terminated } = state;
  return typeof terminated === 'object' && terminated !== null ? { terminated: { ...terminated, message: undefined } } : state;
}

function later(time: unknown): Fields {
  return typeof time === 'string' ? { lastTransitionTime: new Date(Date.parse(time) + 1000).toISOString() } : {};
}

function withReplacedConditions({ '$setElementOrder/conditions': _, ...status }: Fields): Fields {
  const { conditions } = status;
  if (!Array.isArray(conditions)) return status;
  const own = conditions.filter(({ $patch, type }) => $patch === undefined && type !== undefined);
  return { ...status, conditions: [{ $patch: 'replace' }, ...own] };
}

function withoutForeignConditions(status: Fields): Fields {
  const { conditions = [], '$setElementOrder/conditions': order } = status as Record<string, readonly Fields[] | undefined>;
  const foreign = (order ?? []).filter(({ type }) => !agentsTypes.has(`${type}`));
  return { ...status, conditions: [...conditions, ...foreign.map(({ type }) => ({ type, $patch: 'delete' }))] };
}

/** After each write the one before it is sent once more, without the version it was made for. */
function writingStaleOnes(client: PodClient): PodClient {
  const last = new Map<unknown, PodStatusPatch>();
  return {
    ...bound(client),
    patchPodStatus: async (namespace, name, patch, options) => {
      const { metadata: { uid } = {}, status } = patch.body as Body;
      const answer = await client.patchPodStatus(namespace, name, patch, options);
      const stale = last.get(uid);
      last.set(uid, { type: patch.type, body: { metadata: { uid }, ...(status === undefined ? {} : { status }) } });
      return stale === undefined ? answer : client.patchPodStatus(namespace, name, stale, options);
    },
  };
}

/** Every refusal asks for the longest wait there is, which ends after the run does. */
function postponing(client: PodClient): PodClient {
  const later = (error: unknown): never => {
    if (!(error instanceof ApiError) || [400, 404, 409, 413, 415, 422].includes(error.status ?? 0)) throw error;
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
