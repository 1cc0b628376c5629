// Volumes are measured in the background as by pkg/kubelet/server/stats/volume_stat_calculator.go, v1.36.3.

import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { WakeableWait } from '../../base/concurrency/timers.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { added, nothing, type TreeSize, treeSize } from '../../node/files/tree-size.ts';
import { hasStorageLimit } from './read-usage.ts';
import type { PodFiles } from './usage.ts';

export interface PodFileCounterOptions {
  /** The pods whose files are counted. */
  readonly pods: () => readonly Pod[];
  readonly treesOf: (pod: Pod) => readonly PodTree[];
  /** Yields what it has counted so far again and again, and returns the sum. */
  readonly count: (tree: PodTree, signal: AbortSignal) => AsyncGenerator<TreeSize, TreeSize, void>;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** One look at all files of a pod. */
interface Walk {
  /** How often somebody had asked for new looks when this one began. */
  readonly order: number;
  /** Those that are still to be counted, the last one first. */
  readonly trees: PodTree[];
  readonly counted: Set<string>;
  current: { readonly tree: PodTree; readonly count: AsyncGenerator<TreeSize, TreeSize, void> } | undefined;
}

interface CountedPod {
  pod: Pod;
  /** Of each tree the last sum, or what was seen of it since where that is more. */
  readonly sizes: Map<string, { readonly tree: PodTree; readonly size: TreeSize }>;
  walk: Walk | undefined;
  /** When something of it was counted last, in milliseconds since the epoch. */
  countedAt: number;
  /** When the next look begins, by the clock's elapsed time. */
  dueAt: number;
}

/** Somebody who waits until each of these pods was looked at anew. */
interface Waiter {
  readonly order: number;
  readonly podUIDs: Set<string>;
  readonly resolve: () => void;
}

/** After so much of one pod's files it is the turn of the next pod. */
const treesPerStep = 50;
/** How long nothing is counted after a step through many files, so that counting never takes all of a processor. */
const pauseMs = 20;
/** How often new pods are looked for. */
const lookMs = 10_000;
/** How long after one look at a pod's files the next one begins. */
const restMs = { ofLimited: 10_000, ofOthers: 60_000 };

/**
 * Counts in the background what pods keep on the disk, some files of one pod after some of another: a pod with millions of files
 * delays nobody else's count for longer than its own turns take. Whoever asks gets what is known by then.
 */
export class PodFileCounter {
  readonly #options: PodFileCounterOptions;
  readonly #clock: SteadyClock;
  readonly #pods = new Map<string, CountedPod>();
  readonly #waiters = new Set<Waiter>();
  readonly #stopping = new AbortController();
  /** Until pods are to be counted; somebody who wants new numbers ends it. */
  readonly #rest: WakeableWait;
  #order = 0;
  #run: Promise<void> = Promise.resolve();

  constructor(options: PodFileCounterOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#rest = new WakeableWait({ clock: this.#clock, logger: options.logger, keepAlive: true });
  }

  start(): void {
    this.#run = this.#countOnAndOn();
  }

  /** Resolves once no file is looked at. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#rest.close();
    await this.#run;
    for (const podUID of this.#pods.keys()) await this.#forget(podUID);
    for (const { resolve } of this.#waiters) resolve();
  }

  /** What is known of the pod's files; undefined where nothing is. Of a tree that is being counted for the first time: what was seen. */
  filesOf(podUID: string): PodFiles | undefined {
    const counted = this.#pods.get(podUID);
    if (counted === undefined || counted.sizes.size === 0) return undefined;
    const byPart = Map.groupBy(counted.sizes.values(), ({ tree }) => tree.part);
    const named = (part: PodTree['part']): Record<string, TreeSize> =>
      Object.fromEntries((byPart.get(part) ?? []).map(({ tree, size }) => [tree.name, size]));
    const others = (byPart.get('others') ?? []).reduce((sum, { size }) => added(sum, size), nothing);
    return { volumes: named('volumes'), memoryVolumes: named('memoryVolumes'), logs: named('logs'), others };
  }

  /** When something of the pod's files was counted last, in milliseconds since the epoch; 0 where nothing was. */
  countedAt(podUID: string): number {
    return this.#pods.get(podUID)?.countedAt ?? 0;
  }

