import { fleetTiming } from '../../../../src/fleet/node-fleet-options.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { CalmWatch } from './calm-watch.ts';
import type { FleetFound } from './fleet-rules.ts';
import type { FleetWorld } from './fleet-world.ts';
import { placedShares, roomOf } from './placed-shares.ts';

export interface FleetPlayParts {
  readonly world: FleetWorld;
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  /** How long the faults go on. */
  readonly minutes: number;
  /** True: members come and go in calm weather as well, and the run goes on until each has its share. */
  readonly isLong: boolean;
  readonly shards: number;
  readonly found: FleetFound;
  readonly count: (what: string) => void;
}

const mostMembers = 16;
const stopWithinMs = 20_000;
/** A shard that was taken in the place of another member is kept for five minutes; then it moves, four shards at a time. */
const placedWithinMs = 360_000;
const movedWithinMs = 45_000;
const quietMs = 30_000;
/** How long the last statuses may take in calm weather: an answer is waited for ten seconds, and what failed is tried again. */
const inStepMs = 20_000;

/** What happens in one run: members begin, faults strike while members come and go, and then all is calm. */
export class FleetPlay {
  readonly #parts: FleetPlayParts;
  readonly #calm: CalmWatch;
  readonly #stops = new Set<Promise<void>>();

  constructor(parts: FleetPlayParts) {
    this.#parts = parts;
    this.#calm = new CalmWatch(parts);
  }

  /** How long the calm took until every shard was served. */
  get servedInMs(): number | undefined {
    return this.#calm.servedInMs;
  }

  async run(): Promise<void> {
    const { world, clock, prng, minutes, isLong } = this.#parts;
    const members = prng.pick([mostMembers, mostMembers, 11, 4]) ?? mostMembers;
    for (let begun = 0; begun < members; begun++) {
      world.begin();
      await this.#pause(prng.chance(0.7) ? 0 : prng.between(0, 3000));
    }
    if (prng.chance(0.5)) await this.#pause(prng.between(0, 20_000));
    const untilMs = clock.elapsedMs + minutes * 60_000;
    world.storm();
    await this.#comeAndGo(untilMs);
    world.calmDown();
    await Promise.all(this.#stops);
    if (world.living.length === 0) world.begin();
    this.#calm.begin();
    await this.#pause(movedWithinMs);
    await this.#inStep();
    if (isLong) await this.#inCalmWeather();
    await this.#end();
  }

  /** Nothing changes any more: each pod has the status of the state that it is in. */
  async #inStep(): Promise<void> {
    const { world, found } = this.#parts;
    world.pods.hold(true);
    await this.#pause(inStepMs);
    const pods = world.pods.outOfStep();
    if (pods.length > 0) found('no status is lost', `of ${pods.length} pods, the first of them ${pods.slice(0, 5).join(', ')}`);
    world.pods.hold(false);
  }

