import type { StatusManagerOptions, WirePod } from '../../../src/index.ts';
import { Checker, ownerOf } from '../chaos/check/checker.ts';
import type { Mutant } from '../chaos/mutants.ts';
import { Prng } from '../chaos/prng.ts';
import { Ledger } from '../chaos/said/ledger.ts';
import { ownConditionType } from '../chaos/said/plain-status.ts';
import { secondOf } from '../chaos/said/voice.ts';
import { Tender } from '../chaos/tender.ts';
import { ManagerProcess } from './manager-process.ts';
import { RunLog } from './run-log.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { fairWeather, type NetworkWeather } from './simulated-network.ts';
import { epochMs, SimulatedServer } from './simulated-server.ts';
import { WriteChecks } from './write-checks.ts';

export type ManagerTuning = Omit<StatusManagerOptions, 'podClient' | 'podManager' | 'podDeletionSafety' | 'clock' | 'logger'> & {
  readonly concurrency: number;
  readonly channelCapacity: number;
  readonly syncPeriodMs: number;
};

/** Short enough for a dead watch to be noticed before the run is over. */
const soonStaleMs = 60_000;

/** One run: the cluster, the network, the node, and the manager's process if one runs. */
export class World {
  readonly clock = new SimulatedClock();
  readonly log: RunLog;
  readonly prng: Prng;
  readonly ledger = new Ledger();
  readonly checker: Checker;
  readonly server: SimulatedServer;
  readonly writeChecks: WriteChecks;
  /** The pods' lives. They go on when the manager's process ends. */
  readonly tender: Tender;
  readonly weather: NetworkWeather = { ...fairWeather };
  readonly tuning: ManagerTuning;
  readonly mutant: Mutant | undefined;
  /** The pod manager offers a subscription. */
  readonly subscribes: boolean;
  /** Each list shows every write that was acknowledged before it began, and the manager is told when that was. */
  readonly listsAreConsistent: boolean;
  /** The agent drops the statuses of pods that are gone. Otherwise the manager has to do it by itself. */
  readonly removesOrphans: boolean;
  /** How far the node's wall clock is off. */
  wallOffsetMs = epochMs;
  /** After the faults the watch never comes back, and the source does not say so: the manager has to notice by itself. */
  readonly watchDies: boolean;
  process: ManagerProcess | undefined;
  #lastID = 0;
  #processes = 0;

  constructor(seed: number, mutant: Mutant | undefined, onStep: ((line: string) => void) | undefined) {
    this.prng = new Prng(seed);
    this.mutant = mutant;
    this.log = new RunLog(this.clock, onStep);
    this.server = new SimulatedServer(this.clock, this.prng.fork('server'), this.log);
    this.tuning = { ...drawTuning(this.prng.fork('tuning')), ...mutant?.options };
    this.subscribes = mutant?.withoutSubscription !== true && this.prng.fork('subscribes').chance(0.5);
    this.listsAreConsistent = this.prng.fork('lists').chance(0.5);
    this.removesOrphans = this.prng.fork('orphans').chance(0.5);
    this.watchDies = this.tuning.staleAfterMs === soonStaleMs && this.prng.fork('watch dies').chance(0.15);
    this.checker = new Checker('server', this.ledger, this.log.violate, (pod, number) => this.#repaired(pod, number));
    this.writeChecks = new WriteChecks(this.server, this.checker, this.log);
    const nodeTime = (): string => secondOf(this.clock.elapsedMs + this.wallOffsetMs);
    const isLeftToTheManager = this.tuning.terminateWhenReclaimed === true;
    this.tender = new Tender(this.ledger, this.prng.fork('lives'), nodeTime, isLeftToTheManager);
  }

  /** Request ids, one sequence for all processes. */
  readonly nextID = (): number => ++this.#lastID;

  #repaired(pod: WirePod, number: number): void {
    this.log.counts.paths['foreign write repaired']++;
    this.process?.repairs.count(ownerOf(pod), number);
  }

  startProcess(): void {
    const id = ++this.#processes;
    this.log.step(() => `process ${id} starts`);
    this.process = new ManagerProcess(this, id);
  }

  /** The process is gone from one moment to the next. */
  crash(): void {
    const { process } = this;
    if (process === undefined) return;
    this.log.step(() => `process ${process.id} crashes`);
    process.kill();
    this.process = undefined;
  }

  /** Stops the process the proper way; resolves when it is gone. */
  async stopProcess(drainTimeoutMs: number): Promise<void> {
    const { process } = this;
    if (process === undefined) return;
    await process.stop(drainTimeoutMs);
    this.log.step(() => `process ${process.id} has stopped`);
    this.process = undefined;
  }
}

function drawTuning(prng: Prng): ManagerTuning {
  return {
    concurrency: prng.pick([1, 2, 4, 16]) ?? 16,
    channelCapacity: prng.pick([0, 1, 5, 1000]) ?? 1000,
    syncPeriodMs: 10_000,
    requestTimeoutMs: prng.pick([3000, 10_000]) ?? 10_000,
    patchFormat: prng.chance(0.7) ? 'strategic' : 'json',
    fetchBeforePatch: prng.chance(0.85) ? 'when-unknown' : 'always',
    terminateWhenReclaimed: prng.chance(0.6),
    ownedConditionTypes: [ownConditionType],
    staleAfterMs: prng.pick([soonStaleMs, 300_000]) ?? 300_000,
    ...(prng.chance(0.3) ? { rateLimiter: { qps: prng.int(3, 20), burst: prng.int(1, 10) } } : {}),
  };
}
