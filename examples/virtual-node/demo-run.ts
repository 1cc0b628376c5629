import { ApiServerPodSource, BasicPodManager, KubePodClient, StatusManager } from '../../src/index.ts';
import type { AdminClient } from './admin-client.ts';
import { Agent } from './agent.ts';
import { CountingPodClient } from './counting-pod-client.ts';
import { ForeignController } from './foreign-controller.ts';
import { Meter } from './meter.ts';
import type { DemoOptions } from './options.ts';
import { pause } from './pause.ts';
import type { DemoServer } from './server.ts';
import type { Snapshot } from './snapshot.ts';
import { Workload } from './workload.ts';

export interface DemoRunOptions {
  readonly server: DemoServer;
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly runID: string;
  readonly options: DemoOptions;
}

const longestSettleMs = 10_000;
const quietMs = 300;

/** One run: a virtual node with its status manager, the controllers that own its pods, and a foreign controller. */
export class DemoRun {
  readonly podClient: CountingPodClient;
  readonly podManager = new BasicPodManager();
  readonly manager: StatusManager;
  readonly agent: Agent;
  readonly meter = new Meter();
  readonly workload: Workload;
  readonly foreign: ForeignController;
  readonly #options: DemoRunOptions;
  readonly #kubePodClient: KubePodClient;
  readonly #source: ApiServerPodSource;
  readonly #firstList = Promise.withResolvers<never>();
  #stage: Snapshot['stage'] = 'running';
  #startedAt = performance.now();

  constructor(options: DemoRunOptions) {
    const { admin, namespace, runID, server } = options;
    const { pods, seconds, seed } = options.options;
    const nodeName = `virtual-node-${runID}`;
    this.#options = options;
    this.#kubePodClient = KubePodClient.fromKubeConfig(server.kubeConfig());
    this.podClient = new CountingPodClient(this.#kubePodClient);
    this.agent = new Agent(this.podManager);
    this.#source = new ApiServerPodSource({
      kubeConfig: server.kubeConfig(),
      nodeName,
      namespace,
      podManager: this.podManager,
      handlers: {
        podAdded: (pod) => this.agent.podAdded(pod),
        podUpdated: (pod, old) => this.agent.podUpdated(pod, old),
        podDeleted: (pod) => {
          this.agent.podDeleted(pod);
          this.meter.forget(pod.metadata?.uid ?? '');
        },
        interrupted: ({ error }) => this.#firstList.reject(error),
      },
    });
    this.manager = new StatusManager({
      podClient: this.podClient,
      podManager: this.podManager,
      podDeletionSafety: this.agent.runtime,
      podSource: this.#source,
    });
    this.meter.watch(this.manager);
    this.workload = new Workload({ admin, namespace, nodeName, runID, pods, seconds, seed });
    this.foreign = new ForeignController(admin, namespace, this.workload.alive, seed);
    // after the first list nothing awaits this promise, but it may still reject
    this.#firstList.promise.catch(() => {});
  }

  /** Resolves when `signal` has aborted or the time is over, and the workload and the foreign controller have stopped. */
  async play(signal: AbortSignal): Promise<void> {
    this.agent.start(this.manager);
    this.manager.start();
    // the source would try again for ever, but a demo that cannot list pods has nothing to show
    await Promise.race([this.#source.start(), this.#firstList.promise]);
    this.#startedAt = performance.now();
    const over = AbortSignal.any([signal, AbortSignal.timeout(this.#options.options.seconds * 1000)]);
    await Promise.all([this.workload.run(over), this.foreign.run(over)]);
  }

  /** Waits until no pod is deleting and every status is on the server. Throws when that takes too long. */
  async settle(signal: AbortSignal): Promise<void> {
    this.#stage = 'settling';
    this.agent.runtime.freeze();
    const deadline = performance.now() + longestSettleMs;
    while (performance.now() < deadline && (this.#podsDeleting() > 0 || this.meter.quietMs < quietMs)) {
      if (!(await pause(50, signal))) break;
    }
    await this.#flush(deadline, signal);
    this.#stage = 'done';
  }

  /** Flushes in short turns, so that it soon ends when the signal aborts. */
  async #flush(deadline: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.manager.flush({ timeoutMs: 1000 });
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
  }

  /** Stops everything; no timer and no socket is left. */
  async close(): Promise<void> {
    // the source and the agent give the manager work, so they stop first
    await this.#source.stop();
    await this.agent.stop();
    await this.manager.stop({ drainTimeoutMs: 1000 });
    await this.#kubePodClient.close();
  }

  snapshot(): Snapshot {
    const { seconds, seed } = this.#options.options;
    const podsByPhase: Record<string, number> = {};
    for (const { status } of this.podManager.getPods()) {
      const phase = status?.phase ?? 'Pending';
      podsByPhase[phase] = (podsByPhase[phase] ?? 0) + 1;
    }
    const { created, recreated } = this.workload;
    const { crashes, deleted, readinessFlips } = this.agent.counts;
    return {
      server: this.#options.server.label,
      seed,
      stage: this.#stage,
      elapsedMs: performance.now() - this.#startedAt,
      totalMs: seconds * 1000,
      podsByPhase,
      podsDeleting: this.#podsDeleting(),
      created,
      recreated,
      deleted,
      crashes,
      readinessFlips,
      calls: this.agent.calls,
      versions: this.meter.versions,
      requests: this.podClient.requests,
      syncErrors: this.meter.syncErrors,
      p50Ms: this.meter.delayMs(50),
      p99Ms: this.meter.delayMs(99),
    };
  }

  #podsDeleting(): number {
    return this.podManager.getPods().filter(({ metadata }) => metadata?.deletionTimestamp !== undefined).length;
  }
}
