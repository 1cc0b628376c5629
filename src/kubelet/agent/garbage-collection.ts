import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodWorkers } from '../../node/workers/pod-workers.ts';
import type { SyncLoop } from '../../node/workers/sync-loop.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import { EvictionManager } from '../eviction/eviction-manager.ts';
import { ImageCollection } from '../eviction/image-collection.ts';
import { PodFileCounter, podTreeSize, podTrees } from '../eviction/pod-file-counter.ts';
import {
  hasStorageLimit,
  podsMemory,
  readMemory,
  readNodeUsage,
  readPodUsages,
  type UsagePaths,
} from '../eviction/read-usage.ts';
import type { NodeShortage } from '../eviction/threshold-watch.ts';
import { type Reclaimable, signalKinds, thresholdsOf } from '../eviction/thresholds.ts';
import type { NodeUsage, Supply } from '../eviction/usage.ts';
import { ImageCollector } from '../images/image-collector.ts';
import type { ImagePuller } from '../images/image-puller.ts';
import { type CollectRequest, ContainerCollector } from '../pods/container-collector.ts';
import type { CountedFiles } from '../server/node-stats.ts';
import type { AgentNode } from './agent-node.ts';
import { enforcementsOf } from './limit-settings.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface GarbageCollectionOptions {
  readonly eventRecorder: Required<EventRecorder>;
  /** The pods that are not over, with what they have been given. */
  readonly activePods: () => readonly Pod[];
  readonly podWorkers: Pick<
    PodWorkers,
    'killPodNow' | 'shouldPodContentBeRemoved' | 'shouldPodRuntimeBeRemoved' | 'shouldPodBeFinished'
  >;
  readonly loop: Pick<SyncLoop, 'sourcesReady'>;
  readonly imageManager: Pick<ImagePuller, 'forgetImages'>;
  readonly cgroups: Pick<PodCgroups, 'usage'>;
  /** Says what all pods together may use, and is told when what runs short on the node has changed. */
  readonly node: Pick<AgentNode, 'forPods' | 'object'>;
}

/** How often containers are looked at that have ended. */
const collectPeriodMs = 60_000;
/** The images of the runtime may lie on another disk than the agent's folder. */
const imagefsPatienceMs = 60_000;
const imagefsLimitMs = 10_000;

