import type { ResourceTransport } from '../../../../../src/client/resources/resource-client.ts';
import { NodeFleet } from '../../../../../src/fleet.ts';
import type { Prng } from '../../../chaos/prng.ts';
import type { SimulatedClock } from '../../simulated-clock.ts';
import type { FleetObjects } from '../fleet-objects.ts';
import type { FleetFound } from '../fleet-rules.ts';
import { fairWeather, type StruckMember } from '../fleet-storm.ts';
import { fleetName } from '../fleet-world.ts';
import { MemberNetwork } from '../member-network.ts';
import { MemberProcess } from '../member-process.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';

export interface WholeMemberParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly id: string;
  readonly wallMs: number;
  readonly objects: FleetObjects;
  readonly cloud: SimulatedCloud;
  readonly nodes: readonly string[];
  readonly shards: number;
  /** The node that a written object belongs to, by its path; undefined for the Leases of the fleet and for events. */
  readonly nodeOf: (path: string) => string | undefined;
  /** No request asks its guard. */
  readonly isUnguarded: boolean;
  /** A write of a node's leaves the process. */
  readonly sent: (member: string, node: string, path: string) => void;
  readonly found: FleetFound;
  readonly count: (what: string) => void;
  readonly countFault: (fault: string) => void;
}

const settlesInMs = 250;

/** One whole `NodeFleet` in a process of its own: ownership, nodes, statuses, Leases of nodes. */
export class WholeMember implements StruckMember {
  readonly id: string;
  readonly weather = { ...fairWeather };
  readonly sleeps = false;
  readonly #parts: WholeMemberParts;
  readonly #process: MemberProcess;
  readonly #network: MemberNetwork;
  readonly #fleet: NodeFleet;
  #isLeaving = false;

  constructor(parts: WholeMemberParts) {
    this.#parts = parts;
    const { clock, prng, id, wallMs, objects, cloud, nodes, shards, countFault: count } = parts;
    this.id = id;
    this.#process = new MemberProcess(clock, { rate: prng.between(0.995, 1.005), wallMs });
    const network = { clock, process: this.#process, objects, weather: this.weather, prng: prng.fork('network'), count };
    this.#network = new MemberNetwork(network);
    const random = prng.fork('random');
    this.#fleet = new NodeFleet({
      transport: this.#judged(),
      name: fleetName,
      id,
      shards,
      nodes,
      provider: () => cloud.provider((call) => this.#process.run(call)),
      clock: this.#process.clock,
      random: () => random.next(),
      logger: null,
    });
  }

  get isDead(): boolean {
    return this.#process.isDead;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  start(): void {
    this.#fleet.start({ timeoutMs: 3_600_000 }).catch((error: unknown) => {
      if (!this.isDead && !this.#isLeaving) this.#parts.found('nothing unforeseen happens', `the start of ${this.id}: ${error}`);
    });
  }

  crash(): void {
    this.#parts.count('member crashed');
    this.#process.kill();
    this.#network.resetAll();
  }

  /** It leaves in good order. Then nothing of it may be left, and the process ends. */
  async stop(): Promise<void> {
    const { found, count, clock } = this.#parts;
    this.#isLeaving = true;
    await new Promise<void>((resolve) => this.#process.run(resolve));
    await this.#fleet.stop();
    await new Promise<void>((resolve) => clock.schedule(resolve, settlesInMs));
    if (this.isDead) return;
    if (this.#network.open > 0) found('nothing is left after stop', `${this.id}: ${this.#network.open} requests or watches`);
    if (this.#process.pendingTimers > 0) found('nothing is left after stop', `${this.id}: ${this.#process.pendingTimers} timers`);
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

  /** The network, with a judge who hears of each write of a node after its guard has let it go. */
  #judged(): ResourceTransport {
    const { nodeOf, sent, isUnguarded } = this.#parts;
    return {
      request: (request) => {
        const node = request.method === 'GET' ? undefined : nodeOf(request.path);
        if (node === undefined) return this.#network.request(request);
        const guard = (): void => {
          if (!isUnguarded) request.guard?.();
          sent(this.id, node, request.path);
        };
        return this.#network.request({ ...request, guard });
      },
      stream: (request) => this.#network.stream(request),
    };
  }
}
