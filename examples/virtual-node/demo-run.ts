import { KubePodClient, KubeTransport } from 'pod-status-manager';
import { ProviderNode } from 'pod-status-manager/node';
import type { AdminClient } from './admin-client.ts';
import { CountingPodClient } from './counting-pod-client.ts';
import { ForeignController } from './foreign-controller.ts';
import { Meter } from './meter.ts';
import type { DemoOptions } from './options.ts';
import { pause } from './pause.ts';
import { runLabel } from './pod-template.ts';
import type { DemoServer } from './server.ts';
import type { Snapshot } from './snapshot.ts';
import { VirtualProvider } from './virtual-provider.ts';
import { Workload } from './workload.ts';

export interface DemoRunOptions {
  readonly server: DemoServer;
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly runID: string;
  readonly options: DemoOptions;
}

/** What is left of the run on the server: `failed` stays there. */
export interface RunEnd {
  readonly nodeName: string;
  readonly node: string;
  readonly lease: string;
}

const longestStartMs = 10_000;
const longestSettleMs = 10_000;
const quietMs = 300;
/** An address for documentation. */
const nodeIP = '192.0.2.10';

/** One run: a virtual node, the controllers that own its pods, and a foreign controller. */
export class DemoRun {
  readonly nodeName: string;
  readonly node: ProviderNode;
  readonly podClient: CountingPodClient;
  readonly meter = new Meter();
  readonly workload: Workload;
  readonly foreign: ForeignController;
  readonly #options: DemoRunOptions;
  readonly #transport: KubeTransport;
  readonly #provider: VirtualProvider;
  #deleted = 0;
  #stage: Snapshot['stage'] = 'running';
  #startedAt = performance.now();

  constructor(options: DemoRunOptions) {
    const { admin, namespace, runID, server } = options;
    const { pods, seconds, seed } = options.options;
    const nodeName = `virtual-node-${runID}`;
    this.nodeName = nodeName;
    this.#options = options;
    this.#transport = new KubeTransport(server.kubeConfig());
    this.podClient = new CountingPodClient(new KubePodClient(this.#transport));
    this.#provider = new VirtualProvider(() => this.node.statusManager);
    this.node = new ProviderNode({
      transport: this.#transport,
      podClient: this.podClient,
      nodeName,
      namespace,
      provider: this.#provider,
      addresses: [{ type: 'InternalIP', address: nodeIP }],
      // nothing else is to land here: the taint keeps most pods away, the rest finds no room, and no DaemonSet is for this system
      taints: [{ key: runLabel, value: runID, effect: 'NoSchedule' }],
      capacity: { cpu: '1000', memory: '4000Gi', pods: '5000' },
      allocatable: { cpu: '0', memory: '0', pods: '0' },
      nodeInfo: { operatingSystem: 'virtual' },
      labels: { [runLabel]: runID },
      removeOnStop: true,
      // its lines would break the picture on the screen
      logger: null,
    });
    this.meter.watch(this.node.statusManager);
    this.node.podManager.subscribe((podUID) => this.#podChanged(podUID));
    this.workload = new Workload({ admin, namespace, nodeName, runID, pods, seconds, seed });
    this.foreign = new ForeignController(admin, namespace, this.workload.alive, seed);
  }

  /** Resolves when `signal` has aborted or the time is over, and the workload and the foreign controller have stopped. */
  async play(signal: AbortSignal): Promise<void> {
    // the node would try for ever, but a demo that may not register a node, or list pods, has nothing to show
    await this.node.start({ timeoutMs: longestStartMs, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    this.#startedAt = performance.now();
    const over = AbortSignal.any([signal, AbortSignal.timeout(this.#options.options.seconds * 1000)]);
    await Promise.all([this.workload.run(over), this.foreign.run(over)]);
  }

  /** Waits until no pod is deleting and every status is on the server. Throws when that takes too long. */
  async settle(signal: AbortSignal): Promise<void> {
    this.#stage = 'settling';
    this.#provider.freeze();
    const deadline = performance.now() + longestSettleMs;
    while (performance.now() < deadline && (this.#podsDeleting() > 0 || this.meter.quietMs < quietMs)) {
      if (!(await pause(50, signal))) break;
    }
    await this.#flush(deadline, signal);
    this.#stage = 'done';
  }

  /** Stops everything, and removes the node; no timer and no socket is left. */
  async close(): Promise<RunEnd> {
    // a life that goes on would tell a stopped status manager of its probes
    await this.#provider.close();
    const { node } = await this.node.stop({ drainTimeoutMs: 1000 });
    await this.#transport.close();
    return { nodeName: this.nodeName, ...node };
  }

  snapshot(): Snapshot {
    const { seconds, seed } = this.#options.options;
    const podsByPhase: Record<string, number> = {};
    for (const { status } of this.node.podManager.getPods()) {
      const phase = status?.phase ?? 'Pending';
      podsByPhase[phase] = (podsByPhase[phase] ?? 0) + 1;
    }
    const { created, recreated } = this.workload;
    const { crashes, readinessFlips, told } = this.#provider.counts;
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
      deleted: this.#deleted,
      crashes,
      readinessFlips,
      told,
      versions: this.meter.versions,
      requests: this.podClient.requests,
      syncErrors: this.meter.syncErrors,
      p50Ms: this.meter.delayMs(50),
      p99Ms: this.meter.delayMs(99),
    };
  }

  /** Flushes in short turns, so that it soon ends when the signal aborts. */
  async #flush(deadline: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.node.statusManager.flush({ timeoutMs: 1000 });
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
    }
  }

  #podChanged(podUID: string): void {
    if (this.node.podManager.getPodByUID(podUID) !== undefined) return;
    this.#deleted++;
    this.meter.forget(podUID);
  }

  #podsDeleting(): number {
    return this.node.podManager.getPods().filter(({ metadata }) => metadata?.deletionTimestamp !== undefined).length;
  }
}
