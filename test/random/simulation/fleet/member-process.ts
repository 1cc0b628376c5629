import type { CancelTimer, SteadyClock } from '../../../../src/base/clock.ts';
import type { SimulatedClock } from '../simulated-clock.ts';

/** What is different on each machine. */
export interface MachineTraits {
  /** How fast its clocks are: 1.005 counts 1005 ms in a second. */
  readonly rate: number;
  /** Milliseconds since the epoch when the run begins, as its wall clock has it. */
  readonly wallMs: number;
}

/** What is lost where two clocks are turned into each other: no timer fires before its time. */
const neverEarlyMs = 0.001;

interface ProcessTimer {
  /** By the machine's own count of what passes. */
  readonly dueMs: number;
  readonly callback: () => void;
  cancelWorld: CancelTimer;
}

/**
 * A process on a machine of its own. Its wall clock jumps, its count of time is a little too fast or too slow, it is paused for any
 * time, and its machine sleeps. Whatever comes for it meanwhile waits: at the end of a pause the timers that are due fire first, one
 * after the other, and then comes what the network has brought.
 */
export class MemberProcess {
  readonly clock: SteadyClock;
  readonly #world: SimulatedClock;
  readonly #rate: number;
  readonly #timers = new Set<ProcessTimer>();
  #wallOffsetMs: number;
  /** How long the machine has slept: what passes then is seen by the wall clock alone. */
  #sleptMs = 0;
  #asleepSinceMs: number | undefined;
  #isPaused = false;
  #isDead = false;
  #heldTimers: ProcessTimer[] = [];
  #heldCalls: (() => void)[] = [];

  constructor(world: SimulatedClock, { rate, wallMs }: MachineTraits) {
    this.#world = world;
    this.#rate = rate;
    this.#wallOffsetMs = wallMs;
    this.clock = {
      now: () => this.#world.elapsedMs * this.#rate + this.#wallOffsetMs,
      elapsed: () => this.#elapsed(),
      setTimer: (callback, delayMs) => this.#setTimer(callback, delayMs),
    };
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** `asleep`: the whole machine, and with it its count of what passes. */
  pause(asleep: boolean): void {
    if (this.#isPaused || this.#isDead) return;
    this.#isPaused = true;
    if (asleep) this.#asleepSinceMs = this.#world.elapsedMs;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#asleepSinceMs !== undefined) this.#sleptMs += this.#world.elapsedMs - this.#asleepSinceMs;
    this.#asleepSinceMs = undefined;
    const timers = this.#heldTimers.sort((a, b) => a.dueMs - b.dueMs);
    const calls = this.#heldCalls;
    [this.#heldTimers, this.#heldCalls] = [[], []];
    for (const timer of timers) this.#arm(timer);
    for (const call of calls) this.#world.schedule(() => this.run(call), 0);
  }

  /** The process is gone: nothing of it happens any more. */
  kill(): void {
    this.#isDead = true;
    for (const { cancelWorld } of this.#timers) cancelWorld();
    this.#timers.clear();
    [this.#heldTimers, this.#heldCalls] = [[], []];
  }

  /** Runs what the network has brought: now, or once the process goes on. */
  run(call: () => void): void {
    if (this.#isDead) return;
    if (this.#isPaused) this.#heldCalls.push(call);
    else call();
  }

  #elapsed(): number {
    const untilMs = this.#asleepSinceMs ?? this.#world.elapsedMs;
    return (untilMs - this.#sleptMs) * this.#rate;
  }

  #setTimer(callback: () => void, delayMs: number): CancelTimer {
    if (this.#isDead) return () => {};
    const timer: ProcessTimer = { dueMs: this.#elapsed() + Math.max(0, delayMs), callback, cancelWorld: () => {} };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      timer.cancelWorld();
      this.#timers.delete(timer);
    };
  }

  #arm(timer: ProcessTimer): void {
    const fire = (): void => {
      if (!this.#timers.has(timer)) return;
      if (this.#isPaused) {
        this.#heldTimers.push(timer);
        return;
      }
      // the machine has slept meanwhile
      if (this.#elapsed() < timer.dueMs) {
        this.#arm(timer);
        return;
      }
      this.#timers.delete(timer);
      timer.callback();
    };
    timer.cancelWorld = this.#world.schedule(fire, (timer.dueMs - this.#elapsed()) / this.#rate + neverEarlyMs);
  }
}
