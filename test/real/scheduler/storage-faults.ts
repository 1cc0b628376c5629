import { Prng } from '../../random/chaos/prng.ts';
import { eventually } from '../../random/faults/pause.ts';
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
  readonly kills: number;
  /** What is wrong on purpose: schedulers that wait for no Lease, those that look at no version either, or a maker of two volumes. */
  readonly broken?: 'rash' | 'blind' | 'twice' | undefined;
  readonly log: (line: string) => void;
}

export interface StorageFaultReport extends StorageFaultOptions {
  readonly claims: number;
  /** Volumes that were made, and requests for one that were refused. */
  readonly made: number;
  readonly refused: number;
  /** From each kill until another pod was bound, in milliseconds. */
  readonly pauses: readonly number[];
  /** How many pods were created and not bound at each kill. */
  readonly openAtKill: readonly number[];
  /** From the first pod until all ran; undefined: never. */
  readonly tookMs: number | undefined;
  readonly versions: Readonly<Record<StorageVersion['kind'], number>>;
  readonly findings: readonly StorageFinding[];
}

/** How long everything may take to be in step after the last kill. */
const calmMs = 180_000;
/** Of so many requests for a volume one is refused. */
const requestsPerRefusal = 20;
/** The longest that a volume takes to be made, in milliseconds. */
const slowestMs = 300;

/** Pods with claims come in waves; in the middle of each the leader is killed, and another scheduler comes. Judges all that etcd has seen. */
export async function runStorageFaults(options: StorageFaultOptions): Promise<StorageFaultReport> {
  const { seed, nodes: nodeCount, pods: podCount, kills, broken, log } = options;
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
  const { pauses, openAtKill } = play;
  const count = (kind: StorageVersion['kind']): number => versions.filter((version) => version.kind === kind).length;
  return {
    ...options,
    ...{ kills, claims: pods.claims, made, refused: refused.length, pauses, openAtKill, tookMs, findings },
    versions: { volume: count('volume'), claim: count('claim'), pod: count('pod') },
  };
}

interface Parts {
  readonly pods: ClaimedPods;
  readonly schedulers: Schedulers;
  readonly prng: Prng;
}

/** The waves and the kills. */
class Play {
  readonly pauses: number[] = [];
  readonly openAtKill: number[] = [];
  readonly #options: StorageFaultOptions;
  readonly #parts: Parts;

  constructor(options: StorageFaultOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { pods: podCount, kills } = this.#options;
    const { pods } = this.#parts;
    for (let wave = 1; wave <= kills; wave += 1) {
      const created = pods.create(Math.floor((podCount * wave) / (kills + 1)) - pods.pods);
      await this.#kill(wave);
      await created;
    }
    await pods.create(podCount - pods.pods);
  }

  /** Once a part of the pods that wait is bound, which the seed says. */
  async #kill(wave: number): Promise<void> {
    const { pods, schedulers, prng } = this.#parts;
    const { log } = this.#options;
    const open = pods.pods - pods.bound.size;
    const until = pods.bound.size + Math.max(1, Math.floor(open * prng.between(0.05, 0.8)));
    if (!(await eventually(() => pods.bound.size >= until, calmMs, 2)))
      throw new Error(`${pods.bound.size} of ${until} pods are bound`);
    const identity = await schedulers.killLeader();
    const [killedAt, bound] = [performance.now(), pods.bound.size];
    this.openAtKill.push(pods.pods - bound);
    log(`kill ${wave}: ${identity}, with ${bound} pods bound and ${pods.pods - bound} open`);
    const goesOn = eventually(() => pods.bound.size > bound, calmMs, 10);
    await schedulers.start(`after-${wave}`);
    if (await goesOn) this.pauses.push(performance.now() - killedAt);
  }
}
