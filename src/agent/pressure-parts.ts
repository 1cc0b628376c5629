import { ImageCollector, type UnusedImage } from '../images/image-collector.ts';
import type { NodePressures } from '../node-object/node-health.ts';
import type { BasicPodManager } from '../pod/basic-pod-manager.ts';
import type { EventRecorder } from '../pod/event-recorder.ts';
import { isTerminalPhase } from '../pod/pod-phase.ts';
import type { Pod } from '../wire/types.ts';
import type { PodWorkers } from '../workers/pod-workers.ts';
import { EvictionManager } from './eviction/eviction-manager.ts';
import { ImageCollection } from './eviction/image-collection.ts';
import { readNodeUsage, readPodUsages, type UsagePaths } from './eviction/read-usage.ts';
import type { NodeUsage, Supply } from './eviction/usage.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

export interface PressurePartsOptions {
  readonly options: ResolvedAgentOptions;
  readonly podManager: Pick<BasicPodManager, 'getPods'>;
  readonly podWorkers: () => Pick<PodWorkers, 'killPodNow' | 'podCouldHaveRunningContainers'>;
  /** Called when the node's conditions are to be written. */
  readonly changed: () => void;
  readonly eventRecorder: EventRecorder;
}

/** What happens when the node runs short, put together: evictions, and the removal of unused images. */
export class PressureParts {
  readonly #options: PressurePartsOptions;
  readonly #eviction: EvictionManager;
  readonly #images: ImageCollection<UnusedImage>;
  #imagefsPath: string | undefined;

  constructor(parts: PressurePartsOptions) {
    this.#options = parts;
    const { options, podWorkers, changed, eventRecorder } = parts;
    const { given, settings, timed } = options;
    const { runtime } = given;
    this.#images = new ImageCollection({
      images: new ImageCollector({ runtime, clock: timed.clock }),
      usedByVolumes: () => new Set(this.#activePods().flatMap(imagesOfVolumes)),
      readImagefs: (signal) => this.#imagefs(signal),
      highThresholdPercent: settings.imageGCHighThresholdPercent,
      lowThresholdPercent: settings.imageGCLowThresholdPercent,
      minAgeMs: settings.imageMinimumGCAgeMs,
      ...timed,
    });
    this.#eviction = new EvictionManager({
      evictionHard: settings.evictionHard,
      readNode: (signal) => this.#node(signal),
      readPods: (pods, signal) => readPodUsages(pods, runtime, this.#paths, signal),
      activePods: () => this.#activePods(),
      killPod: (pod, kill) => podWorkers().killPodNow(pod, kill),
      isCleanedUp: (pod) => !podWorkers().podCouldHaveRunningContainers(pod),
      freeDisk: (signal) => this.#images.collectAll(signal),
      pressureChanged: changed,
      eventRecorder,
      ...timed,
    });
  }

  /** What runs short now. */
  get pressures(): NodePressures {
    return this.#eviction.pressures;
  }

  /** Without any threshold nothing is looked at, and without a limit for the disk of images no image goes. */
  start(): void {
    const { evictionHard } = this.#options.options.settings;
    if (Object.keys(evictionHard).length > 0) this.#eviction.start();
    this.#images.start();
  }

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    await Promise.all([this.#eviction.stop(), this.#images.stop()]);
  }

  get #paths(): UsagePaths {
    const { rootDirectory, podLogsDirectory } = this.#options.options.settings;
    return { rootDirectory, podLogsDirectory, imagefsPath: this.#imagefsPath };
  }

  async #node(signal: AbortSignal): Promise<NodeUsage> {
    const { runtime } = this.#options.options.given;
    // while the runtime does not say, images count as lying with everything else
    this.#imagefsPath ??= await runtime.imageFilesystems({ signal }).then(
      ([first]) => first?.mountpoint,
      () => undefined,
    );
    signal.throwIfAborted();
    return readNodeUsage(this.#paths);
  }

  async #imagefs(signal: AbortSignal): Promise<Supply> {
    const { imagefs } = await this.#node(signal);
    if (imagefs === undefined) throw new Error('the file system of images cannot be read');
    return imagefs;
  }

  #activePods(): Pod[] {
    return this.#options.podManager.getPods().filter(({ status }) => !isTerminalPhase(status?.phase));
  }
}

function imagesOfVolumes({ spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ image }) => image?.reference ?? []);
}
