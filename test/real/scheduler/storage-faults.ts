import { Prng } from '../../random/chaos/prng.ts';
import { eventually, pause } from '../../random/faults/pause.ts';
import { Schedulers } from '../../server/scheduler/schedulers.ts';
import { judgeStorage, type StorageFinding } from '../../support/storage/storage-judge.ts';
import type { StorageVersion } from '../../support/storage/storage-record.ts';
import { StorageServers } from '../../support/storage/storage-servers.ts';
import { VolumeMaker } from '../../support/storage/volume-maker.ts';
import { ClaimedNodes } from './claimed-nodes.ts';
import { ClaimedPods } from './claimed-pods.ts';

export interface StorageFaultOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly pods: number;
  /** How often the leader is killed, and how often it stands still until another one has bound pods, and then goes on. */
  readonly kills: number;
  readonly pauses: number;
  /** What is wrong on purpose: schedulers that wait for no Lease, those that look at no version either, or a maker of two volumes. */
  readonly broken?: 'rash' | 'blind' | 'twice' | undefined;
  readonly log: (line: string) => void;
}

export interface StorageFaultReport extends StorageFaultOptions {
  readonly claims: number;
  /** Volumes that were made, and requests for one that were refused. */
  readonly made: number;
  readonly refused: number;
  /** From each kill or pause until another pod was bound, in milliseconds. */
  readonly gaps: readonly number[];
  /** How many pods were created and not bound at each of them. */
  readonly open: readonly number[];
  /** From the first pod until all ran; undefined: never. */
  readonly tookMs: number | undefined;
  readonly versions: Readonly<Record<StorageVersion['kind'], number>>;
  readonly findings: readonly StorageFinding[];
}

/** How long everything may take to be in step after the last fault, and pods to be bound after each. */
const calmMs = 180_000;
/** Of so many requests for a volume one is refused. */
const requestsPerRefusal = 20;
/** The longest that a volume takes to be made, in milliseconds. */
const slowestMs = 300;

/** Pods with claims come in waves; in the middle of each something happens to the leader. Judges all that etcd has seen. */
export async function runStorageFaults(options: StorageFaultOptions): Promise<StorageFaultReport> {
  const { seed, nodes: nodeCount, pods: podCount, broken, log } = options;
  const prng = new Prng(seed);
  await using servers = await StorageServers.start();
  // the nodes of each zone have room for all pods: which zone a volume is in is for the scheduler to choose
  await using nodes = await ClaimedNodes.start(servers.kubeConfig(), nodeCount, Math.ceil((podCount * 3) / nodeCount) + 1);
  const { zoneOfNode, zones } = nodes;
  const weather = prng.fork('maker');
  await using maker = new VolumeMaker({
    admin: servers.admin,
    zoneOfNode,
    refuses: () => weather.chance(1 / requestsPerRefusal),
    before: () => new Promise((resolve) => setTimeout(resolve, weather.between(0, slowestMs))),
    makesTwice: broken === 'twice',
  });
  await using schedulers = new Schedulers(servers, 'kube-system', broken === 'twice' ? undefined : broken);
  await using pods = await ClaimedPods.begin(servers, schedulers.schedulerName, zones);
  await Promise.all(['first', 'second'].map((identity) => schedulers.start(identity)));
  log(`${nodeCount} nodes and two schedulers run`);

  const beganAt = performance.now();
  const play = new Play(options, { pods, schedulers, prng });
  await play.run();
  const isDone = await eventually(() => pods.allRun, calmMs, 100);
  const tookMs = isDone ? performance.now() - beganAt : undefined;
  log(isDone ? 'every pod runs' : `not every pod runs: ${pods.bound.size} of ${podCount} are bound`);

  const versions = await servers.history();
  const wanted = { pods: podCount, claims: pods.claims };
  const findings = judgeStorage({ versions, zoneOfNode, wanted, created: nodes.created() });
  const { made, refused } = maker;
  const { gaps, open } = play;
  const count = (kind: StorageVersion['kind']): number => versions.filter((version) => version.kind === kind).length;
  return {
    ...options,
    ...{ claims: pods.claims, made, refused: refused.length, gaps, open, tookMs, findings },
    versions: { volume: count('volume'), claim: count('claim'), pod: count('pod') },
  };
}

interface Parts {
  readonly pods: ClaimedPods;
  readonly schedulers: Schedulers;
  readonly prng: Prng;
}

/** How long the watch may take to tell of a pod, in milliseconds. */
const settleMs = 500;
/** So many pods are bound by the next leader before the one that stood still goes on. */
const boundMeanwhile = 3;

/** The waves and the faults. */
class Play {
  readonly gaps: number[] = [];
  readonly open: number[] = [];
  readonly #options: StorageFaultOptions;
  readonly #parts: Parts;

  constructor(options: StorageFaultOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { pods: podCount, kills, pauses } = this.#options;
    const { pods, prng } = this.#parts;
    const faults = prng.shuffled([...Array<'kill'>(kills).fill('kill'), ...Array<'pause'>(pauses).fill('pause')]);
    for (const [index, fault] of faults.entries()) {
      const created = pods.create(Math.floor((podCount * (index + 1)) / (faults.length + 1)) - pods.pods);
      await this.#inTheMiddle();
      await (fault === 'kill' ? this.#kill(index + 1) : this.#pause());
      await created;
    }
    await pods.create(podCount - pods.pods);
  }

  /** Resolves once a part of the pods that wait is bound, which the seed says. */
  async #inTheMiddle(): Promise<void> {
    const { pods, prng } = this.#parts;
    const waiting = pods.pods - pods.bound.size;
    await this.#untilBound(pods.bound.size + Math.max(1, Math.floor(waiting * prng.between(0.05, 0.5))));
    this.open.push(pods.pods - pods.bound.size);
  }

  async #kill(number: number): Promise<void> {
    const { schedulers } = this.#parts;
    const identity = await schedulers.killLeader();
    const [killedAt, goesOn] = [performance.now(), this.#goesOn(`${identity} is killed`)];
    await schedulers.start(`after-${number}`);
    this.gaps.push((await goesOn) - killedAt);
  }

  async #pause(): Promise<void> {
    const { pods, schedulers } = this.#parts;
    const pausedAt = performance.now();
    await schedulers.pauseLeader(async () => {
      this.gaps.push((await this.#goesOn('the leader stands still, and another one leads')) - pausedAt);
      await this.#untilBound(Math.min(pods.bound.size + boundMeanwhile, pods.pods));
    });
  }

  /** Resolves once another pod is bound, or none is left, to the time of that. */
  async #goesOn(what: string): Promise<number> {
    const { pods } = this.#parts;
    // what was under way comes through the watch
    await pause(settleMs);
    const bound = pods.bound.size;
    this.#options.log(`${what}; ${bound} pods are bound, ${pods.pods - bound} are open`);
    await this.#untilBound(Math.min(bound + 1, pods.pods));
    return performance.now();
  }

  async #untilBound(count: number): Promise<void> {
    const { bound } = this.#parts.pods;
    if (!(await eventually(() => bound.size >= count, calmMs, 2))) throw new Error(`${bound.size} of ${count} pods are bound`);
  }
}
