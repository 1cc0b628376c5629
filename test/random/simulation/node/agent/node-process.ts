import {
  BasicPodManager,
  isStaticPod,
  KubePodClient,
  type Logger,
  type Pod,
  type PodDeletionSafety,
  StatusManager,
} from '../../../../../src/index.ts';
import { MirrorPodClient, MirrorPodReconciler } from '../../../../../src/mirror.ts';
import { ProbeManager } from '../../../../../src/node/probes/probe-manager.ts';
import type { Prober } from '../../../../../src/node/probes/prober.ts';
import { HandledSource } from '../../../../../src/node/sources/api-server-source.ts';
import type { SyncLoopOptions } from '../../../../../src/node/workers/sync-loop-options.ts';
import {
  ApiServerSource,
  PodConfig,
  type PodSource,
  PodWorkers,
  type PodWorkersOptions,
  type RetryQueue,
  SyncLoop,
  WorkQueue,
} from '../../../../../src/node.ts';
import type { Prng } from '../../../chaos/prng.ts';
import type { SimulatedTransport } from '../../parts/simulated-transport.ts';
import type { ProcessClock } from '../../simulated-clock.ts';
import { agentTransport } from './agent-transport.ts';
import type { Lifeline } from './lifeline.ts';
import { NodePodSyncer, type SyncerParts } from './node-pod-syncer.ts';
import type { RuntimePort } from './runtime-port.ts';
import { type ProberParts, simulatedProber } from './simulated-prober.ts';

/** An agent broken on purpose: something stands between two of its parts. */
export interface NodeBreakage {
  readonly loop?: (options: SyncLoopOptions, node: NodeParts) => SyncLoopOptions;
  readonly workers?: (options: PodWorkersOptions, node: NodeParts) => PodWorkersOptions;
  readonly safety?: (safety: PodDeletionSafety) => PodDeletionSafety;
  readonly prober?: (prober: Prober, node: NodeParts) => Prober;
  readonly probes?: (probes: SyncerParts['probes']) => SyncerParts['probes'];
  /** True: `stop` leaves out this part. */
  readonly keepsLoop?: boolean;
}

export interface NodeParts {
  readonly nodeName: string;
  readonly transport: SimulatedTransport;
  readonly lifeline: Lifeline;
  readonly clock: ProcessClock;
  readonly prng: Prng;
  readonly port: RuntimePort;
  readonly statics: PodSource;
  readonly streamLists: boolean;
  readonly logger: Logger;
  readonly lifeOf: SyncerParts['lifeOf'];
  readonly prober: Omit<ProberParts, 'lifeline' | 'prng'>;
  /** Sees each list that a source sends. */
  readonly told: (source: string, pods: readonly Pod[]) => void;
  /** Calls `tell` for each pod of which something has changed in the runtime, soon. */
  readonly runtimeEvents: (tell: (podUID: string) => void) => void;
  readonly breakage: NodeBreakage | undefined;
}

const hostIPs = ['192.0.2.1'];

/** One run of an agent: all parts of a node, put together. */
export class NodeProcess {
  readonly workers: PodWorkers<RetryQueue>;
  readonly podManager = new BasicPodManager();
  readonly #parts: NodeParts;
  readonly #config: PodConfig;
  readonly #loop: SyncLoop;
  readonly #syncer: NodePodSyncer;
  readonly #statusManager: StatusManager;
  readonly #probes: ProbeManager;
  readonly #mirrorPods: MirrorPodReconciler;
  readonly #workQueue: WorkQueue;
  readonly #stopping = new AbortController();

