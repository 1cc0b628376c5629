import type { Prng } from '../chaos/prng.ts';
import type { Rivals } from './rivals.ts';
import { fairWeather } from './simulated-network.ts';
import type { World } from './simulation-world.ts';

const kinds = {
  refusing: 3,
  throttling: 3,
  failing: 3,
  serverRestart: 2,
  slowNetwork: 3,
  lossyNetwork: 4,
  straggling: 4,
  duplication: 3,
  watchLag: 3,
  watchGap: 4,
  staleLists: 2,
  fight: 2,
  clockJump: 2,
  managerRestart: 2,
  managerCrash: 2,
} as const;

/** Which member of the network's weather each kind of fault changes, and within which bounds. */
const storms = {
  slowNetwork: { what: 'latencyMs', from: 500, to: 8000 },
  lossyNetwork: { what: 'loss', from: 0.1, to: 0.8 },
  straggling: { what: 'straggling', from: 0.1, to: 0.6 },
  duplication: { what: 'duplication', from: 0.1, to: 0.6 },
} as const;

/** Begins one fault after another, several at a time, until `end`. */
export class Faults {
  readonly #world: World;
  readonly #rivals: Rivals;
  readonly #prng: Prng;
  readonly #everyMs: number;
  #isOver = false;

  constructor(world: World, rivals: Rivals) {
    this.#world = world;
    this.#rivals = rivals;
    this.#prng = world.prng.fork('faults');
    this.#everyMs = this.#prng.pick([3000, 10_000, 30_000]) ?? 10_000;
    world.server.flakiness = this.#prng.pick([0, 0.01, 0.1]) ?? 0;
    this.#next();
  }

  /** From now on everything works; what is on its way still arrives. */
  end(): void {
    this.#isOver = true;
    const { server, weather, process, log } = this.#world;
    log.step(() => 'the faults end');
    server.mode = 'well';
    server.flakiness = 0;
    server.refuses.clear();
    Object.assign(weather, fairWeather);
    if (process !== undefined) Object.assign(process.watch, { lagMs: 50, listsAreStale: false });
    process?.watch.cut(1000);
    if (process === undefined) this.#world.startProcess();
    if (this.#world.watchDies) {
      log.fault('watch dies');
      log.step(() => 'fault: the watch dies');
      this.#world.process?.watch.die();
      if (this.#prng.chance(0.3)) this.#world.process?.clock.jump(-86_400_000);
    }
  }

  #next(): void {
    this.#world.clock.schedule(
      () => {
        if (this.#isOver) return;
        this.#strike();
        this.#next();
      },
      this.#prng.between(0, 2 * this.#everyMs),
    );
  }

  #strike(): void {
    const { log, listsAreConsistent } = this.#world;
    const prng = this.#prng;
    const drawn = prng.weighted<keyof typeof kinds>(kinds);
    const kind = drawn === 'staleLists' && listsAreConsistent ? 'watchGap' : drawn;
    const forMs = prng.chance(0.2) ? prng.between(30_000, 120_000) : prng.between(500, 20_000);
    log.fault(kind);
    log.step(() => `fault: ${kind}, for ${Math.round(forMs)} ms`);
    this.#begin(kind, forMs);
  }

  #begin(kind: keyof typeof kinds, forMs: number): void {
    const { weather } = this.#world;
    switch (kind) {
      case 'refusing':
      case 'throttling':
      case 'failing':
      case 'serverRestart':
        this.#strikeServer(kind, forMs);
        return;
      case 'slowNetwork':
      case 'lossyNetwork':
      case 'straggling':
      case 'duplication': {
        const { what, from, to } = storms[kind];
        weather[what] = this.#prng.between(from, to);
        this.#afterwards(forMs, () => {
          weather[what] = fairWeather[what];
        });
        return;
      }
      case 'watchLag':
      case 'staleLists':
      case 'watchGap':
        this.#strikeWatch(kind, forMs);
        return;
      case 'fight':
        this.#rivals.fight(forMs);
        return;
      default:
        this.#strikeProcess(kind, forMs);
    }
  }

  /** Undoes what was done, unless all is well again already. */
  #afterwards(forMs: number, undo: () => void): void {
    this.#world.clock.schedule(() => {
      if (!this.#isOver) undo();
    }, forMs);
  }

  #strikeServer(kind: 'refusing' | 'throttling' | 'failing' | 'serverRestart', forMs: number): void {
    const { server, process } = this.#world;
    if (kind === 'refusing') {
      const uids = server.store.list().map(({ metadata }) => metadata?.uid ?? '');
      const refused = uids.filter(() => this.#prng.chance(0.5));
      for (const uid of refused) server.refuses.add(uid);
      this.#afterwards(forMs, () => {
        for (const uid of refused) server.refuses.delete(uid);
      });
      return;
    }
    const mode = kind === 'serverRestart' ? 'down' : kind;
    server.mode = mode;
    if (mode === 'down') process?.watch.cut(forMs);
    this.#afterwards(forMs, () => {
      if (server.mode === mode) server.mode = 'well';
    });
  }

  #strikeWatch(kind: 'watchLag' | 'staleLists' | 'watchGap', forMs: number): void {
    const { process } = this.#world;
    if (process === undefined) return;
    const { watch } = process;
    switch (kind) {
      case 'watchGap':
        watch.cut(forMs);
        return;
      case 'watchLag':
        watch.lagMs = this.#prng.between(1000, 30_000);
        this.#afterwards(forMs, () => Object.assign(watch, { lagMs: 50 }));
        return;
      case 'staleLists':
        watch.listsAreStale = true;
        watch.cut(this.#prng.between(100, 3000));
        this.#afterwards(forMs, () => Object.assign(watch, { listsAreStale: false }));
        return;
    }
  }

  #strikeProcess(kind: 'clockJump' | 'managerRestart' | 'managerCrash', forMs: number): void {
    const world = this.#world;
    const { process } = world;
    if (!process?.isUp) return;
    if (kind === 'clockJump') {
      const jumpMs = this.#prng.pick([-86_400_000, -60_000, -1000, 1000, 60_000, 86_400_000]) ?? 0;
      world.wallOffsetMs += jumpMs;
      process.clock.jump(jumpMs);
      return;
    }
    const startAgain = (): void => {
      world.clock.schedule(() => {
        if (world.process === undefined) world.startProcess();
      }, forMs / 10);
    };
    if (kind === 'managerCrash') {
      world.crash();
      startAgain();
      return;
    }
    const drainTimeoutMs = this.#prng.pick([0, 1000, 10_000]) ?? 0;
    world.stopProcess(drainTimeoutMs).then(startAgain, (error: unknown) => {
      world.log.violate('stop ends', `stop() rejected with ${String(error)}`);
    });
  }
}
