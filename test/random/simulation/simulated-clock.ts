import type { CancelTimer, Clock } from '../../../src/index.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

/** Virtual time: a heap of timers, in order of time and, at one instant, of creation. */
export class SimulatedClock {
  readonly #heap: Timer[] = [];
  readonly #settle: () => Promise<void>;
  #elapsedMs = 0;
  #order = 0;
  #turn = 0;

  /** `settle` resolves when all that a timer has set off has happened, as far as it does without time. Default: after one turn. */
  constructor(settle: () => Promise<void> = nextTurn) {
    this.#settle = settle;
  }

  /** Milliseconds since the run began; no clock jump touches it. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Grows with each timer that fires, and the event loop has one turn for each. */
  get turn(): number {
    return this.#turn;
  }

  schedule(callback: () => void, delayMs: number): CancelTimer {
    const timer: Timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, callback };
    this.#push(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  /** Fires what falls due up to `untilMs`, and lets every continuation run after each; ends early once `isOver`. */
  async runUntil(untilMs: number, isOver: () => boolean): Promise<void> {
    await this.#settle();
    for (let timer = this.#heap[0]; timer !== undefined && timer.dueMs <= untilMs && !isOver(); timer = this.#heap[0]) {
      this.#pop();
      const { callback } = timer;
      if (callback === undefined) continue;
      timer.callback = undefined;
      this.#elapsedMs = timer.dueMs;
      this.#turn++;
      callback();
      await this.#settle();
    }
    if (!isOver()) this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timer, heap[parent])) break;
      heap[at] = heap[parent] as Timer;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child])) child++;
      if (!isBefore(heap[child] as Timer, last)) break;
      heap[at] = heap[child] as Timer;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Timer, b: Timer | undefined): boolean {
  return b !== undefined && (a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order));
}

/** One turn of the event loop: every microtask queued so far has run. Costs no time. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Timers that end together: then none of them fires any more, and no other one begins. */
export class EndingTimers {
  readonly #setTimer: (callback: () => void, delayMs: number) => CancelTimer;
  readonly #timers = new Set<CancelTimer>();
  #isOver = false;

  constructor(setTimer: (callback: () => void, delayMs: number) => CancelTimer) {
    this.#setTimer = setTimer;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get pending(): number {
    return this.#timers.size;
  }

  set(callback: () => void, delayMs: number): CancelTimer {
    if (this.#isOver) return () => {};
    const cancel = this.#setTimer(() => {
      this.#timers.delete(end);
      callback();
    }, delayMs);
    const end = (): void => {
      cancel();
      this.#timers.delete(end);
    };
    this.#timers.add(end);
    return end;
  }

  end(): void {
    this.#isOver = true;
    for (const end of this.#timers) end();
  }
}

/** The clock one process sees: its wall clock may jump, and its timers end with it. */
export class ProcessClock implements Clock {
  readonly #world: SimulatedClock;
  readonly #timers: EndingTimers;
  #wallOffsetMs: number;

  constructor(world: SimulatedClock, wallOffsetMs: number) {
    this.#world = world;
    this.#timers = new EndingTimers((callback, delayMs) => world.schedule(callback, delayMs));
    this.#wallOffsetMs = wallOffsetMs;
  }

  get wallOffsetMs(): number {
    return this.#wallOffsetMs;
  }

  get pendingTimers(): number {
    return this.#timers.pending;
  }

  now(): number {
    return this.#world.elapsedMs + this.#wallOffsetMs;
  }

  elapsed(): number {
    return this.#world.elapsedMs;
  }

  setTimer(callback: () => void, delayMs: number): CancelTimer {
    return this.#timers.set(callback, delayMs);
  }

  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** The process is gone: none of its timers fires any more. */
  kill(): void {
    this.#timers.end();
  }
}
