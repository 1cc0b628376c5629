import type { Prng } from '../chaos/prng.ts';
import type { Rivals } from './rivals.ts';
import { fairWeather } from './simulated-network.ts';
import type { World } from './world.ts';

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

/** Brings one calamity after another, several at a time, until it is told to stop. */
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
    const { log } = this.#world;
    const prng = this.#prng;
    const kind = prng.weighted<keyof typeof kinds>(kinds);
    const forMs = prng.chance(0.2) ? prng.between(30_000, 120_000) : prng.between(500, 20_000);
    log.fault(kind);
    log.step(() => `fault: ${kind}, for ${Math.round(forMs)} ms`);
    this.#begin(kind, forMs);
  }

  #begin(kind: keyof typeof kinds, forMs: number): void {
    const { server, weather, process, clock } = this.#world;
    const meanwhile = (undo: () => void): void => {
      clock.schedule(() => {
        if (!this.#isOver) undo();
      }, forMs);
    };
    switch (kind) {
      case 'refusing': {
        const uids = server.store.list().map(({ metadata }) => metadata?.uid ?? '');
        const refused = uids.filter(() => this.#prng.chance(0.5));
        for (const uid of refused) server.refuses.add(uid);
        meanwhile(() => {
          for (const uid of refused) server.refuses.delete(uid);
        });
        return;
      }
      case 'throttling':
      case 'failing':
        server.mode = kind;
        meanwhile(() => this.#recover(kind));
        return;
      case 'serverRestart':
        server.mode = 'down';
        process?.watch.cut(forMs);
        meanwhile(() => this.#recover('down'));
        return;
      case 'slowNetwork':
        weather.latencyMs = this.#prng.between(500, 8000);
        meanwhile(() => Object.assign(weather, { latencyMs: fairWeather.latencyMs }));
        return;
      case 'lossyNetwork':
        weather.loss = this.#prng.between(0.1, 0.8);
        meanwhile(() => Object.assign(weather, { loss: 0 }));
        return;
      case 'straggling':
        weather.straggling = this.#prng.between(0.1, 0.6);
        meanwhile(() => Object.assign(weather, { straggling: 0 }));
        return;
      case 'duplication':
        weather.duplication = this.#prng.between(0.1, 0.6);
        meanwhile(() => Object.assign(weather, { duplication: 0 }));
        return;
      case 'watchLag':
        if (process === undefined) return;
        process.watch.lagMs = this.#prng.between(1000, 30_000);
        meanwhile(() => Object.assign(process.watch, { lagMs: 50 }));
        return;
      case 'staleLists':
        if (process === undefined) return;
        process.watch.listsAreStale = true;
        process.watch.cut(this.#prng.between(100, 3000));
        meanwhile(() => Object.assign(process.watch, { listsAreStale: false }));
        return;
      case 'fight':
        this.#rivals.fight(forMs);
        return;
      case 'watchGap':
        process?.watch.cut(forMs);
        return;
      default:
        this.#strikeProcess(kind, forMs);
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

  #recover(mode: string): void {
    const { server } = this.#world;
    if (server.mode === mode) server.mode = 'well';
  }
}
