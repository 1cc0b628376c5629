import type { KubeConfig } from '@kubernetes/client-node';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { ApiServerPodSource, BasicPodManager, KubePodClient, StatusManager, type WirePod } from '../../../src/index.ts';
import { AgentPodManager } from '../chaos/agent-pod-manager.ts';
import { UnrequestedStatuses } from '../chaos/check/unrequested-statuses.ts';
import type { Mutant } from '../chaos/mutants.ts';
import { Prng } from '../chaos/prng.ts';
import type { Found } from '../chaos/rules.ts';
import type { Ledger } from '../chaos/said/ledger.ts';
import { ownConditionType } from '../chaos/said/plain-status.ts';
import { secondOf, Voice } from '../chaos/said/voice.ts';
import { Tender } from '../chaos/tender.ts';
import { WatchedClient } from '../chaos/watched-client.ts';
import { CopiesBackInTime } from './copies-back-in-time.ts';
import type { JumpingClock } from './jumping-clock.ts';
import { settlingLate } from './late-settling.ts';
import { nodeName, podNames, staticPod } from './pods.ts';

export interface NodeAgentOptions {
  readonly kubeConfig: KubeConfig;
  readonly namespace: string;
  readonly pods: number;
  readonly seed: number;
  readonly clock: JumpingClock;
  readonly ledger: Ledger;
  readonly clientTimeoutMs: number;
  /** Pods sent at once, each over a connection of its own. */
  readonly concurrency: number;
  readonly found: Found;
  readonly mutant?: Mutant | undefined;
}

/** A node agent with the library's own client and pod source, behind the fault proxy. Its pods live, and it tells the manager. */
export class NodeAgent {
  readonly manager: StatusManager;
  readonly copies: CopiesBackInTime;
  readonly errors = new Map<string, number>();
  readonly #options: NodeAgentOptions;
  readonly #podManager = new BasicPodManager();
  readonly #transport: KubeTransport;
  readonly #source: ApiServerPodSource;
  readonly #prng: Prng;
  readonly #tender: Tender;
  readonly #voice: Voice;
  readonly #staticPods: readonly WirePod[];
  #housekeeping: NodeJS.Timeout | undefined;

  /** By `performance.now()`. */
  readonly unrequested = new UnrequestedStatuses();

  constructor(options: NodeAgentOptions) {
    const { kubeConfig, namespace, pods, seed, clock, clientTimeoutMs, concurrency, ledger, found, mutant } = options;
    this.#options = options;
    this.#prng = new Prng(seed).fork('agent');
    this.#staticPods = podNames(pods).fixed.map((name) => staticPod(namespace, name));
    this.#transport = new KubeTransport(kubeConfig, { connections: concurrency, requestTimeoutMs: clientTimeoutMs, clock });
    this.copies = new CopiesBackInTime(this.#podManager);
    this.#source = this.#makeSource();
    // some seeds call `terminatePod` for every pod, the others for none
    const leavesItToTheManager = mutant?.options?.terminateWhenReclaimed ?? seed % 4 < 2;
    const now = (): string => secondOf(clock.now());
    this.#tender = new Tender(ledger, this.#prng.fork('lives'), now, leavesItToTheManager);
    this.manager = this.#makeManager();
    this.#voice = new Voice({
      manager: mutant?.manager?.(this.manager) ?? this.manager,
      podManager: this.#podManager,
      ledger,
      prng: this.#prng.fork('voice'),
      found,
      atOneInstant: clock.atOneInstant,
      mayBeDropped: ({ uid, isStatic }) => !isStatic && (this.#isGoing(uid) || ledger.mayVanish(uid, true)),
      log: () => {},
    });
  }

