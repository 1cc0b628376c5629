import { BasicPodManager, type ErrorCode, isStatusManagerError, StatusManager, type WirePod } from '../../../src/index.ts';
import { AgentPodManager, PodManagerFailure } from '../chaos/agent-pod-manager.ts';
import { ownerOf } from '../chaos/check/checker.ts';
import { UnrequestedStatuses } from '../chaos/check/unrequested-statuses.ts';
import type { PodLife } from '../chaos/life/pod-life.ts';
import { Voice } from '../chaos/said/voice.ts';
import { WatchedClient } from '../chaos/watched-client.ts';
import { counting } from './counting-manager.ts';
import { HintCount } from './hint-count.ts';
import { RepairCount } from './repair-count.ts';
import { ProcessClock } from './simulated-clock.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedWatch } from './simulated-watch.ts';
import type { World } from './simulation-world.ts';

interface FlushedPod {
  readonly life: PodLife;
  /** The number of the newest statement about it. */
  readonly number: number;
  /** The uid of its object on the server, as the process saw it when flush was called. */
  readonly apiUID: string | undefined;
}

/** One process of the agent: a manager, its view of the pods, and its connections. A crash ends it whole. */
export class ManagerProcess {
  readonly id: number;
  readonly clock: ProcessClock;
  readonly podManager = new BasicPodManager();
  readonly manager: StatusManager;
  readonly watch: SimulatedWatch;
  readonly voice: Voice;
  readonly repairs: RepairCount;
  readonly #world: World;
  readonly #network: SimulatedNetwork;
  readonly #client: WatchedClient;
  readonly #agentPods: AgentPodManager;
  /** Pods that the pod manager has lost once: a list from a server that lags behind may lack a pod for a moment. */
  readonly #vanished = new Set<string>();
  /** By the server's revision. */
  readonly #unrequested = new UnrequestedStatuses();
  #flushes = 0;
  #stopping = false;
  #dead = false;
  #lastHeard: number | undefined;
  #lastListed: number | undefined;

