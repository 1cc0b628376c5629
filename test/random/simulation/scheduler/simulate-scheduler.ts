import { Scheduler } from '../../../../src/scheduler/scheduler.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { Prng } from '../../chaos/prng.ts';
import { type Change, SimulatedCluster } from './simulated-cluster.ts';

const room = 3;
const mostPods = 12;
const leastNodes = 5;

/** What came of one run. */
export interface SchedulerRun {
  /** What must not happen; none where all went well. */
  readonly problems: readonly string[];
  /** How often each fault struck. */
  readonly faults: Readonly<Record<string, number>>;
}

/**
 * One run of the scheduler in virtual time: pods and nodes come and go, the watch is late, bindings fail, hang or are slow, and
 * the scheduler is killed and replaced. At the end the faults cease: then every pod must be on a node.
 */
export async function simulateScheduler(seed: number, { steps = 40 } = {}): Promise<SchedulerRun> {
  const run = new Run(seed);
  for (let step = 0; step < steps; step++) await run.step();
  return run.end();
}

class Run {
  readonly #prng: Prng;
  readonly #jumps: Prng;
  readonly #clock = new FakeClock();
  readonly #cluster = new SimulatedCluster(room);
  readonly #faults: Record<string, number> = { refused: 0, hangs: 0, slow: 0, killed: 0, lateWatch: 0, clockJump: 0 };
  #isFaulty = true;
  /** What the watch has not told the present scheduler yet. */
  #untold: Change[] = [];
  #scheduler: Scheduler;
  #life = new AbortController();

  constructor(seed: number) {
    this.#prng = new Prng(seed);
    this.#jumps = this.#prng.fork('clock jumps');
    this.#cluster.onChange = (change) => void this.#untold.push(change);
    for (let i = 0; i < leastNodes; i++) this.#cluster.addNode();
    this.#scheduler = this.#newScheduler();
  }

  async step(): Promise<void> {
    const [prng, cluster] = [this.#prng, this.#cluster];
    const what = prng.next();
    if (what < 0.55 && cluster.pods.size < mostPods) cluster.addPod();
    else if (what < 0.7) cluster.deletePod(cluster.any(prng, 'pods'));
    else if (what < 0.78) cluster.addNode();
    else if (what < 0.85 && cluster.nodes.size > leastNodes) cluster.deleteNode(cluster.any(prng, 'nodes'));
    else if (what < 0.93) await this.#replaceScheduler();
    if (prng.chance(0.6)) this.#tell(this.#untold.length);
    else if (this.#untold.length > 0) {
      this.#faults.lateWatch = (this.#faults.lateWatch ?? 0) + 1;
      this.#tell(prng.int(0, this.#untold.length - 1));
    }
    if (this.#jumps.chance(0.05)) {
      this.#faults.clockJump = (this.#faults.clockJump ?? 0) + 1;
      this.#clock.jump(this.#jumps.pick([-3_600_000, -5000, 5000, 3_600_000]) ?? 0);
    }
    await this.#advance(prng.int(0, 3000));
  }

  async end(): Promise<SchedulerRun> {
    this.#isFaulty = false;
    for (let i = 0; i < 30; i++) {
      this.#tell(this.#untold.length);
      await this.#advance(10_000);
    }
    const left = this.#cluster.left().map((pod) => `${pod} was left without a node: ${this.#scheduler.explain(pod).text}`);
    await this.#scheduler.stop();
    return { problems: [...this.#cluster.problems, ...left], faults: this.#faults };
  }

  async #advance(ms: number): Promise<void> {
    await turn();
    await this.#clock.advance(ms);
    await turn();
  }

  #tell(count: number): void {
    if (count === this.#untold.length) this.#cluster.collectGarbage();
    for (const change of this.#untold.splice(0, count)) {
      if (change.kind === 'pod') this.#scheduler.setPod(change.pod);
      else if (change.kind === 'podGone') this.#scheduler.deletePod(change.pod.metadata?.uid ?? '');
      else if (change.kind === 'node') this.#scheduler.setNode(change.node);
      else if (change.kind === 'nodeGone') this.#scheduler.deleteNode(change.node.metadata?.name ?? '');
    }
  }

  /** Nothing that the old one has begun reaches the server any more; the new one begins with a list. */
  async #replaceScheduler(): Promise<void> {
    this.#faults.killed = (this.#faults.killed ?? 0) + 1;
    this.#life.abort();
    await this.#scheduler.stop();
    this.#life = new AbortController();
    this.#untold = [];
    this.#scheduler = this.#newScheduler();
    for (const node of this.#cluster.nodes.values()) this.#scheduler.setNode(node);
    for (const pod of this.#cluster.pods.values()) this.#scheduler.setPod(pod);
  }

  #newScheduler(): Scheduler {
    const life = this.#life.signal;
    const bind = (uid: string, nodeName: string, signal: AbortSignal) =>
      this.#bind(uid, nodeName, AbortSignal.any([signal, life]));
    const scheduler = new Scheduler({
      client: { bind: ({ metadata }, nodeName, signal) => bind(metadata?.uid ?? '', nodeName, signal) },
      random: () => this.#prng.next(),
      clock: this.#clock,
      bindTimeoutMs: 5000,
      logger: null,
    });
    scheduler.start();
    return scheduler;
  }

  async #bind(uid: string, nodeName: string, signal: AbortSignal): Promise<void> {
    const fault = this.#isFaulty ? this.#prng.next() : 1;
    const strikes = (name: string): void => {
      this.#faults[name] = (this.#faults[name] ?? 0) + 1;
    };
    if (fault < 0.15) {
      strikes('refused');
      throw new Error('503: later');
    }
    if (fault < 0.25) {
      strikes('hangs');
      return new Promise(() => {});
    }
    if (fault < 0.5) {
      strikes('slow');
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, this.#prng.int(1, 7000)));
    }
    signal.throwIfAborted();
    this.#cluster.bind(uid, nodeName);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
