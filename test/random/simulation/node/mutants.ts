import { isStaticPod, type Pod } from '../../../../src/index.ts';
import type { Prober } from '../../../../src/node/probes/prober.ts';
import type { SyncLoopOptions } from '../../../../src/node/workers/sync-loop-options.ts';
import type { PodSyncer, PodUpdate, PodWorkersOptions, UpdatePodOptions } from '../../../../src/node.ts';
import type { NodeBreakage, NodeParts } from './agent/node-process.ts';
import type { NodeRule } from './rules.ts';

/** A node broken on purpose. */
export interface NodeMutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly NodeRule[];
  readonly breakage: NodeBreakage;
}

const inStep: NodeRule = 'what the server says is what runs';
const grace: NodeRule = 'none outlives its grace';
const cause: NodeRule = 'none is killed without cause';
const twice: NodeRule = 'no pod runs twice';
const told: NodeRule = 'every end that is told has happened';

export const nodeMutants: readonly NodeMutant[] = [
  {
    name: 'the workers drop a kill',
    breaks: [grace, inStep],
    breakage: updating((update) => (isEnding(update) ? [] : [update])),
  },
  {
    name: 'the workers let two lanes run',
    breaks: [twice, grace, 'nothing of an ended pod starts', 'none is killed before its grace is over', told, inStep],
    breakage: { workers: withSecondLane },
  },
  {
    name: 'the workers give a pod that ends more time than it has',
    breaks: [grace, 'a grace period only shrinks'],
    breakage: syncing((syncer) => ({
      syncTerminatingPod: ({ gracePeriodSeconds, ...request }, signal) =>
        syncer.syncTerminatingPod({ ...request, gracePeriodSeconds: 60 + (gracePeriodSeconds ?? 30) }, signal),
    })),
  },
  {
    name: 'the workers give a pod that ends less time than it has',
    breaks: ['none is killed before its grace is over'],
    breakage: syncing((syncer) => ({
      syncTerminatingPod: (request, signal) => syncer.syncTerminatingPod({ ...request, gracePeriodSeconds: 1 }, signal),
    })),
  },
  {
    name: 'the workers take a pod that ends for ended',
    breaks: [
      'none is killed before its grace is over',
      'a pod leaves the server when nothing of it runs',
      grace,
      twice,
      told,
      inStep,
    ],
    breakage: syncing(() => ({ syncTerminatingPod: async () => {} })),
  },
  {
    name: 'static pods of one name do not wait for each other',
    breaks: [twice],
    breakage: {
      ...updating((update) => [
        update.pod !== undefined && isStaticPod(update.pod) ? { ...update, pod: withOwnName(update.pod) } : update,
      ]),
      workers: underTheirNames,
    },
  },
  {
    name: 'the loop looks for no orphans of the runtime',
    breaks: [grace, inStep],
    breakage: { loop: ({ runtime: _without, ...options }) => options },
  },
  {
    name: 'the loop does not wait for its sources',
    breaks: [cause],
    breakage: {
      loop: ({ config, ...options }) => ({ ...options, config: { updates: () => config.updates(), seenAllSources: () => true } }),
    },
  },
  {
    name: 'the config loses a REMOVE',
    breaks: [grace, inStep],
    breakage: { loop: withoutRemoves },
  },
  {
    name: 'the status manager is told too early that nothing runs',
    breaks: ['a pod leaves the server when nothing of it runs', 'what is told to have ended runs no more'],
    breakage: { safety: () => ({ podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true }) },
  },
  {
    name: 'an agent that begins does not see what runs already',
    breaks: [
      inStep,
      grace,
      told,
      'an ended pod stays ended',
      'a restart count never goes back',
      'what is told to have ended runs no more',
      'a pod leaves the server when nothing of it runs',
      'nothing of an ended pod starts',
    ],
    breakage: { workers: notAdopting },
  },
  {
    name: 'the probes of a pod that has ended go on',
    breaks: ['nothing is probed that has ended'],
    breakage: { prober: goingOn },
  },
  {
    name: 'a healthy container is restarted',
    breaks: [cause],
    breakage: {
      probes: (probes) => ({
        addPod: (pod) => probes.addPod(pod),
        removePod: (pod) => probes.removePod(pod),
        stopLivenessAndStartup: (pod) => probes.stopLivenessAndStartup(pod),
        result: (type, id) => (id.endsWith('7') ? 'Failure' : probes.result(type, id)),
        containerState: (pod, container) => probes.containerState(pod, container),
      }),
    },
  },
  {
    name: 'another exit code is told',
    breaks: [told],
    breakage: {
      workers: (options) => ({ ...options, runtimeStatusCache: withOtherExitCodes(options.runtimeStatusCache) }),
    },
  },
  {
    name: 'the loop goes on after stop',
    breaks: ['nothing is called after stop', 'nothing is left after stop'],
    breakage: { keepsLoop: true },
  },
];

/** The agent whose workers get other updates than the loop sends. */
function updating(change: (update: UpdatePodOptions) => readonly UpdatePodOptions[]): NodeBreakage {
  return {
    loop: ({ podWorkers, ...options }) => ({
      ...options,
      podWorkers: {
        updatePod: (update) => {
          for (const one of change(update)) podWorkers.updatePod(one);
        },
        syncKnownPods: (desired) => podWorkers.syncKnownPods(desired),
        isPodTerminationRequested: (podUID) => podWorkers.isPodTerminationRequested(podUID),
        isPodKnownTerminated: (podUID) => podWorkers.isPodKnownTerminated(podUID),
      },
    }),
  };
}

