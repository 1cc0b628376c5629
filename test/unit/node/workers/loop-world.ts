import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import type { RunningPod } from '../../../../src/api/pod/runtime-pod.ts';
import type { PodUpdate } from '../../../../src/node/config/pod-changes.ts';
import type { KnownPod } from '../../../../src/node/workers/pod-records.ts';
import { SyncLoop } from '../../../../src/node/workers/sync-loop.ts';
import type { LoopPodWorkers, SyncLoopOptions } from '../../../../src/node/workers/sync-loop-options.ts';
import { WorkQueue } from '../../../../src/node/workers/work-queue.ts';
import type { UpdatePodOptions } from '../../../../src/node/workers/workers-options.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

/** A sync loop over workers that write down what they are told, in virtual time. */
export class LoopWorld implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly podManager = new BasicPodManager();
  readonly workQueue = new WorkQueue({ clock: this.clock });
  /** `TYPE UID`, with ` mirror UID` where there is one. */
  readonly told: string[] = [];
  readonly updates: UpdatePodOptions[] = [];
  /** What the workers know, by uid. */
  readonly known = new Map<string, KnownPod['state']>();
  readonly desired: string[][] = [];
  /** What the workers count; undefined: they count nothing. */
  changes: number | undefined;
  /** What the runtime counts. */
  runtimeChanges = 0;
  readonly statuses = new Map<string, PodStatus>();
  readonly keptStatuses: string[][] = [];
  readonly errors: string[] = [];
  /** So often the workers were asked whether a pod has ended. */
  questions = 0;
  readonly events: string[] = [];
  /** The sources that have to be heard from. */
  sources = ['api'];
  /** What the runtime lists, or what it does when it is asked. */
  running: (signal: AbortSignal) => readonly RunningPod[] | Promise<readonly RunningPod[]> = () => [];
  readonly loop: SyncLoop;
  readonly #queue: PodUpdate[] = [];
  #next: ((step: IteratorResult<PodUpdate>) => void) | undefined;

  constructor(options: Partial<SyncLoopOptions> = {}) {
    this.loop = new SyncLoop({
      config: {
        updates: () => ({
          next: () => this.#take(),
          return: () => Promise.resolve({ done: true as const, value: undefined }),
        }),
        seenAllSources: (seen) => this.sources.every((source) => new Set(seen).has(source)),
      },
      podManager: this.podManager,
      podWorkers: this.#workers(),
      workQueue: this.workQueue,
      statusManager: {
        getPodStatus: (uid) => this.statuses.get(uid) as never,
        setPodStatus: (pod, status) => this.statuses.set(pod.metadata?.uid ?? '', status).size > 0,
        removeOrphanedStatuses: (uids) => this.keptStatuses.push([...uids].sort()),
      },
      runtime: Object.defineProperty({ getPods: (signal: AbortSignal) => this.running(signal) }, 'changes', {
        get: () => this.runtimeChanges,
      }),
      eventRecorder: {
        event: (pod, type, reason, message) => this.events.push(`${pod.metadata?.uid} ${type} ${reason} ${message}`),
      },
      clock: this.clock,
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: (_, message) => this.errors.push(message) },
      ...options,
    });
  }

  static async started(options: Partial<SyncLoopOptions> = {}): Promise<LoopWorld> {
    const world = new LoopWorld(options);
    world.loop.start();
    return world;
  }

  async send(op: PodUpdate['op'], pods: readonly Pod[], source = 'api'): Promise<void> {
    this.#queue.push({ op, source, pods });
    if (this.#next !== undefined) {
      this.#next({ done: false, value: this.#queue.shift() as PodUpdate });
      this.#next = undefined;
    }
    await settle();
  }

  /** Empties what was told, and returns it. */
  took(): string[] {
    return this.told.splice(0);
  }

  async housekeeping(): Promise<void> {
    await this.clock.advance(2000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.loop.stop();
    this.workQueue.close();
  }

  #take(): Promise<IteratorResult<PodUpdate>> {
    const value = this.#queue.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    return new Promise((resolve) => {
      this.#next = resolve;
    });
  }

  #workers(): LoopPodWorkers {
    const workers: LoopPodWorkers = {
      updatePod: (update) => this.#update(update),
      syncKnownPods: (desired) => this.#syncKnownPods(desired),
      isPodTerminationRequested: (uid) => ['terminating', 'terminated'].includes(this.known.get(uid) ?? ''),
      isPodKnownTerminated: (uid) => {
        this.questions += 1;
        return this.known.get(uid) === 'terminated';
      },
    };
    return Object.defineProperty(workers, 'changes', { get: () => this.changes });
  }

  #update(update: UpdatePodOptions): void {
    const uid = update.pod?.metadata?.uid ?? update.runningPod?.uid ?? '';
    if (uid === 'poison') throw new Error('the workers failed');
    const mirror = update.mirrorPod === undefined ? '' : ` mirror ${update.mirrorPod.metadata?.uid}`;
    this.told.push(`${update.updateType} ${uid}${mirror}`);
    this.updates.push(update);
    if (update.updateType === 'kill') this.known.set(uid, 'terminating');
    else if (!this.known.has(uid)) this.known.set(uid, 'sync');
  }

  #syncKnownPods(desired: readonly Pod[]): ReadonlyMap<string, KnownPod> {
    const uids = desired.map(({ metadata }) => metadata?.uid ?? '');
    this.desired.push(uids);
    for (const [uid, state] of this.known) if (state === 'terminated' && !uids.includes(uid)) this.known.delete(uid);
    return new Map(
      Array.from(this.known, ([uid, state]) => [uid, { state, orphan: !uids.includes(uid), hasConfig: true, static: false }]),
    );
  }
}
