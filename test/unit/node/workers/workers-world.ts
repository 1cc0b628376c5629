import type { Pod } from '../../../../src/api/json/types.ts';
import type { RuntimePodStatus } from '../../../../src/api/pod/runtime-pod.ts';
import type { PodSyncer } from '../../../../src/node/workers/pod-syncer.ts';
import { PodWorkers } from '../../../../src/node/workers/pod-workers.ts';
import { type RetryQueue, WorkQueue } from '../../../../src/node/workers/work-queue.ts';
import type {
  KillPodOptions,
  PodWorkersOptions,
  UpdatePodOptions,
  UpdateType,
} from '../../../../src/node/workers/workers-options.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { barePod } from '../../../support/pods.ts';

/** One call of the syncer that has not settled. */
export interface OpenCall {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly resolve: (answer?: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface PodParts {
  readonly name?: string;
  readonly version?: string;
  readonly source?: string;
  readonly phase?: string;
  /** It is being deleted, with this grace period. */
  readonly deletion?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export function pod(uid: string, parts: PodParts = {}): Pod {
  const { name = `pod-${uid}`, version = '1', source = 'api', phase, deletion, terminationGracePeriodSeconds } = parts;
  const annotations = { 'kubernetes.io/config.source': source };
  const deleted = { deletionTimestamp: '2000-01-01T00:00:30Z', deletionGracePeriodSeconds: deletion ?? 0 };
  return barePod({
    metadata: { name, namespace: 'd', uid, labels: { v: version }, annotations, ...(deletion !== undefined && deleted) },
    spec: { ...(terminationGracePeriodSeconds !== undefined && { terminationGracePeriodSeconds }) },
    ...(phase !== undefined && { status: { phase } }),
  });
}

/** Pod workers with a syncer whose calls stay open until the test settles them, unless `isQuick`. `broken` replaces its methods. */
export class World {
  readonly clock = new FakeClock();
  readonly queue = new WorkQueue({ clock: this.clock });
  readonly log: string[] = [];
  readonly events: string[] = [];
  readonly warnings: string[] = [];
  readonly open = new Map<string, OpenCall>();
  readonly running = new Set<string>();
  isQuick = false;
  readonly workers: PodWorkers<RetryQueue>;

  readonly podSyncer: PodSyncer = {
    syncPod: ({ pod, updateType, mirrorPod }, signal) =>
      this.#call('sync', pod.metadata?.uid, [updateType, pod.metadata?.labels?.v, mirrorPod?.metadata?.uid], signal) as never,
    syncTerminatingPod: ({ pod, gracePeriodSeconds, podStatusFn }, signal) => {
      const status: { reason?: string } = {};
      podStatusFn?.(status);
      const args = [gracePeriodSeconds ?? '-', pod.metadata?.labels?.v, status.reason];
      return this.#call('terminating', pod.metadata?.uid, args, signal) as never;
    },
    syncTerminatingRuntimePod: ({ uid, name }, signal) => this.#call('terminatingRuntime', uid, [name], signal) as never,
    syncTerminatedPod: ({ pod }, signal) => this.#call('terminated', pod.metadata?.uid, [], signal) as never,
  };

  constructor(options: Partial<PodWorkersOptions> = {}, broken: Partial<Record<keyof PodSyncer, unknown>> = {}) {
    this.workers = new PodWorkers({
      podSyncer: { ...this.podSyncer, ...broken } as PodSyncer,
      runtimeStatusCache: {
        get: (podUID) => this.runtimeStatus(podUID),
        getNewerThan: async (podUID) => this.runtimeStatus(podUID),
      },
      workQueue: this.queue,
      eventRecorder: { event: (_pod, type, reason, message) => this.events.push(`${type} ${reason} ${message}`) },
      random: () => 0,
      clock: this.clock,
      logger: {
        debug: () => {},
        info: () => {},
        warn: (_fields, message) => this.warnings.push(message),
        error: (_fields, message) => this.warnings.push(message),
      },
      ...options,
    });
  }

  runtimeStatus(podUID: string): RuntimePodStatus {
    const containers = this.running.has(podUID) ? [{ id: 'c', name: 'c', state: 'running' as const }] : [];
    return { podUID, ips: [], containers, sandboxes: [] };
  }

  /** Hands an update to the workers, and lets what follows at once happen. */
  async update(updateType: UpdateType, given: Pod, killPodOptions?: KillPodOptions): Promise<void> {
    await this.updateWith({ updateType, pod: given, ...(killPodOptions && { killPodOptions }) });
  }

  async updateWith(options: UpdatePodOptions): Promise<void> {
    this.workers.updatePod(options);
    await settle();
  }

  /** Tells the workers which pods there are, and lets what follows at once happen. */
  async desire(...desired: Pod[]): Promise<void> {
    this.workers.syncKnownPods(desired);
    await settle();
  }

  /** Ends the open call of the pod. */
  async end(podUID: string, answer?: unknown): Promise<void> {
    this.#take(podUID).resolve(answer);
    await settle();
  }

  async fail(podUID: string, error: unknown = new Error('failed')): Promise<void> {
    this.#take(podUID).reject(error);
    await settle();
  }

  /** The calls made since the last time, such as `sync u1 create 1`. */
  takeLog(): string[] {
    return this.log.splice(0);
  }

  /** The delays of the pods in the work queue, in seconds. */
  async waits(podUID: string): Promise<number | undefined> {
    for (let second = 0; second <= 120; second += 1) {
      const work = this.queue.getWork();
      if (work.includes(podUID)) return second;
      await this.clock.advance(1000);
    }
    return undefined;
  }

  #take(podUID: string): OpenCall {
    const call = this.open.get(podUID);
    if (call === undefined) throw new Error(`no call of ${podUID} is open`);
    this.open.delete(podUID);
    return call;
  }

  #call(name: string, uid: string | undefined, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const podUID = uid ?? '';
    this.log.push([name, podUID, ...args.filter((arg) => arg !== undefined)].join(' '));
    if (this.open.has(podUID)) this.log.push(`TWO CALLS of ${podUID}`);
    if (this.isQuick) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.open.set(podUID, { name, signal, resolve, reject });
    return promise;
  }
}