  constructor(parts: NodeParts) {
    this.#parts = parts;
    const { nodeName, lifeline, clock, prng, port, streamLists, logger, breakage } = parts;
    const random = (): number => prng.next();
    const shared = { clock, random, logger };
    const timed = { clock, logger };
    const transport = agentTransport(parts.transport, lifeline);
    const { podManager } = this;
    this.#config = new PodConfig(timed);
    const apiSource = new ApiServerSource({ transport, nodeName, streamLists, ...shared });
    const source = new HandledSource(apiSource);
    this.#config.addSource('api', this.#observed('api', apiSource));
    this.#config.addSource('file', this.#observed('file', parts.statics));
    const safety: PodDeletionSafety = {
      podCouldHaveRunningContainers: (pod) => this.workers.podCouldHaveRunningContainers(pod),
      podResourcesAreReclaimed: (pod) => this.workers.podResourcesAreReclaimed(pod),
    };
    this.#statusManager = new StatusManager({
      podClient: new KubePodClient(transport),
      podManager,
      podSource: source,
      podDeletionSafety: breakage?.safety?.(safety) ?? safety,
      ...shared,
    });
    const prober = simulatedProber({ ...parts.prober, lifeline, prng: prng.fork('prober') });
    this.#probes = new ProbeManager({
      prober: breakage?.prober?.(prober, parts) ?? prober,
      statusManager: this.#statusManager,
      handlers: {
        resultChanged: ({ podUID, needsSync }) => {
          if (needsSync) this.#loop.podChanged(podUID);
        },
      },
      ...shared,
    });
    const probes = breakage?.probes?.(this.#probes) ?? this.#probes;
    const syncer = { port, statusManager: this.#statusManager, probes, clock, hostIPs, lifeOf: parts.lifeOf };
    this.#syncer = new NodePodSyncer(syncer);
    this.#workQueue = new WorkQueue({ clock });
    const workers: PodWorkersOptions = {
      podSyncer: this.#syncer,
      runtimeStatusCache: port,
      workQueue: this.#workQueue,
      ...shared,
    };
    this.workers = new PodWorkers(breakage?.workers?.(workers, parts) ?? workers);
    const loop: SyncLoopOptions = {
      config: this.#config,
      podManager,
      podWorkers: this.workers,
      workQueue: this.#workQueue,
      statusManager: this.#statusManager,
      runtime: port,
      onCaughtUp: () => source.noteCaughtUp(),
      onHousekeeping: ({ possiblyRunning }) => this.#housekeep(possiblyRunning),
      ...timed,
    };
    this.#loop = new SyncLoop(breakage?.loop?.(loop, parts) ?? loop);
    this.#mirrorPods = new MirrorPodReconciler({
      podManager,
      mirrorPodClient: new MirrorPodClient({
        transport,
        nodeName,
        clock,
        getNode: (name) => ({ metadata: { name, uid: `uid-of-${name}` } }),
      }),
      nodeName,
      podSource: source,
      staticPodsReady: () => this.#loop.sourcesReady(),
      isPodTerminating: (fullName) => this.workers.isPodForMirrorPodTerminatingByFullName(fullName),
      ...shared,
    });
  }

  start(): void {
    this.#statusManager.start();
    this.#mirrorPods.start();
    this.#loop.start();
    this.#parts.runtimeEvents((podUID) => this.#loop.podChanged(podUID));
    this.#config.start();
  }

  /** The agent needs the room. Undefined: it does not know the pod, or the pod ends already. */
  evict(podUID: string, gracePeriodSeconds: number): Promise<void> | undefined {
    const pod = this.podManager.getPodByUID(podUID);
    if (pod === undefined || isStaticPod(pod) || this.workers.isPodTerminationRequested(podUID)) return undefined;
    const podStatusFn = (status: { phase?: string; reason?: string }): void => {
      Object.assign(status, { phase: 'Failed', reason: 'Evicted' });
    };
    return this.workers.killPodNow(pod, { evict: true, gracePeriodSeconds, podStatusFn }).catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#config.stop();
    if (this.#parts.breakage?.keepsLoop !== true) await this.#loop.stop();
    await this.workers.stop();
    this.#workQueue.close();
    await this.#probes.stop();
    await this.#statusManager.stop();
    await this.#mirrorPods.stop();
    this.#parts.lifeline.stopped();
  }

  /** For people who look into a failure. */
  explain(podUID: string): unknown {
    return this.#statusManager.explain(podUID);
  }

  #observed(name: string, source: PodSource): PodSource {
    const { told, lifeline } = this.#parts;
    return {
      start: (send) =>
        source.start((pods) => {
          if (lifeline.isAlive) told(name, pods);
          send(pods);
        }),
      stop: () => source.stop(),
    };
  }

  #housekeep(possiblyRunning: ReadonlySet<string>): void {
    this.#probes.cleanupPods(possiblyRunning);
    this.#syncer.gc();
    const { port } = this.#parts;
    const known = new Set(this.podManager.getPods().map(({ metadata }) => metadata?.uid));
    for (const uid of port.finishedPods()) {
      if (known.has(uid) || !this.workers.shouldPodContentBeRemoved(uid)) continue;
      port.forget(uid, this.#stopping.signal).catch(() => {});
    }
  }
}
