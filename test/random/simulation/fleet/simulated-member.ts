import type { Logger } from '../../../../src/base/logging/logger.ts';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { FleetMember, type FleetMemberOptions } from '../../../../src/fleet/member/fleet-member.ts';
import { fleetTiming } from '../../../../src/fleet/node-fleet-options.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedObjects } from '../parts/simulated-objects.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { FleetPods } from './fleet-pods.ts';
import type { FleetFound } from './fleet-rules.ts';
import { fairWeather } from './fleet-storm.ts';
import { fleetName, fleetNamespace } from './fleet-world.ts';
import { MemberNetwork } from './member-network.ts';
import { MemberProcess } from './member-process.ts';
import type { FleetBreakage } from './mutants.ts';
import type { JudgedMember, OwnershipJudge } from './ownership-judge.ts';
import type { PodStates } from './pod-states.ts';
import { ShardNodes, type WriteGuard } from './shard-nodes.ts';
import { SimulatedHost } from './simulated-host.ts';

export interface SimulatedMemberParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly id: string;
  readonly shards: number;
  readonly wallMs: number;
  readonly objects: SimulatedObjects;
  readonly nodesOf: readonly (readonly number[])[];
  readonly table: FleetPods;
  readonly states: PodStates;
  readonly judge: OwnershipJudge;
  readonly found: FleetFound;
  readonly count: (what: string) => void;
  readonly countFault: (fault: string) => void;
  readonly breakage: FleetBreakage;
  readonly onLog: ((line: string) => void) | undefined;
}

/** Two clocks differ by one percent at most. */
const mostDrift = 0.005;

/** How long an aborted request may take until it has settled. */
const settlesInMs = 250;

/** One process of the fleet on a machine of its own, with its network and its nodes. */
export class SimulatedMember implements JudgedMember {
  readonly id: string;
  readonly weather = { ...fairWeather };
  /** How many shards it counts with. */
  readonly shards: number;
  /** Its machine sleeps at times: see `StruckMember`. */
  readonly sleeps: boolean;
  readonly #parts: SimulatedMemberParts;
  readonly #process: MemberProcess;
  readonly #network: MemberNetwork;
  readonly #host: SimulatedHost;
  readonly #member: FleetMember;
  #isLeaving = false;

  constructor(parts: SimulatedMemberParts) {
    this.#parts = parts;
    const { clock, prng, id, shards, wallMs, objects, found, count, countFault, breakage } = parts;
    this.id = id;
    this.shards = shards;
    this.sleeps = prng.chance(0.3);
    this.#process = new MemberProcess(clock, { rate: prng.between(1 - mostDrift, 1 + mostDrift), wallMs });
    const network = {
      clock,
      process: this.#process,
      objects,
      weather: this.weather,
      prng: prng.fork('network'),
      count: countFault,
    };
    this.#network = new MemberNetwork(network);
    const ends = prng.fork('ends');
    this.#host = new SimulatedHost({
      id,
      process: this.#process,
      found,
      count,
      begin: (shard, term) => this.#beginNodes(shard, term),
      endsInMs: () => ends.between(0, 800),
    });
    const random = prng.fork('random');
    const options: FleetMemberOptions = {
      transport: this.#network,
      names: { name: fleetName, namespace: fleetNamespace, shards },
      id,
      process: `p${Math.round(clock.elapsedMs)}`,
      agent: `process of ${id}`,
      timing: fleetTiming(),
      handOversAtOnce: 4,
      clock: this.#process.clock,
      random: () => random.next(),
      logger: this.#logger(),
      metrics: noMetrics,
      sink: undefined,
    };
    const made = breakage.member?.({ options, host: this.#host }) ?? { options, host: this.#host };
    this.#member = new FleetMember(made.options, made.host);
  }

  get isDead(): boolean {
    return this.#process.isDead;
  }

  get isAwake(): boolean {
    return !this.#process.isDead && !this.#process.isPaused;
  }

  /** True once it is to stop. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get running(): readonly number[] {
    return this.#host.running;
  }

  hasEnded(shard: number): boolean {
    return this.#host.hasEnded(shard);
  }

  serves(shard: number): boolean {
    return this.#host.serves(shard);
  }

  start(): void {
    this.#member.start().catch((error: unknown) => {
      if (!this.isDead && !this.#isLeaving)
        this.#parts.found('nothing unforeseen happens', `the start of ${this.id} failed: ${error}`);
    });
  }

  /** The process is gone in the middle of whatever it did. */
  crash(): void {
    this.#parts.count('member crashed');
    this.#process.kill();
    this.#network.resetAll();
  }

  /** It leaves in good order. Then nothing of it may be left, and the process ends. */
  async stop(timeoutMs: number): Promise<void> {
    this.#parts.count('member stopped');
    this.#isLeaving = true;
    // one that is paused hears of it once it goes on
    await new Promise<void>((resolve) => this.#process.run(resolve));
    await this.#member.stop(timeoutMs);
    await this.#host.ended();
    const { found, count, clock } = this.#parts;
    await new Promise<void>((resolve) => clock.schedule(resolve, settlesInMs));
    const left = [
      ...(this.#network.open > 0 ? [`${this.#network.open} requests or watches`] : []),
      ...(this.#process.pendingTimers > 0 ? [`${this.#process.pendingTimers} timers`] : []),
      ...(this.running.length > 0 ? [`shards ${this.running}`] : []),
    ];
    for (const one of left) found('nothing is left after stop', `${this.id}: ${one}`);
    count('member left');
    this.#process.kill();
  }

  resetAll(): void {
    this.#network.resetAll();
  }

  silenceAll(): void {
    this.#network.silenceAll();
  }

  pause(asleep: boolean): void {
    this.#process.pause(asleep);
  }

  resume(): void {
    this.#process.resume();
  }

  jumpWall(ms: number): void {
    this.#process.jumpWall(ms);
  }

  #beginNodes(shard: number, term: WriteGuard): ShardNodes {
    const { clock, prng, table, states, judge, nodesOf, count, found, breakage } = this.#parts;
    if (this.shards !== nodesOf.length)
      found('the number of shards is that of the fleet', `${this.id} counts with ${this.shards}, and has gained shard ${shard}`);
    judge.gained(this, shard, term);
    return new ShardNodes({
      shard,
      nodes: nodesOf[shard] ?? [],
      term,
      clock,
      process: this.#process,
      weather: this.weather,
      prng: prng.fork(`nodes of ${shard} at ${clock.elapsedMs}`),
      table,
      states,
      witness: {
        sent: () => judge.sent(this, shard, term),
        taken: (version, isLate) => judge.taken(this, shard, version, isLate),
        created: (pod, what, isLate) => judge.created(this, shard, { pod, what }, isLate),
      },
      count,
      breakage: breakage.nodes ?? {},
    });
  }

  #logger(): Logger {
    const { onLog, clock, id } = this.#parts;
    const log = (level: string) => (fields: object, message: string) => {
      if (this.isDead || onLog === undefined) return;
      const { err } = fields as { err?: unknown };
      const words = `${message} ${JSON.stringify(fields)} ${err instanceof Error ? err.message : ''}`;
      onLog(`${(clock.elapsedMs / 1000).toFixed(3)} ${id} ${level} ${words}`);
    };
    const isLevelEnabled: Logger['isLevelEnabled'] = (level) => level !== 'debug' && onLog !== undefined;
    return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error'), isLevelEnabled };
  }
}