/** The agent some of whose syncer's methods are others. */
function syncing(change: (syncer: PodSyncer) => Partial<PodSyncer>): NodeBreakage {
  return {
    workers: ({ podSyncer, ...options }) => ({ ...options, podSyncer: { ...methodsOf(podSyncer), ...change(podSyncer) } }),
  };
}

function methodsOf(syncer: PodSyncer): PodSyncer {
  return {
    syncPod: (request, signal) => syncer.syncPod(request, signal),
    syncTerminatingPod: (request, signal) => syncer.syncTerminatingPod(request, signal),
    syncTerminatingRuntimePod: (pod, signal) => syncer.syncTerminatingRuntimePod(pod, signal),
    syncTerminatedPod: (request, signal) => syncer.syncTerminatedPod(request, signal),
  };
}

function isEnding({ updateType, pod }: UpdatePodOptions): boolean {
  return updateType === 'kill' || pod?.metadata?.deletionTimestamp != null;
}

/** While a pod ends, it is synced once more. */
function withSecondLane({ podSyncer, ...options }: PodWorkersOptions): PodWorkersOptions {
  const methods = methodsOf(podSyncer);
  const syncTerminatingPod: PodSyncer['syncTerminatingPod'] = async (request, signal) => {
    await methods.syncTerminatingPod(request, signal);
    const { pod } = request;
    const runtimeStatus = {
      ...request.runtimeStatus,
      sandboxes: [...request.runtimeStatus.sandboxes].map(() => ({ ready: false })),
    };
    const containers = runtimeStatus.containers.map((each) => ({ ...each, state: 'exited' as const, exitCode: 1 }));
    await methods
      .syncPod({ pod, runtimeStatus: { ...runtimeStatus, containers }, updateType: 'sync', mirrorPod: undefined }, signal)
      .catch(() => {});
  };
  return { ...options, podSyncer: { ...methods, syncTerminatingPod } };
}

function withOwnName(pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, name: `${pod.metadata?.name}-${pod.metadata?.uid}` } };
}

/** The syncer gets the pods under the names that they have. */
function underTheirNames({ podSyncer, ...options }: PodWorkersOptions): PodWorkersOptions {
  const named = <T extends { readonly pod: Pod }>(request: T): T => {
    const { pod } = request;
    const name = pod.metadata?.name?.replace(`-${pod.metadata.uid}`, '') ?? '';
    return { ...request, pod: { ...pod, metadata: { ...pod.metadata, name } } };
  };
  const methods = methodsOf(podSyncer);
  const syncer: PodSyncer = {
    ...methods,
    syncPod: (request, signal) => methods.syncPod(named(request), signal),
    syncTerminatingPod: (request, signal) => methods.syncTerminatingPod(named(request), signal),
    syncTerminatedPod: (request, signal) => methods.syncTerminatedPod(named(request), signal),
  };
  return { ...options, podSyncer: syncer };
}

function withoutRemoves({ config, ...options }: SyncLoopOptions): SyncLoopOptions {
  async function* updates(): AsyncGenerator<PodUpdate> {
    const all = config.updates();
    for (let step = await all.next(); !step.done; step = await all.next()) if (step.value.op !== 'REMOVE') yield step.value;
  }
  return { ...options, config: { updates, seenAllSources: (seen) => config.seenAllSources(seen) } };
}

/** What has been probed once is probed again and again. */
function goingOn(prober: Prober, { prober: { clock }, lifeline }: NodeParts): Prober {
  const probed = new Set<string>();
  const exec: Prober['exec'] = (target, signal) => {
    const again = (): void => {
      if (!lifeline.isAlive) return;
      prober.exec(target, new AbortController().signal).catch(() => {});
      clock.schedule(again, 5000);
    };
    if (!probed.has(target.containerID)) clock.schedule(again, 5000);
    probed.add(target.containerID);
    return prober.exec(target, signal);
  };
  return { ...prober, exec };
}

function notAdopting({ runtimeStatusCache, ...options }: PodWorkersOptions, { clock }: NodeParts): PodWorkersOptions {
  const beganAt = clock.now();
  const own = <T extends { readonly containers: readonly { readonly startedAt?: number }[] }>(status: T): T => ({
    ...status,
    containers: status.containers.filter(({ startedAt = 0 }) => startedAt >= beganAt),
  });
  return {
    ...options,
    runtimeStatusCache: {
      get: (podUID) => own(runtimeStatusCache.get(podUID)),
      getNewerThan: async (podUID, time, signal) => own(await runtimeStatusCache.getNewerThan(podUID, time, signal)),
    },
  };
}

function withOtherExitCodes(cache: PodWorkersOptions['runtimeStatusCache']): PodWorkersOptions['runtimeStatusCache'] {
  const changed = <T extends { readonly containers: readonly { readonly exitCode?: number }[] }>(status: T): T => ({
    ...status,
    containers: status.containers.map((each) => (each.exitCode === 0 ? { ...each, exitCode: 3 } : each)),
  });
  return {
    get: (podUID) => changed(cache.get(podUID)),
    getNewerThan: async (podUID, time, signal) => changed(await cache.getNewerThan(podUID, time, signal)),
  };
}