  async start(): Promise<void> {
    this.manager.start();
    await this.#source.start();
    for (const pod of this.#staticPods) this.#podManager.addPod(pod);
    for (const pod of this.#pods()) this.#tender.report(this.#voice, pod);
    this.#housekeeping = setInterval(() => this.#removeOrphans(), 500);
  }

  /** Says the last thing of each pod. */
  lastWords(): void {
    for (const pod of this.#pods()) this.#tender.lastWord(this.#voice, pod);
  }

  /** Does one thing to a pod, and mostly says so. At times it is a pod that is new, or that is being deleted. */
  update(): void {
    const pods = this.#pods();
    const urgent = this.#prng.chance(0.15) ? this.#prng.pick(pods.filter((pod) => this.#isUrgent(pod))) : undefined;
    const pod = urgent ?? this.#prng.pick(pods);
    if (pod !== undefined) this.#tender.tend(this.#voice, pod);
  }

  /** After the storm: sets the statuses that are missing, corrects those that were refused, and ends pods that are deleted. */
  catchUp(): void {
    for (const pod of this.#pods()) {
      if (!this.#voice.hasSpokenOf(pod.metadata?.uid ?? '')) this.#tender.report(this.#voice, pod);
      if (pod.metadata?.deletionTimestamp === undefined) this.#tender.correct(this.#voice, pod);
      else this.#tender.finish(this.#voice, pod);
    }
  }

  /** The pods of which something was said. */
  get uids(): readonly string[] {
    return this.#voice.uids;
  }

  async stop(drainTimeoutMs: number): Promise<void> {
    clearInterval(this.#housekeeping);
    await this.manager.stop({ drainTimeoutMs });
    await this.#source.stop();
    await this.#transport.close();
  }

  #pods(): WirePod[] {
    return this.#podManager.getPods() as WirePod[];
  }

  #isUrgent({ metadata }: WirePod): boolean {
    return metadata?.deletionTimestamp !== undefined || !this.#voice.hasSpokenOf(metadata?.uid ?? '');
  }

  #isGoing(uid: string): boolean {
    const pod = this.#podManager.getPodByUID(uid);
    return pod === undefined || pod.metadata?.deletionTimestamp !== undefined;
  }

  #makeManager(): StatusManager {
    const { seed, clock, clientTimeoutMs, concurrency, found, mutant } = this.#options;
    const prng = this.#prng.fork('manager');
    const wire = settlingLate(this.copies.listeningTo(new KubePodClient(this.#transport)), this.#prng.fork('settling'));
    const client = new WatchedClient(wire, concurrency, found);
    const subscribes = seed % 2 === 0 && mutant?.withoutSubscription !== true;
    const manager = new StatusManager({
      logger: null,
      syncPeriodMs: 1000,
      // so few that a burst of updates overflows it
      channelCapacity: 20,
      staleAfterMs: 60_000,
      ownedConditionTypes: [ownConditionType],
      random: () => prng.next(),
      ...mutant?.options,
      concurrency,
      podClient: mutant?.client?.(client) ?? client,
      podManager: new AgentPodManager(this.#podManager, { subscribes, turn: () => 0, onFailure: () => {} }),
      podDeletionSafety: { ...this.#tender.safety, ...mutant?.safety },
      podSource: this.#source,
      requestTimeoutMs: clientTimeoutMs,
      clock,
    });
    manager.on('syncError', ({ errorClass }) => this.errors.set(errorClass, (this.errors.get(errorClass) ?? 0) + 1));
    manager.on('synced', ({ podUID, patched }) => this.unrequested.note(podUID, patched, performance.now()));
    manager.on('podRemoved', ({ pod }) => this.#voice.podRemoved(pod.metadata?.uid ?? ''));
    return manager;
  }

  #makeSource(): ApiServerPodSource {
    const prng = this.#prng.fork('source');
    return new ApiServerPodSource({
      logger: null,
      transport: this.#transport,
      nodeName,
      namespace: this.#options.namespace,
      idleTimeoutMs: 2000,
      random: () => prng.next(),
      clock: this.#options.clock,
      podManager: this.copies,
    });
  }

  #removeOrphans(): void {
    const known = new Set(this.#pods().map(({ metadata }) => metadata?.uid ?? ''));
    this.#voice.forget(this.#voice.uids.filter((uid) => !known.has(uid)));
    this.manager.removeOrphanedStatuses(known);
  }
}
