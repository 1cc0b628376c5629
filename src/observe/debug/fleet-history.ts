import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import type { DebugFleetHistory, DebugFleetMember } from './debug-fleet-api.ts';

const lookEveryMs = 5_000;
const keptLooks = 60;
const membersAtMost = 64;

interface Look {
  readonly at: number;
  readonly shards: ReadonlyMap<string, number>;
}

/** Who has owned how many shards, look by look, for the last five minutes. It looks by a timer of its own until it is closed. */
export class FleetHistory {
  readonly #clock: SteadyClock;
  readonly #read: () => readonly DebugFleetMember[];
  #looks: Look[] = [];
  /** By member: the smallest number that no other one had when it came. */
  readonly #slots = new Map<string, number>();
  #cancel: CancelTimer | undefined;

  constructor(clock: SteadyClock, read: () => readonly DebugFleetMember[]) {
    this.#clock = clock;
    this.#read = read;
    this.#look();
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#looks = [];
    this.#slots.clear();
  }

  shown(): DebugFleetHistory {
    const now = this.#looks.at(-1)?.shards;
    const ids = [...this.#slots.keys()].sort((a, b) => Number(now?.has(b) === true) - Number(now?.has(a) === true));
    return {
      at: this.#looks.map(({ at }) => at),
      members: ids.map((id) => ({
        id,
        slot: this.#slots.get(id) ?? 0,
        shards: this.#looks.map(({ shards }) => shards.get(id) ?? 0),
      })),
    };
  }

  #look(): void {
    this.#cancel = this.#clock.setTimer(() => this.#look(), lookEveryMs);
    const at = this.#clock.now();
    const owners = this.#read().filter(({ shards }) => shards > 0);
    const shards = new Map(owners.slice(0, membersAtMost).map(({ id, shards: count }) => [id, count]));
    // what is later than now is from before the clock was set back
    this.#looks = [...this.#looks.filter((look) => look.at < at), { at, shards }].slice(-keptLooks);
    this.#giveSlots();
  }

  #giveSlots(): void {
    const there = new Set(this.#looks.flatMap((look) => [...look.shards.keys()]));
    for (const id of this.#slots.keys()) if (!there.has(id)) this.#slots.delete(id);
    for (const id of there) {
      if (this.#slots.has(id) || this.#slots.size >= membersAtMost) continue;
      const taken = new Set(this.#slots.values());
      let slot = 0;
      while (taken.has(slot)) slot += 1;
      this.#slots.set(id, slot);
    }
  }
}