  /** Has the files of all pods counted now. Resolves once each was looked at from now on; rejects with the signal's reason. */
  async freshen(signal: AbortSignal): Promise<void> {
    this.#order += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const podUIDs = new Set(this.#options.pods().map(podUIDOf));
    const waiter: Waiter = { order: this.#order, podUIDs, resolve };
    this.#waiters.add(waiter);
    for (const counted of this.#pods.values()) counted.dueAt = 0;
    this.#rest.wake();
    try {
      await untilAborted(promise, signal);
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  async #countOnAndOn(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#noteChanges();
      for (const podUID of [...this.#pods.keys()]) if (!signal.aborted) await this.#step(podUID);
      const dueAt = Math.min(...Array.from(this.#pods.values(), (counted) => (counted.walk ? 0 : counted.dueAt)));
      const leftMs = Math.min(lookMs, dueAt - this.#clock.elapsed());
      if (leftMs > 0) await this.#rest.wait(leftMs);
    }
  }

  async #noteChanges(): Promise<void> {
    const pods = new Map(this.#options.pods().map((pod) => [podUIDOf(pod), pod]));
    for (const podUID of this.#pods.keys()) if (!pods.has(podUID)) await this.#forget(podUID);
    for (const [podUID, pod] of pods) {
      const counted = this.#pods.get(podUID);
      if (counted !== undefined) counted.pod = pod;
      else this.#pods.set(podUID, { pod, sizes: new Map(), walk: undefined, countedAt: 0, dueAt: 0 });
    }
    for (const waiter of this.#waiters) settle(waiter, (podUID) => !pods.has(podUID));
  }

  /** Counts some of the pod's files, if that is due. */
  async #step(podUID: string): Promise<void> {
    const counted = this.#pods.get(podUID);
    if (counted === undefined) return;
    if (counted.walk === undefined) {
      if (counted.dueAt > this.#clock.elapsed()) return;
      const trees = this.#options.treesOf(counted.pod).toReversed();
      counted.walk = { order: this.#order, trees, counted: new Set(), current: undefined };
    }
    for (let trees = 0; trees < treesPerStep; trees += 1) {
      if (!(await this.#countTree(counted, counted.walk))) break;
      if (counted.walk.trees.length > 0) continue;
      this.#finish(podUID, counted, counted.walk);
      return;
    }
    await sleep(this.#clock, pauseMs, this.#stopping.signal);
  }

  /** True when a tree has been counted as a whole, or cannot be. */
  async #countTree(counted: CountedPod, walk: Walk): Promise<boolean> {
    const { pod, sizes } = counted;
    const { count, logger } = this.#options;
    const tree = walk.current?.tree ?? walk.trees.at(-1);
    if (tree === undefined) return true;
    walk.current ??= { tree, count: count(tree, this.#stopping.signal) };
    const key = `${tree.part}/${tree.name}`;
    try {
      const { value: size, done } = await walk.current.count.next();
      counted.countedAt = this.#clock.now();
      const before = sizes.get(key)?.size;
      if (done || before === undefined || before.bytes + before.inodes < size.bytes + size.inodes) sizes.set(key, { tree, size });
      if (!done) return false;
    } catch (err) {
      if (!this.#stopping.signal.aborted)
        logger.warn({ err, ...podFields(pod.metadata), name: tree.name }, 'files of a pod could not be counted');
    }
    walk.counted.add(key);
    walk.trees.pop();
    walk.current = undefined;
    return true;
  }

  #finish(podUID: string, counted: CountedPod, { order, counted: keys }: Walk): void {
    counted.walk = undefined;
    for (const key of counted.sizes.keys()) if (!keys.has(key)) counted.sizes.delete(key);
    const rest = hasStorageLimit(counted.pod) ? restMs.ofLimited : restMs.ofOthers;
    // somebody has asked since: those files may have been counted before
    counted.dueAt = order < this.#order ? 0 : this.#clock.elapsed() + rest;
    for (const waiter of this.#waiters) if (waiter.order <= order) settle(waiter, (uid) => uid === podUID);
  }

  /** Also closes the folders of a look that is under way. */
  async #forget(podUID: string): Promise<void> {
    const walk = this.#pods.get(podUID)?.walk;
    this.#pods.delete(podUID);
    await walk?.current?.count.return(nothing);
  }
}

function settle({ podUIDs, resolve }: Waiter, isSettled: (podUID: string) => boolean): void {
  for (const podUID of podUIDs) if (isSettled(podUID)) podUIDs.delete(podUID);
  if (podUIDs.size === 0) resolve();
}

// Behaviour of localVolumeNames in pkg/kubelet/eviction/helpers.go, v1.36.3; the files of `others` the kubelet does not count.

/** Where the files of a pod are. */
export interface PodPaths {
  /** The agent's root directory. */
  readonly rootDirectory: string;
  /** Where the logs of containers are. */
  readonly podLogsDirectory: string;
}

/** One folder or file of a pod, and which part of its files it is. */
interface PodTree {
  readonly part: keyof PodFiles;
  /** Of the volume or the container. */
  readonly name: string;
  readonly path: string;
}

/** All that a pod can fill on its node, but the own file systems of its containers, which the runtime measures. */
export function podTrees({ metadata, spec }: Pod, { rootDirectory, podLogsDirectory }: PodPaths): PodTree[] {
  const { uid = '', name = '', namespace = '' } = metadata ?? {};
  const pod = join(rootDirectory, 'pods', uid);
  const logs = join(podLogsDirectory, `${namespace}_${name}_${uid}`);
  const volumes = (spec?.volumes ?? []).flatMap(({ name: volume, emptyDir, configMap }): PodTree[] => {
    const path = (type: string): string => join(pod, 'volumes', type, volume);
    if (configMap) return [{ part: 'volumes', name: volume, path: path('kubernetes.io~configmap') }];
    if (!emptyDir) return [];
    const part = emptyDir.medium ? 'memoryVolumes' : 'volumes';
    return [{ part, name: volume, path: path('kubernetes.io~empty-dir') }];
  });
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return [
    { part: 'others', name: 'containers', path: join(pod, 'containers') },
    { part: 'others', name: 'etc-hosts', path: join(pod, 'etc-hosts') },
    ...containers.map(({ name: container }): PodTree => ({ part: 'logs', name: container, path: join(logs, container) })),
    ...volumes,
  ];
}

/** As {@link treeSize}. A file system of its own in memory is asked for its sum: what is open in it could not be unmounted. */
export async function* podTreeSize({ part, path }: PodTree, signal: AbortSignal): AsyncGenerator<TreeSize, TreeSize, void> {
  if (part === 'memoryVolumes') {
    const [own, parent] = await Promise.all([stat(path), stat(dirname(path))]).catch(() => []);
    if (own !== undefined && own.dev !== parent?.dev) {
      const { blocks, bfree, bsize, files, ffree } = await statfs(path);
      return { bytes: (blocks - bfree) * bsize, inodes: files - ffree };
    }
  }
  return yield* treeSize(path, signal);
}
