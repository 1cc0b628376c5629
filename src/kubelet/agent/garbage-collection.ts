import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { sleep } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import type { PodWorkers } from '../../node/workers/pod-workers.ts';
import { EvictionManager } from '../eviction/eviction-manager.ts';
import { signalKinds, thresholdsOf } from '../eviction/eviction-options.ts';
import { ImageCollection } from '../eviction/image-collection.ts';
import { PodFileCounter, podTreeSize, podTrees } from '../eviction/pod-file-counter.ts';
import { hasStorageLimit, readNodeUsage, readPodUsages, type UsagePaths } from '../eviction/read-usage.ts';
import type { Supply } from '../eviction/usage.ts';
import { ImageCollector } from '../images/image-collector.ts';
import { ContainerCollector } from '../pods/container-collector.ts';
import type { CountedFiles } from '../server/node-stats.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface DiskPartsOptions {
  readonly options: ResolvedAgentOptions;
  readonly eventRecorder: Required<EventRecorder>;
  /** The pods that are not over, with what they have been given. */
  readonly activePods: () => readonly Pod[];
  readonly podWorkers: Pick<PodWorkers, 'killPodNow' | 'shouldPodContentBeRemoved' | 'shouldPodBeFinished'>;
  readonly sourcesReady: () => boolean;
  /** Forgets what is kept of images that the runtime has no more. */
  readonly forgetImages: (list: () => Promise<ReadonlySet<string>>) => Promise<void>;
  /** What all pods together may have of the node's memory, and what they take of it; undefined where nobody says. */
  readonly readPodsMemory: () => Promise<Supply | undefined>;
  /** Told when what runs short on the node has changed. */
  readonly pressureChanged: () => void;
}

/** How often containers are looked at that have ended. */
const collectPeriodMs = 60_000;
/** The images of the runtime may lie on another disk than the agent's folder. */
const imagefsPatienceMs = 60_000;

/** Keeps the node from running full: ended containers, unused images, and in the end pods have to go. */
export class DiskParts {
  /** Removes containers that have ended, and log files. */
  readonly containers: ContainerCollector;
  readonly #parts: DiskPartsOptions;
  readonly #evictions: EvictionManager;
  readonly #images: ImageCollection;
  readonly #files: PodFileCounter;
  readonly #stopping = new AbortController();
  #imagefs: { readonly path: string | undefined; readonly readAt: number } | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(parts: DiskPartsOptions) {
    this.#parts = parts;
    const { options, eventRecorder, activePods, podWorkers, pressureChanged } = parts;
    const nodeEvent = (reason: string, message: string): void => this.#warnOfNode(reason, message);
    const { settings, given, timed } = options;
    const { runtime } = given;
    this.containers = new ContainerCollector({ runtime, podLogsDirectory: settings.podLogsDirectory, ...timed });
    this.#images = new ImageCollection({
      images: new ImageCollector({ runtime, clock: timed.clock }),
      usedByVolumes: () => new Set(activePods().flatMap(imagesOfVolumes)),
      readImagefs: async () => (await this.#readNode()).imagefs,
      afterLook: (signal) => parts.forgetImages(async () => new Set((await runtime.listImages({ signal })).map(({ id }) => id))),
      highThresholdPercent: settings.imageGCHighThresholdPercent,
      lowThresholdPercent: settings.imageGCLowThresholdPercent,
      minAgeMs: settings.imageMinimumGCAgeMs,
      nodeEvent,
      ...timed,
    });
    this.#files = this.#makeFileCounter();
    this.#evictions = new EvictionManager({
      evictionHard: settings.evictionHard,
      activePods,
      pressureChanged,
      eventRecorder,
      nodeEvent,
      ...timed,
      readNode: () => this.#readNode(),
      readPods: (pods, signal, resource) => {
        const known = { filesOf: (podUID: string) => this.#files.filesOf(podUID), withProcesses: resource === 'pids' };
        return readPodUsages(pods, runtime, known, signal);
      },
      freshenFiles: (signal) => this.#files.freshen(signal),
      killPod: (pod, kill) => podWorkers.killPodNow(pod, kill),
      isCleanedUp: (pod) => podWorkers.shouldPodBeFinished(podUIDOf(pod)),
      freeDisk: async (signal) => {
        await this.#collectContainers(signal);
        await this.#images.collectAll(signal);
      },
    });
  }

  get pressures(): NodePressures {
    return this.#evictions.pressures;
  }

  /** What was counted of the pod's files; undefined where nothing was yet. */
  filesOf(podUID: string): CountedFiles | undefined {
    const files = this.#files.filesOf(podUID);
    return files && { ...files, at: this.#files.countedAt(podUID) };
  }

  start(): void {
    this.#files.start();
    this.#evictions.start();
    this.#images.start();
    this.#run = this.#collectOnAndOn();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#evictions.stop(), this.#images.stop(), this.#files.stop(), this.#run]);
  }

  /** Where the disk is not looked at, only files of pods are counted that may have to go for them alone. */
  #makeFileCounter(): PodFileCounter {
    const { activePods, options } = this.#parts;
    const { evictionHard, rootDirectory, podLogsDirectory } = options.settings;
    const isDiskWatched = thresholdsOf(evictionHard).some(({ signal }) => signalKinds[signal].pressure === 'disk');
    return new PodFileCounter({
      pods: isDiskWatched ? activePods : () => activePods().filter(hasStorageLimit),
      treesOf: (pod) => podTrees(pod, { rootDirectory, podLogsDirectory }),
      count: podTreeSize,
      ...options.timed,
    });
  }

  async #collectOnAndOn(): Promise<void> {
    const { clock, logger } = this.#parts.options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(clock, collectPeriodMs, signal);
      if (signal.aborted) return;
      await this.#collectContainers(signal).catch((err: unknown) => {
        if (signal.aborted) return;
        logger.warn({ err }, 'ended containers could not be removed');
        this.#warnOfNode('ContainerGCFailed', errorText(err));
      });
    }
  }

  async #collectContainers(signal: AbortSignal): Promise<void> {
    const { podWorkers, sourcesReady } = this.#parts;
    const shouldPodContentBeRemoved = (podUID: string): boolean => podWorkers.shouldPodContentBeRemoved(podUID);
    await this.containers.collect({ shouldPodContentBeRemoved, sourcesReady: sourcesReady() }, signal);
  }

  #warnOfNode(reason: string, message: string): void {
    const { options, eventRecorder } = this.#parts;
    eventRecorder.nodeEvent(options.nodeName, 'Warning', reason, message);
  }

  async #readNode() {
    const { options, readPodsMemory } = this.#parts;
    const { rootDirectory } = options.settings;
    const paths: UsagePaths = { rootDirectory, imagefsPath: await this.#imagefsPath() };
    const [node, podsMemory] = await Promise.all([readNodeUsage(paths), readPodsMemory().catch(() => undefined)]);
    return { ...node, podsMemory };
  }

  /** Undefined where the runtime does not say. */
  async #imagefsPath(): Promise<string | undefined> {
    const { given, clock } = this.#parts.options;
    if (this.#imagefs !== undefined && clock.elapsed() - this.#imagefs.readAt < imagefsPatienceMs) return this.#imagefs.path;
    const systems = await given.runtime.imageFilesystems({ signal: this.#stopping.signal }).catch(() => []);
    this.#imagefs = { path: systems[0]?.mountpoint, readAt: clock.elapsed() };
    return this.#imagefs.path;
  }
}

function imagesOfVolumes({ spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ image }) => (image?.reference ? [image.reference] : []));
}