  constructor(world: World, id: number) {
    this.#world = world;
    this.id = id;
    const prng = world.prng.fork(`process ${id}`);
    this.clock = new ProcessClock(world.clock, world.wallOffsetMs);
    const { clock, server, weather, log, nextID, subscribes, tuning, listsAreConsistent } = world;
    this.#network = new SimulatedNetwork({ clock, server, weather, log, nextID, prng: prng.fork('network') });
    this.#client = new WatchedClient(this.#network, tuning.concurrency, log.violate);
    this.#agentPods = new AgentPodManager(this.podManager, {
      subscribes,
      turn: () => clock.turn,
      onFailure: () => log.counts.paths['hint lost']++,
    });
    this.manager = this.#makeManager(() => prng.next());
    this.voice = this.#makeVoice();
    this.watch = new SimulatedWatch({
      clock,
      server,
      log,
      prng: prng.fork('watch'),
      set: (pod) => this.podManager.updatePod(pod),
      // only the lists of a consistent source are the truth when they show an older copy
      replace: (pod) => listsAreConsistent && this.podManager.replacePod(pod),
      remove: (pod) => {
        this.#vanished.add(pod.metadata?.uid ?? '');
        this.podManager.removePod(pod);
      },
      heard: () => {
        this.#lastHeard = this.clock.now();
      },
      listed: (startedAt) => {
        this.#lastListed = startedAt;
      },
      now: () => this.clock.now(),
    });
    this.repairs = new RepairCount(() => clock.elapsedMs, tuning.syncPeriodMs, log.violate);
    this.manager.start();
  }

  /** The agent may use the manager. */
  get isUp(): boolean {
    return !this.#stopping && !this.#dead;
  }

  /** False for a pod of which nothing was said yet, and for one that was out of view and lost its status meanwhile. */
  hasStatusOf(uid: string): boolean {
    return this.voice.hasSpokenOf(uid) && (!this.#vanished.has(uid) || this.manager.getPodStatus(uid) !== undefined);
  }

  /** Has the manager look at a pod at once. */
  reconcile(uid: string): void {
    const life = this.#world.ledger.life(uid);
    if (life !== undefined) this.repairs.allowOne(life.owner);
    this.manager.reconcile(uid);
  }

  /** The pod manager fails for this turn: the hints that the manager looks at now are lost. */
  loseHints(): void {
    this.#agentPods.failNow();
  }

  kill(): void {
    this.#dead = true;
    this.clock.kill();
    this.watch.kill();
    this.#network.kill();
  }

  async stop(drainTimeoutMs: number): Promise<void> {
    this.#stopping = true;
    const { log, clock } = this.#world;
    log.step(() => `process ${this.id} stops, drains for ${drainTimeoutMs} ms`);
    let isOver = false;
    clock.schedule(() => {
      if (!isOver) log.violate('stop ends', `stop() had not ended 1 s after its drain timeout of ${drainTimeoutMs} ms`);
    }, drainTimeoutMs + 1000);
    await this.manager.stop({ drainTimeoutMs });
    isOver = true;
    const { pendingTimers } = this.clock;
    const { requestsInFlight } = this.#client;
    if (pendingTimers > 0) log.violate('nothing is left after stop', `${pendingTimers} timers are pending`);
    if (requestsInFlight > 0) log.violate('nothing is left after stop', `${requestsInFlight} requests are in flight`);
    this.kill();
  }

  /** Flushes, and compares the server with what the answer says: a checkpoint. */
  flush(timeoutMs: number): void {
    const { log, clock, ledger } = this.#world;
    const pods: FlushedPod[] = [];
    for (const uid of this.voice.uids) {
      const life = ledger.life(uid);
      const number = life && ledger.newest(life.owner)?.number;
      if (life !== undefined && number !== undefined) pods.push({ life, number, apiUID: this.#seenUID(life) });
    }
    this.#flushes++;
    let isOver = false;
    log.step(() => `flush of ${pods.length} pods, for ${timeoutMs} ms`);
    const end = (how: string): void => {
      isOver = true;
      this.#flushes--;
      log.step(() => `flush ${how}`);
    };
    this.manager.flush({ timeoutMs }).then(
      ({ held }) => {
        end('resolves');
        const heldUIDs = new Set(held.map(({ podUID }) => podUID));
        for (const pod of pods) if (!heldUIDs.has(pod.life.uid)) this.#checkFlushed(pod);
      },
      (error: unknown) => {
        end('rejects');
        const isFair = ['ERR_FLUSH_TIMEOUT', 'ERR_STOPPED'].some((code) => isStatusManagerError(error, code as ErrorCode));
        if (!isFair && !(error instanceof PodManagerFailure))
          log.violate('flush settles', `flush() rejected with ${String(error)}`);
      },
    );
    clock.schedule(() => {
      if (!isOver && !this.#dead) log.violate('flush settles', `flush() had not settled after its timeout of ${timeoutMs} ms`);
    }, timeoutMs + 1000);
  }

  /** Per-pod records stay in proportion to the pods. Only their timers can be counted from outside. */
  checkBounds(): void {
    const known = this.voice.uids.filter((uid) => this.manager.getPodStatus(uid) !== undefined).length;
    const allowed = 4 + known + this.#client.requestsInFlight + this.#flushes + (this.#stopping ? 1 : 0);
    if (this.clock.pendingTimers > allowed) {
      this.#world.log.violate('the process stays small', `${this.clock.pendingTimers} timers for ${known} known pods`);
    }
  }

  #checkFlushed({ life, number, apiUID }: FlushedPod): void {
    const { checker, log } = this.#world;
    const pod = this.#onServer(life);
    // a mirror pod that was created again is compared once the process has seen it
    const isSeen = pod?.metadata?.uid === apiUID && apiUID === this.#seenUID(life);
    if (pod === undefined || !isSeen || this.manager.getPodStatus(life.uid) === undefined) return;
    log.counts.checkpoints++;
    if (checker.shows(pod, number)) return;
    if (this.#unrequested.isOverwritten(life.uid, this.#world.writeChecks.lateWriteOn(pod.metadata?.uid ?? ''))) {
      log.counts.paths['late write after no change']++;
      return;
    }
    const { reason } = this.manager.explain(life.uid);
    const detail = `${life.name} (${life.uid}) is not as it was said before flush(); ${reason}`;
    log.violate('flush resolves when everything is there', detail);
  }

  #seenUID({ uid, isStatic }: PodLife): string | undefined {
    if (!isStatic) return uid;
    const pod = this.podManager.getPodByUID(uid);
    return pod && this.podManager.getMirrorPodByPod(pod)?.metadata?.uid;
  }

  #onServer(life: PodLife): WirePod | undefined {
    const pod = this.#world.server.find(life.namespace, life.name);
    return pod !== undefined && ownerOf(pod) === life.owner ? pod : undefined;
  }

  #makeManager(random: () => number): StatusManager {
    const { mutant, tuning, tender, log, ledger, checker, server, listsAreConsistent } = this.#world;
    const lastObservedAt = (): number | undefined => this.#lastHeard;
    const lastListedAt = (): number | undefined => this.#lastListed;
    const manager = new StatusManager({
      random,
      ...tuning,
      podClient: mutant?.client?.(this.#client) ?? this.#client,
      podManager: this.#agentPods,
      podDeletionSafety: { ...tender.safety, ...mutant?.safety },
      podSource: listsAreConsistent ? { lastObservedAt, lastListedAt } : { lastObservedAt },
      clock: this.clock,
      logger: {
        debug() {},
        // what only a debug line would tell is not computed
        isLevelEnabled: (level) => level !== 'debug',
        info: (_, message) => this.#onInfo(message),
        warn() {},
        error: (fields, message) => this.#onError(fields, message),
      },
    });
    const say = (what: string): void => log.step(() => what);
    manager.on('synced', ({ podUID, podName, version, patched }) => {
      this.#unrequested.note(podUID, patched, Number(server.store.resourceVersion));
      const owner = ledger.life(podUID)?.owner ?? '';
      this.repairs.acknowledged(owner, checker.position(owner));
      say(`synced ${podName}, version ${version}${patched ? '' : ', no change'}`);
    });
    manager.on('syncError', ({ podName, errorClass, retryInMs }) => {
      if (errorClass === 'invalid') log.counts.paths['status quarantined']++;
      say(`sync error ${podName}: ${errorClass}, again in ${retryInMs}`);
    });
    manager.on('podRemoved', ({ pod }) => this.voice.podRemoved(pod.metadata?.uid ?? ''));
    return manager;
  }

  #makeVoice(): Voice {
    const { mutant, tuning, ledger, log, clock, prng } = this.#world;
    const hints = new HintCount(
      tuning.channelCapacity,
      () => clock.turn,
      () => log.counts.paths['channel overflowed']++,
    );
    const counted = counting(this.manager, (uid, isForced) => {
      hints.sent(uid);
      if (isForced) this.repairs.allowOne(ledger.life(uid)?.owner ?? '');
    });
    return new Voice({
      manager: mutant?.manager?.(counted) ?? counted,
      podManager: this.podManager,
      ledger,
      prng: prng.fork(`voice ${this.id}`),
      found: log.violate,
      atOneInstant: (act) => act(this.clock.now()),
      mayBeDropped: (life) => this.#mayBeDropped(life),
      log: log.step,
    });
  }

  /** A static pod lives on without its mirror; any other pod ends with its object. */
  #mayBeDropped(life: PodLife): boolean {
    if (this.#vanished.has(life.uid) || this.podManager.getPodByUID(life.uid) === undefined) return true;
    return !life.isStatic && this.#onServer(life) === undefined;
  }

  #onInfo(message: string): void {
    if (message.startsWith('the pod is no longer there')) this.#world.log.counts.paths['status of a vanished pod dropped']++;
  }

  #onError(fields: object, message: string): void {
    const error = 'err' in fields ? fields.err : undefined;
    if (message.startsWith('a status was refused') || error instanceof PodManagerFailure) return;
    const what = error === undefined ? '' : `: ${error instanceof Error ? error.stack : String(error)}`;
    this.#world.log.violate('nothing unforeseen happens', `${message}${what}`);
  }
}
