import { createHook } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { type SoakPart, SoakWorld } from './soak-world.ts';

/** What a part has left behind. All counts are over what was there before. */
export interface SoakResult {
  readonly part: string;
  readonly changes: number;
  /** Bytes of the heap that each change keeps. */
  readonly bytesAChange: number;
  /** Objects that are gone, and can be reached. */
  readonly reachable: number;
  /** What grew while the part lived. */
  readonly grown: Readonly<Leftovers>;
  /** What is there after its end. */
  readonly left: Readonly<Leftovers>;
  readonly ms: number;
}

export interface Leftovers {
  readonly timers: number;
  readonly listeners: number;
  readonly promises: number;
  readonly sockets: number;
  readonly watches: number;
}

/** How many times the heap is looked at after the warm-up. */
const looks = 8;
/** So much more or less the heap may be at one look than at another, without anything that leaks. */
const heapNoiseBytes = 200_000;

/** Counts the listeners of all signals that are alive, whoever made them. */
class SignalListeners {
  readonly #signals = new Set<WeakRef<AbortSignal>>();
  readonly #known = new WeakSet<AbortSignal>();

  constructor() {
    const add = EventTarget.prototype.addEventListener;
    const note = (signal: AbortSignal): void => this.#note(signal);
    EventTarget.prototype.addEventListener = function (this: EventTarget, ...values: Parameters<typeof add>) {
      if (this instanceof AbortSignal) note(this);
      return add.apply(this, values);
    };
  }

  count(): number {
    let count = 0;
    for (const reference of this.#signals) {
      const signal = reference.deref();
      if (signal === undefined) this.#signals.delete(reference);
      else if (!signal.aborted) count += getEventListeners(signal, 'abort').length;
    }
    return count;
  }

  #note(signal: AbortSignal): void {
    if (this.#known.has(signal)) return;
    this.#known.add(signal);
    this.#signals.add(new WeakRef(signal));
  }
}

/** Counts promises that are alive and have not settled, from `enable` on. */
class OpenPromises {
  readonly #open = new Set<number>();
  readonly #hook = createHook({
    init: (id, type) => {
      if (type === 'PROMISE') this.#open.add(id);
    },
    promiseResolve: (id) => void this.#open.delete(id),
    destroy: (id) => void this.#open.delete(id),
  });

  enable(): void {
    this.#hook.enable();
  }

  count(): number {
    return this.#open.size;
  }
}

/** Collects garbage, finalizers and all. */
async function collect(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error('start this with node --expose-gc');
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await turn();
    await turn();
  }
}

/** What objects take. Code is not counted: it grows while the compiler finds out what is used often, and then no more. */
function heldBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !/code|trusted|read_only/.test(space_name));
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

/** The slope of the line through the points that is nearest to them. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const over = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  return over / points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
}

/** How long a part lives: so many changes, or so many real minutes. */
export interface SoakLength {
  readonly changes?: number | undefined;
  readonly minutes?: number | undefined;
  readonly seed: number;
}

/**
 * Lets a part live: a warm-up of a quarter of the changes and more, then the changes with looks at the heap between, then some rounds
 * with a count of promises, then its end. The counting of promises costs memory of its own, so it comes last.
 */
export async function soak(part: SoakPart, { changes = 0, minutes = 0, seed }: SoakLength): Promise<SoakResult> {
  const startedAt = performance.now();
  const listeners = new SignalListeners();
  const world = new SoakWorld(seed);
  const before = counts();
  const subject = await part.open(world);
  let round = 0;
  for (let made = 0; made < (part.warmUp ?? 0); ) made += await one();
  await live(1 / 4);
  let done = 0;
  const points: (readonly [number, number])[] = [];
  await collect();
  const warm = counts();
  for (let look = 0; look < looks; look++) {
    done += await live(1 / looks);
    await collect();
    // what is counted with is not counted
    world.stillReachable();
    listeners.count();
    await collect();
    points.push([done, heldBytes()]);
  }
  const full = counts();
  const reachable = world.stillReachable();
  const promises = new OpenPromises();
  promises.enable();
  await live(1 / looks / 4);
  await collect();
  const openBefore = promises.count();
  await live(1 / looks / 2);
  await collect();
  const openAfter = promises.count();
  await subject.stop();
  await collect();
  const after = counts();
  const ms = Math.round(performance.now() - startedAt);
  return {
    ...{ part: part.name, changes: done, bytesAChange: slopeOf(points), reachable, ms },
    grown: { ...difference(full, warm), promises: openAfter - openBefore },
    left: { ...difference(after, before), promises: 0 },
  };

  function counts(): Leftovers {
    const sockets = process.getActiveResourcesInfo().filter((name) => /TCP|TLS|HTTP/.test(name)).length;
    const { pendingTimers } = world.partClock;
    return {
      timers: pendingTimers,
      listeners: listeners.count(),
      promises: 0,
      sockets,
      watches: world.transport.openWatches.length,
    };
  }

  /** So much of the whole length. */
  async function live(share: number): Promise<number> {
    const until = performance.now() + minutes * 60_000 * share;
    let made = 0;
    while (made < changes * share || performance.now() < until) {
      made += await one();
    }
    return made;
  }

  async function one(): Promise<number> {
    const made = await subject.churn(++round);
    world.endRound();
    return made;
  }
}

function difference(after: Leftovers, before: Leftovers): Leftovers {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - before[name as keyof Leftovers]]),
  ) as never;
}

/** How many of each may be there more than at the end of the warm-up: a part has more to do at one moment than at another. */
const mayGrow: Leftovers = { timers: 25, listeners: 25, promises: 100, sockets: 0, watches: 5 };

/** What is wrong with a result, in words; none where all is well. */
export function soakProblems({ changes, bytesAChange, reachable, grown, left }: SoakResult): string[] {
  const most = 1 + heapNoiseBytes / changes;
  const problems: string[] = [];
  if (bytesAChange > most) problems.push(`each change keeps ${bytesAChange.toFixed(1)} bytes, and may keep ${most.toFixed(1)}`);
  if (reachable > 0) problems.push(`${reachable} objects that are gone can still be reached`);
  for (const [name, count] of Object.entries(grown)) {
    if (count > mayGrow[name as keyof Leftovers]) problems.push(`${count} more ${name} than after the warm-up`);
  }
  for (const [name, count] of Object.entries(left)) if (count > 0) problems.push(`${count} ${name} left after the end`);
  return problems;
}
