import type { KubeConfig } from '@kubernetes/client-node';
import { Random } from '../../examples/virtual-node/random.ts';
import { KubeTransport } from '../../src/client/transport/kube-transport.ts';
import {
  ApiServerPodSource,
  BasicPodManager,
  KubePodClient,
  type PodClient,
  StatusManager,
  type WirePod,
} from '../../src/index.ts';
import { type Journal, ownerOfPod } from './journal.ts';
import type { JumpingClock } from './jumping-clock.ts';
import { markedStatus, nodeName, podNames, staticPod } from './pods.ts';

export interface NodeAgentOptions {
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;
  readonly pods: number;
  readonly seed: number;
  readonly clock: JumpingClock;
  readonly journal: Journal;
  readonly clientTimeoutMs: number;
  /** A mutant puts itself between manager and client. */
  readonly wrapClient?: ((client: PodClient) => PodClient) | undefined;
}

/**
 * A node agent over the real pieces, all of them behind the fault proxy. It sets what the workload wants, ends the pods
 * it is asked to end, by `terminatePod` or not at all as the seed has it, and drops what is gone.
 */
export class NodeAgent {
  readonly manager: StatusManager;
  readonly errors = new Map<string, number>();
  readonly #options: NodeAgentOptions;
  readonly #podManager = new BasicPodManager();
  readonly #transport: KubeTransport;
  readonly #source: ApiServerPodSource;
  readonly #random: Random;
  readonly #staticPods: readonly WirePod[];
  /** Pods whose containers run, by uid, in the order they came. */
  readonly #running = new Map<string, WirePod>();
  readonly #ended = new Set<string>();
  /** An agent that calls it must do so for every pod: the manager finishes none by itself then. */
  readonly #callsTerminatePod: boolean;
  #uids: string[] = [];
  #housekeeping: NodeJS.Timeout | undefined;

  constructor(options: NodeAgentOptions) {
    const { kubeConfig, namespace, pods, seed, clock, clientTimeoutMs, wrapClient } = options;
    this.#options = options;
    this.#random = new Random(seed, 1);
    this.#callsTerminatePod = seed % 2 === 0;
    this.#staticPods = podNames(pods).fixed.map((name) => staticPod(namespace, name));
    this.#transport = new KubeTransport(kubeConfig, { connections: 16, requestTimeoutMs: clientTimeoutMs, clock });
    const podClient = new KubePodClient(this.#transport);
    const random = new Random(seed, 2);
    this.#source = this.#newSource(new Random(seed, 3));
    this.manager = new StatusManager({
      podClient: wrapClient?.(podClient) ?? podClient,
      podManager: this.#podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: ({ metadata }) => !this.#ended.has(metadata?.uid ?? ''),
        podResourcesAreReclaimed: ({ metadata }) => this.#ended.has(metadata?.uid ?? ''),
      },
      podSource: this.#source,
      syncPeriodMs: 1000,
      requestTimeoutMs: clientTimeoutMs,
      staleAfterMs: 60_000,
      random: () => random.next(),
      clock,
    });
    this.manager.on('syncError', ({ errorClass }) => this.errors.set(errorClass, (this.errors.get(errorClass) ?? 0) + 1));
  }

  async start(): Promise<void> {
    this.manager.start();
    await this.#source.start();
    for (const pod of this.#staticPods) {
      this.#podManager.addPod(pod);
      this.#run(pod);
    }
    this.#housekeeping = setInterval(() => this.#removeOrphans(), 500);
  }

  /** One update of a pod picked by the dice: mostly a new status, at times a probe's result. */
  update(): void {
    const uid = this.#random.pick(this.#uids);
    const pod = uid === undefined ? undefined : this.#running.get(uid);
    if (uid === undefined || pod === undefined) return;
    if (this.#random.chance(0.1)) {
      this.#options.journal.updates++;
      this.manager.setContainerReadiness(uid, 'containerd://app', this.#random.chance(0.5));
    } else this.#set(pod, false);
  }

  /** True when the manager's own view of this apiserver's pod has the same readiness. */
  hasReadiness(podUID: string, ready: string | undefined): boolean {
    const conditions = this.manager.getPodStatus(podUID)?.conditions;
    return conditions?.find(({ type }) => type === 'Ready')?.status === ready;
  }

  async stop(): Promise<void> {
    clearInterval(this.#housekeeping);
    await this.manager.stop({ drainTimeoutMs: 1000 });
    await this.#source.stop();
    await this.#transport.close();
  }

  #newSource(random: Random): ApiServerPodSource {
    return new ApiServerPodSource({
      transport: this.#transport,
      nodeName,
      namespace: this.#options.namespace,
      idleTimeoutMs: 2000,
      random: () => random.next(),
      clock: this.#options.clock,
      podManager: this.#podManager,
      handlers: {
        podAdded: (pod) => this.#added(pod),
        podUpdated: (pod) => this.#updated(pod),
        podDeleted: ({ metadata }) => this.#forget(metadata?.uid ?? ''),
      },
    });
  }

  #added(pod: WirePod): void {
    if (ownerOfPod(pod) !== pod.metadata?.uid) return;
    this.#run(pod);
    this.#updated(pod);
  }

  #run(pod: WirePod): void {
    this.#running.set(pod.metadata?.uid ?? '', pod);
    this.#uids = [...this.#running.keys()];
    this.#set(pod, false);
  }

  #updated(pod: WirePod): void {
    const uid = pod.metadata?.uid ?? '';
    if (!this.#running.has(uid)) return;
    this.#running.set(uid, pod);
    if (pod.metadata?.deletionTimestamp !== undefined) this.#end(uid, pod);
  }

  #end(uid: string, pod: WirePod): void {
    this.#forget(uid);
    this.#ended.add(uid);
    this.#set(pod, true);
    if (this.#callsTerminatePod) this.manager.terminatePod(pod);
    this.manager.reconcile(uid);
  }

  #forget(uid: string): void {
    if (this.#running.delete(uid)) this.#uids = [...this.#running.keys()];
  }

  #set(pod: WirePod, ended: boolean): void {
    const isStatic = pod.metadata?.annotations?.['kubernetes.io/config.hash'] !== undefined;
    const mark = this.#options.journal.nextMark(isStatic ? `static ${pod.metadata?.name}` : (pod.metadata?.uid ?? ''));
    this.#options.journal.updates++;
    this.manager.setPodStatus(pod, markedStatus(pod, mark, { ready: this.#random.chance(0.7), ended }));
  }

  #removeOrphans(): void {
    const known = this.#podManager.getPods().map(({ metadata }) => metadata?.uid ?? '');
    this.manager.removeOrphanedStatuses(new Set(known));
  }
}