/** Keeps the node from running full: ended containers, unused images, and in the end pods have to go. */
export class GarbageCollection {
  /** Removes containers that have ended, and log files. */
  readonly containers: ContainerCollector;
  readonly #agent: ResolvedAgentOptions;
  readonly #options: GarbageCollectionOptions;
  readonly #evictionManager: EvictionManager;
  readonly #images: ImageCollection;
  readonly #files: PodFileCounter;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  #paths: RuntimePaths | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(agent: ResolvedAgentOptions, options: GarbageCollectionOptions) {
    this.#agent = agent;
    this.#options = options;
    const { settings, given, clock, logger } = agent;
    const { runtime } = given;
    this.#failures = new FailureRun(clock, (ended) => logger.info(ended, 'ended containers can be removed again'));
    this.containers = new ContainerCollector({ runtime, podLogsDirectory: settings.podLogsDirectory, clock, logger });
    this.#images = new ImageCollection({
      images: new ImageCollector({ runtime, clock }),
      usedByVolumes: () => new Set(options.activePods().flatMap(imagesOfVolumes)),
      readImagefs: async () => (await this.#readNode()).imagefs,
      afterLook: (signal) =>
        options.imageManager.forgetImages(async () => new Set((await runtime.listImages({ signal })).map(({ id }) => id))),
      highThresholdPercent: settings.imageGCHighThresholdPercent,
      lowThresholdPercent: settings.imageGCLowThresholdPercent,
      minAgeMs: settings.imageMinimumGCAgeMs,
      maxAgeMs: settings.imageMaximumGCAgeMs,
      nodeEvent: (reason, message) => this.#warnOfNode(reason, message),
      clock,
      logger,
    });
    this.#files = this.#makeFileCounter();
    this.#evictionManager = this.#makeEvictionManager();
  }

  get pressures(): NodePressures {
    return this.#evictionManager.pressures;
  }

  /** What could not be looked at or removed; undefined for what is well. */
  failing(): {
    readonly images?: Failing | undefined;
    readonly containers?: Failing | undefined;
    readonly look?: Failing | undefined;
  } {
    return { images: this.#images.failing, containers: this.#failures.failing, look: this.#evictionManager.failing };
  }

  /** What the node runs short of. */
  shortages(): readonly NodeShortage[] {
    return this.#evictionManager.shortages;
  }

  /** What was counted of the pod's files; undefined where nothing was yet. */
  filesOf(podUID: string): CountedFiles | undefined {
    const files = this.#files.filesOf(podUID);
    return files && { ...files, at: this.#files.countedAt(podUID) };
  }

  start(): void {
    this.#files.start();
    this.#evictionManager.start();
    this.#images.start();
    this.#run = this.#collectOnAndOn();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#evictionManager.stop(), this.#images.stop(), this.#files.stop(), this.#run]);
  }

  /** Where the disk is not looked at, only files of pods are counted that may have to go for them alone. */
  #makeFileCounter(): PodFileCounter {
    const { activePods } = this.#options;
    const { settings, clock, logger } = this.#agent;
    const { rootDirectory, podLogsDirectory } = settings;
    const isDiskWatched = thresholdsOf(settings).some(({ signal }) => signalKinds[signal].pressure === 'disk');
    return new PodFileCounter({
      pods: isDiskWatched ? activePods : () => activePods().filter(hasStorageLimit),
      treesOf: (pod) => podTrees(pod, { rootDirectory, podLogsDirectory }),
      count: podTreeSize,
      clock,
      logger,
    });
  }

  #makeEvictionManager(): EvictionManager {
    const { activePods, eventRecorder, podWorkers, node } = this.#options;
    const { given, settings, clock, logger } = this.#agent;
    return new EvictionManager({
      evictionHard: settings.evictionHard,
      evictionSoft: settings.evictionSoft,
      evictionSoftGracePeriodMs: settings.evictionSoftGracePeriodMs,
      evictionMinimumReclaim: settings.evictionMinimumReclaim,
      isAllocatableEnforced: enforcementsOf(settings).includes('pods'),
      maxPodGracePeriodSeconds: settings.evictionMaxPodGracePeriodSeconds,
      transitionPeriodMs: settings.evictionPressureTransitionPeriodMs,
      localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
      activePods,
      pressureChanged: () => node.object.changed(),
      eventRecorder,
      nodeEvent: (reason, message) => this.#warnOfNode(reason, message),
      clock,
      logger,
      readNode: () => this.#readNode(),
      readPods: (pods, signal, resource) => {
        const known = { filesOf: (podUID: string) => this.#files.filesOf(podUID), withProcesses: resource === 'pids' };
        return readPodUsages(pods, given.runtime, known, signal);
      },
      freshenFiles: (signal) => this.#files.freshen(signal),
      killPod: (pod, kill) => podWorkers.killPodNow(pod, kill),
      isCleanedUp: (pod) => podWorkers.shouldPodBeFinished(podUIDOf(pod)),
      reclaim: (what, signal) => this.#reclaim(what, signal),
      ...(settings.kernelMemcgNotification && { readMemory: () => this.#readMemory() }),
    });
  }

  async #collectOnAndOn(): Promise<void> {
    const { clock, logger } = this.#agent;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(clock, collectPeriodMs, signal);
      if (signal.aborted) return;
      try {
        await this.#collectContainers(signal);
        this.#failures.succeeded();
      } catch (err) {
        if (signal.aborted) return;
        const problem = { ...this.#failures.failed(err), ...helped('container-gc') };
        logger.warn({ err, ...problemFields(problem, clock.now()) }, 'ended containers could not be removed');
        this.#warnOfNode('ContainerGCFailed', errorText(err));
      }
    }
  }

  /** Before a pod has to go, all goes that has ended, also of pods that are still there. */
  async #reclaim(what: Reclaimable, signal: AbortSignal): Promise<void> {
    const { podWorkers } = this.#options;
    if (what === 'images') return this.#images.collectAll(signal);
    const shouldPodRuntimeBeRemoved = (podUID: string): boolean => podWorkers.shouldPodRuntimeBeRemoved(podUID);
    return this.#collectContainers(signal, { shouldPodRuntimeBeRemoved });
  }

  async #collectContainers(signal: AbortSignal, more: Pick<CollectRequest, 'shouldPodRuntimeBeRemoved'> = {}): Promise<void> {
    const { podWorkers, loop } = this.#options;
    const shouldPodContentBeRemoved = (podUID: string): boolean => podWorkers.shouldPodContentBeRemoved(podUID);
    await this.containers.collect({ shouldPodContentBeRemoved, sourcesReady: loop.sourcesReady(), ...more }, signal);
  }

  #warnOfNode(reason: string, message: string): void {
    this.#options.eventRecorder.nodeEvent(this.#agent.nodeName, 'Warning', reason, message);
  }

  async #readNode(): Promise<NodeUsage> {
    const { rootDirectory } = this.#agent.settings;
    const paths = await this.#runtimePaths();
    const [usage, ofPods] = await Promise.all([readNodeUsage({ rootDirectory, ...paths }), this.#podsMemory()]);
    // before the runtime has said where its disks are, nothing is known of them: they may not be the node's
    return { ...usage, ...(paths === undefined && noRuntimeDisks), podsMemory: ofPods };
  }

  async #readMemory(): Promise<Pick<NodeUsage, 'memory' | 'podsMemory'>> {
    const [memory, ofPods] = await Promise.all([readMemory('/proc').catch(() => undefined), this.#podsMemory()]);
    return { memory, podsMemory: ofPods };
  }

  #podsMemory(): Promise<Supply | undefined> {
    const { cgroups, node } = this.#options;
    return podsMemory(cgroups, node.forPods.memory).catch(() => undefined);
  }

  /** What the runtime has said last; undefined where it has not said it yet. After a failure it is asked again at the next look. */
  async #runtimePaths(): Promise<RuntimePaths | undefined> {
    const { given, clock } = this.#agent;
    if (this.#paths !== undefined && clock.elapsed() - this.#paths.readAt < imagefsPatienceMs) return this.#paths;
    const { runtime } = given;
    const ask = (signal: AbortSignal) =>
      Promise.all([runtime.imageFilesystems({ signal }), runtime.containerFilesystems?.({ signal })]);
    const late = (): Error => new Error(`no answer within ${imagefsLimitMs} ms`);
    const limits = { clock, timeoutMs: imagefsLimitMs, signal: this.#stopping.signal, late };
    const answers = await callWithin(ask, limits).catch(() => undefined);
    if (answers === undefined) return this.#paths;
    const [images, containers] = answers;
    this.#paths = {
      imagefsPath: images[0]?.mountpoint || undefined,
      containerfsPath: containers?.[0]?.mountpoint || undefined,
      readAt: clock.elapsed(),
    };
    return this.#paths;
  }
}

const noRuntimeDisks: Partial<NodeUsage> = {
  imagefs: undefined,
  imagefsInodes: undefined,
  containerfs: undefined,
  containerfsInodes: undefined,
};

/** Where the runtime keeps images and what containers write. */
interface RuntimePaths extends Pick<UsagePaths, 'imagefsPath' | 'containerfsPath'> {
  readonly readAt: number;
}

function imagesOfVolumes({ spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ image }) => (image?.reference ? [image.reference] : []));
}
