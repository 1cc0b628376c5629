import type { Prng } from '../../chaos/prng.ts';
import { fairApiWeather } from '../parts/api-weather.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { MemberWeather } from './member-network.ts';

export const fairWeather: Readonly<MemberWeather> = { ...fairApiWeather, queueMs: 0, isCut: false };

/** A member that faults may strike. */
export interface StruckMember {
  readonly weather: MemberWeather;
  readonly resetAll: () => void;
  readonly silenceAll: () => void;
  readonly pause: (asleep: boolean) => void;
  readonly resume: () => void;
  readonly jumpWall: (ms: number) => void;
  /** Its machine sleeps at times; then nobody sets its wall clock back, which alone counts such sleep. */
  readonly sleeps: boolean;
}

export interface FleetStormParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly members: () => readonly StruckMember[];
  /** The weather of the server's own caches. */
  readonly serverWeather: MemberWeather;
  readonly compact: () => void;
  readonly count: (fault: string) => void;
}

const kinds = {
  slow: 4,
  lossy: 4,
  straggling: 4,
  'long queue': 3,
  partition: 5,
  'watches fail': 4,
  'watches silent': 3,
  pause: 8,
  'clock jump': 3,
  'server down': 2,
  'server failing': 2,
  'server throttling': 1,
  'stale caches': 2,
  compaction: 2,
  'all connections reset': 2,
} as const;

type Kind = keyof typeof kinds;

/** Begins one fault after another, several at a time, at one member, at some or at all, until `end`. */
export class FleetStorm {
  readonly #parts: FleetStormParts;
  readonly #everyMs: number;
  #isOver = false;

  constructor(parts: FleetStormParts) {
    this.#parts = parts;
    this.#everyMs = parts.prng.pick([800, 2500, 8000]) ?? 2500;
    this.#next();
  }

  /** All is well at once: whoever is paused goes on, and watches that lie still break. What is on its way still arrives. */
  end(): void {
    const { members, serverWeather } = this.#parts;
    this.#isOver = true;
    Object.assign(serverWeather, fairWeather);
    for (const member of members()) {
      Object.assign(member.weather, fairWeather);
      member.resume();
      member.resetAll();
    }
  }

  #next(): void {
    const { clock, prng } = this.#parts;
    const strike = (): void => {
      if (this.#isOver) return;
      this.#strike(prng.weighted<Kind>(kinds));
      this.#next();
    };
    clock.schedule(strike, prng.between(0, 2 * this.#everyMs));
  }

  #strike(kind: Kind): void {
    const { members, count } = this.#parts;
    count(kind);
    if (this.#strikeServer(kind)) return;
    for (const member of this.#some(members())) this.#strikeMember(kind, member);
  }

  /** One, some or all. */
  #some(members: readonly StruckMember[]): readonly StruckMember[] {
    const { prng } = this.#parts;
    const how = prng.weighted({ one: 6, some: 3, all: 1 });
    if (how === 'all') return members;
    if (how === 'some') return members.filter(() => prng.chance(0.4));
    const one = prng.pick(members);
    return one === undefined ? [] : [one];
  }

  /** What strikes all at once. */
  #strikeServer(kind: Kind): boolean {
    const { members, serverWeather, prng, compact } = this.#parts;
    const all = members();
    const server = { 'server down': 'down', 'server failing': 'failing', 'server throttling': 'throttling' } as const;
    if (kind === 'compaction') compact();
    else if (kind === 'all connections reset') for (const member of all) member.resetAll();
    else if (kind === 'stale caches') this.#change(serverWeather, { staleCaches: prng.between(0.3, 1) });
    else if (kind === 'server down' || kind === 'server failing' || kind === 'server throttling') {
      const lastsMs = this.#lastsMs();
      for (const member of all) {
        if (kind === 'server down') member.resetAll();
        this.#change(member.weather, { server: server[kind] }, lastsMs);
      }
    } else return false;
    return true;
  }

  #strikeMember(kind: Kind, member: StruckMember): void {
    const { prng } = this.#parts;
    const weather = this.#weatherOf(kind);
    if (weather !== undefined) this.#change(member.weather, weather);
    else if (kind === 'watches silent') member.silenceAll();
    else if (kind === 'pause') this.#pause(member);
    else member.jumpWall(prng.pick(member.sleeps ? [5000, 12_000, 3_600_000] : [-3_600_000, -5000, 5000, 3_600_000]) ?? 0);
  }

  #weatherOf(kind: Kind): Partial<MemberWeather> | undefined {
    const { prng } = this.#parts;
    switch (kind) {
      case 'slow':
        return { latencyMs: prng.between(300, 6000) };
      case 'lossy':
        return { loss: prng.between(0.1, 0.8) };
      case 'straggling':
        return { straggling: prng.between(0.1, 0.6) };
      case 'long queue':
        return { queueMs: prng.between(500, 20_000) };
      case 'partition':
        return { isCut: true };
      case 'watches fail':
        return { watchFaults: prng.between(0.3, 1) };
      default:
        return undefined;
    }
  }

  #pause(member: StruckMember): void {
    const { prng, clock, count } = this.#parts;
    const asleep = member.sleeps && prng.chance(0.5);
    if (asleep) count('machine asleep');
    member.pause(asleep);
    clock.schedule(() => member.resume(), this.#lastsMs());
  }

  #lastsMs(): number {
    const { prng } = this.#parts;
    const how = prng.weighted({ short: 5, nearDeadline: 3, long: 2 });
    if (how === 'short') return prng.between(200, 7000);
    return how === 'nearDeadline' ? prng.between(8000, 17_000) : prng.between(17_000, 45_000);
  }

  #change(weather: MemberWeather, change: Partial<MemberWeather>, lastsMs = this.#lastsMs()): void {
    Object.assign(weather, change);
    const undo = Object.fromEntries(Object.keys(change).map((key) => [key, fairWeather[key as keyof MemberWeather]]));
    this.#parts.clock.schedule(() => Object.assign(weather, undo), lastsMs);
  }
}