  /** Members crash, stop and begin, under new and under old ids. */
  async #comeAndGo(untilMs: number): Promise<void> {
    const { world, clock, prng } = this.#parts;
    const everyMs = prng.pick([3000, 10_000, 30_000]) ?? 10_000;
    for (;;) {
      await this.#pause(prng.between(0, 2 * everyMs));
      if (clock.elapsedMs >= untilMs) return;
      const member = prng.pick(world.living.filter(({ isLeaving }) => !isLeaving));
      const what = prng.weighted({ crash: 3, stop: 3, begin: 4 });
      if (what === 'begin' || member === undefined) {
        if (world.living.length < mostMembers) world.begin();
      } else {
        if (what === 'crash') member.crash();
        else this.#stop(member);
        if (what === 'crash' && prng.chance(0.3)) {
          await this.#pause(prng.between(0, 8000));
          world.begin(member.id);
        }
      }
    }
  }

  #stop(member: { stop(timeoutMs: number): Promise<void> }): void {
    const stopped = member.stop(stopWithinMs).finally(() => this.#stops.delete(stopped));
    this.#stops.add(stopped);
  }

  /** Each step must move what it has to move, and nothing else. */
  async #inCalmWeather(): Promise<void> {
    const { world, prng, shards } = this.#parts;
    world.pods.quieten();
    await this.#untilPlaced(placedWithinMs);
    await this.#quiet();
    this.#calm.quieten();
    const stranger = world.begin(undefined, 2 * shards);
    await this.#moving(async () => void world.begin());
    const leaving = prng.pick(world.living.filter(({ id }) => id !== stranger.id));
    await this.#moving(async () => {
      if (leaving !== undefined && world.living.length > 2) await leaving.stop(stopWithinMs);
    });
    await this.#moving(async () => {
      const member = prng.pick(world.living.filter(({ id }) => id !== stranger.id));
      if (member === undefined || world.living.length < 3) return;
      member.crash();
      this.#calm.explained();
    });
    await stranger.stop(stopWithinMs);
    await this.#quiet();
  }

  /** Waits until each shard is where it belongs, and says so if that takes too long. */
  async #untilPlaced(withinMs: number): Promise<void> {
    const { world, clock, found, shards } = this.#parts;
    const untilMs = clock.elapsedMs + withinMs;
    for (;;) {
      const owners = world.owners();
      const placed = placedShares(shards, this.#ids());
      const wrong = owners.flatMap((owner, shard) =>
        owner === placed[shard] ? [] : [`${shard}: ${owner}, not ${placed[shard]}`],
      );
      if (wrong.length === 0) break;
      if (clock.elapsedMs > untilMs) {
        found('every member ends with its share', wrong.join('; '));
        return;
      }
      await this.#pause(1000);
    }
    const room = roomOf(shards, this.#ids().length);
    for (const { id, running } of world.living)
      if (running.length > room) found('loads are bounded', `${id} has ${running.length} shards, and room for ${room}`);
  }

  /** A member comes or goes, and no shard moves that need not. */
  async #moving(change: () => Promise<void>): Promise<void> {
    const { world, found, shards, count } = this.#parts;
    const before = { owners: world.owners(), placed: placedShares(shards, this.#ids()), moves: world.moves };
    await change();
    const placed = placedShares(shards, this.#ids());
    await this.#pause(movedWithinMs);
    await this.#untilPlaced(0);
    const owners = world.owners();
    const share = placed.filter((owner, shard) => owner !== before.placed[shard]).length;
    const strays = owners.flatMap((owner, shard) =>
      owner !== before.owners[shard] && placed[shard] === before.placed[shard]
        ? [`${shard}: from ${before.owners[shard]} to ${owner}`]
        : [],
    );
    if (strays.length > 0) found('a member that comes or goes moves only its share', strays.join('; '));
    // given up, and taken
    const moves = world.moves - before.moves;
    if (moves > 2 * share)
      found('a member that comes or goes moves only its share', `${moves} changes of holders for ${share} shards`);
    for (let moved = 0; moved < share; moved++) count('shard moved in calm weather');
  }

  /** Nothing happens, and nothing moves. */
  async #quiet(): Promise<void> {
    const { world, found, shards } = this.#parts;
    const { moves, leaseWrites } = world;
    await this.#pause(quietMs);
    if (world.moves !== moves) found('in calm weather no shard moves', `${world.moves - moves} changes of holders`);
    const written = world.leaseWrites - leaseWrites;
    // each Lease once a period, and as many again for a period that has just begun
    const most = 1.25 * (quietMs / fleetTiming().renewEveryMs + 1) * (shards + world.living.length);
    if (written > most) found('the server is asked no more than it takes', `${written} writes of Leases in ${quietMs / 1000} s`);
  }

  /** All leave, at once or one after the other. */
  async #end(): Promise<void> {
    const { world, prng, found, shards } = this.#parts;
    this.#calm.end();
    const atOnce = prng.chance(0.5);
    for (const member of world.living) {
      this.#stop(member);
      if (!atOnce) await this.#pause(prng.between(0, 2000));
    }
    await Promise.all(this.#stops);
    const held = Array.from({ length: shards }, (_, shard) => world.leaseOf(shard)?.spec?.holderIdentity).filter(
      (holder) => holder,
    );
    if (held.length > 0) found('nothing is left after stop', `Leases of shards that ${[...new Set(held)].join(', ')} held`);
  }

  #ids(): readonly string[] {
    const { world, shards } = this.#parts;
    return world.living.filter((member) => member.shards === shards).map(({ id }) => id);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#parts.clock.schedule(resolve, ms));
  }
}
