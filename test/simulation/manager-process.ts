import { BasicPodManager, isStatusManagerError, type PodClient, StatusManager, type WirePod } from '../../src/index.ts';
import { markOf, ownerOf } from './checker.ts';
import type { PodLife } from './pod-life.ts';
import { ProcessClock } from './simulated-clock.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import type { ManagerWrite } from './simulated-server.ts';
import { SimulatedWatch } from './simulated-watch.ts';
import type { World } from './world.ts';

interface FlushedPod {
  readonly life: PodLife;
  readonly mark: number;
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
  /** uid to the newest mark set in this process. */
  readonly marksSet = new Map<string, number>();
  readonly #world: World;
  readonly #network: SimulatedNetwork;
  readonly #writing = new Map<string, number>();
  #flushes = 0;
  #stopping = false;
  #dead = false;
  #lastHeard: number | undefined;

  constructor(world: World, id: number) {
    this.#world = world;
    this.id = id;
    const prng = world.prng.fork(`process ${id}`);
    this.clock = new ProcessClock(world.clock, world.wallOffsetMs);
    const { clock, server, weather, log, nextID } = world;
    this.#network = new SimulatedNetwork({
      clock,
      server,
      weather,
      log,
      nextID,
      prng: prng.fork('network'),
      onSent: (write, target) => this.#onSent(write, target),
      onSettled: (write) => this.#onSettled(write),
    });
    this.manager = this.#makeManager(() => prng.next());
    this.watch = new SimulatedWatch({
      clock,
      server,
      log,
      prng: prng.fork('watch'),
      set: (pod) => this.podManager.updatePod(pod),
      remove: (pod) => this.podManager.removePod(pod),
      heard: () => {
        this.#lastHeard = this.clock.now();
      },
    });
    this.manager.start();
  }

  /** The agent may use the manager. */
  get isUp(): boolean {
    return !this.#stopping && !this.#dead;
  }

  get requestsInFlight(): number {
    return this.#network.requestsInFlight;
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
    if (pendingTimers > 0) log.violate('nothing is left after stop', `${pendingTimers} timers are pending`);
    if (this.requestsInFlight > 0) log.violate('nothing is left after stop', `${this.requestsInFlight} requests are in flight`);
    this.kill();
  }

  /** Flushes, and holds the answer against the server. */
  flush(timeoutMs: number): void {
    const { log, clock, truth } = this.#world;
    const pods: FlushedPod[] = [];
    for (const [uid, mark] of this.marksSet) {
      const life = truth.life(uid);
      if (life !== undefined) pods.push({ life, mark, apiUID: this.#seenUID(life) });
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
        const isFair = isStatusManagerError(error, 'ERR_FLUSH_TIMEOUT') || isStatusManagerError(error, 'ERR_STOPPED');
        if (!isFair) log.violate('flush settles', `flush() rejected with ${String(error)}`);
      },
    );
    clock.schedule(() => {
      if (!isOver && !this.#dead) log.violate('flush settles', `flush() had not settled after its timeout of ${timeoutMs} ms`);
    }, timeoutMs + 1000);
  }

  /** Per-pod records stay in proportion to the pods: timers are what of them shows. */
  checkBounds(): void {
    const { log } = this.#world;
    const known = [...this.marksSet.keys()].filter((uid) => this.manager.getPodStatus(uid) !== undefined).length;
    const allowed = 4 + known + this.requestsInFlight + this.#flushes + (this.#stopping ? 1 : 0);
    if (this.clock.pendingTimers > allowed) {
      log.violate('the process stays small', `${this.clock.pendingTimers} timers for ${known} known pods`);
    }
  }

  #checkFlushed({ life, mark, apiUID }: FlushedPod): void {
    const pod = this.#onServer(life);
    // a mirror pod made again counts once the process has seen it
    const isSeen = pod?.metadata?.uid === apiUID && apiUID === this.#seenUID(life);
    if (pod === undefined || !isSeen || this.manager.getPodStatus(life.uid) === undefined) return;
    const found = markOf(pod.status);
    if (found >= mark) return;
    const { reason } = this.manager.explain(life.uid);
    const detail = `${life.name} (${life.uid}) has mark ${found}, ${mark} was set before flush(); ${reason}`;
    this.#world.log.violate('flush resolves when everything is there', detail);
  }

  #seenUID(life: PodLife): string | undefined {
    if (!life.isStatic) return life.uid;
    const pod = this.podManager.getPodByUID(life.uid);
    return pod && this.podManager.getMirrorPodByPod(pod)?.metadata?.uid;
  }

  #onServer(life: PodLife): WirePod | undefined {
    const pod = this.#world.server.find(life.namespace, life.name);
    return pod !== undefined && ownerOf(pod) === life.owner ? pod : undefined;
  }

  #makeManager(random: () => number): StatusManager {
    const { mutant, tuning, truth, log } = this.#world;
    const podClient: PodClient = mutant?.client?.(this.#network) ?? this.#network;
    const truthOf = (uid: string | undefined): PodLife | undefined => truth.life(uid ?? '');
    const manager = new StatusManager({
      ...tuning,
      podClient,
      podManager: this.podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: ({ metadata }) => truthOf(metadata?.uid)?.couldRun ?? false,
        podResourcesAreReclaimed: ({ metadata }) => truthOf(metadata?.uid)?.reclaimed ?? false,
        ...mutant?.safety,
      },
      podSource: { lastObservedAt: () => this.#lastHeard },
      clock: this.clock,
      random,
      logger: { debug() {}, info() {}, warn() {}, error: (fields, message) => this.#onError(fields, message) },
    });
    const say = (what: string): void => log.step(() => what);
    manager.on('synced', ({ podName, version, patched }) =>
      say(`synced ${podName}, version ${version}${patched ? '' : ', no change'}`),
    );
    manager.on('syncError', ({ podName, errorClass, retryInMs }) =>
      say(`sync error ${podName}: ${errorClass}, again in ${retryInMs}`),
    );
    return manager;
  }

  #onError(fields: object, message: string): void {
    if (message.startsWith('a status was refused')) return;
    const error = 'err' in fields ? `: ${fields.err instanceof Error ? fields.err.stack : String(fields.err)}` : '';
    this.#world.log.violate('nothing unforeseen happens', `${message}${error}`);
  }

  #onSent(write: ManagerWrite, target: string): void {
    const { log, tuning } = this.#world;
    const awaited = this.#network.requestsAwaited;
    if (awaited > tuning.concurrency) {
      log.violate('requests in flight are bounded', `${awaited} at once, ${tuning.concurrency} allowed`);
    }
    if (write.verb === 'get') return;
    const writing = (this.#writing.get(write.uid) ?? 0) + 1;
    this.#writing.set(write.uid, writing);
    if (writing > 1)
      log.violate('one write of a pod at a time', `#${write.id} ${write.verb} of ${target} while another is in flight`);
  }

  #onSettled(write: ManagerWrite): void {
    if (write.verb === 'get') return;
    const writing = (this.#writing.get(write.uid) ?? 1) - 1;
    if (writing === 0) this.#writing.delete(write.uid);
    else this.#writing.set(write.uid, writing);
  }
}
