import type { FakeRuntime } from '../../../../src/testing.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';

const kinds = {
  slow: 3,
  'late answers': 3,
  failing: 4,
  'answers lost': 4,
  'events lost': 4,
  restart: 3,
  'container killed': 4,
  'sandbox dead': 2,
} as const;

/** Bad times of the container runtime, one after the other, until `end`. */
export class RuntimeTroubles {
  readonly #clock: SimulatedClock;
  readonly #prng: Prng;
  readonly #runtime: FakeRuntime;
  readonly #count: (fault: string) => void;
  #isOver = false;

  constructor(clock: SimulatedClock, prng: Prng, runtime: FakeRuntime, count: (fault: string) => void) {
    this.#clock = clock;
    this.#prng = prng;
    this.#runtime = runtime;
    this.#count = count;
    this.#next();
  }

  end(): void {
    this.#isOver = true;
    this.#runtime.heal();
  }

  #next(): void {
    const strike = (): void => {
      if (this.#isOver) return;
      const kind = this.#prng.weighted<keyof typeof kinds>(kinds);
      this.#count(`runtime: ${kind}`);
      const handle = this.#strike(kind);
      const heal = (): void => {
        handle?.remove();
        if (!this.#isOver) this.#next();
      };
      this.#clock.schedule(heal, this.#prng.between(500, 15_000));
    };
    this.#clock.schedule(strike, this.#prng.between(0, 12_000));
  }

  #strike(kind: keyof typeof kinds): { remove(): void } | undefined {
    const runtime = this.#runtime;
    const prng = this.#prng;
    const chance = { probability: prng.between(0.1, 0.6), random: () => prng.next() };
    const error = prng.pick(['failed', 'unavailable', 'timeout'] as const) ?? 'failed';
    switch (kind) {
      case 'slow':
        return runtime.fail({ ...chance, fault: { kind: 'latency', ms: prng.between(100, 5000) } });
      case 'late answers':
        return runtime.fail({ ...chance, fault: { kind: 'late-answer', ms: prng.between(100, 5000) } });
      case 'failing':
        return runtime.fail({ ...chance, fault: { kind: 'error', error } });
      case 'answers lost':
        return runtime.fail({ ...chance, fault: { kind: 'error-after', error } });
      case 'events lost':
        return runtime.loseEvents(chance);
      case 'restart':
        runtime.restart({ downMs: prng.between(0, 8000) });
        return undefined;
      default:
        this.#hit(kind);
        return undefined;
    }
  }

  #hit(kind: 'container killed' | 'sandbox dead'): void {
    const running = new Map<string, { readonly pod: string; readonly isContainer: boolean }>();
    for (const { what, type, id, podUID } of this.#runtime.history) {
      if (type === 'stopped' || type === 'deleted') running.delete(id);
      else running.set(id, { pod: podUID, isContainer: what === 'container' });
    }
    const targets = [...running].filter(([, { isContainer }]) => isContainer === (kind === 'container killed'));
    const [id] = this.#prng.pick(targets) ?? [];
    if (id === undefined) return;
    if (kind === 'sandbox dead') this.#runtime.killSandbox(id);
    else this.#runtime.killContainer(id, { exitCode: 137, reason: 'OOMKilled' });
  }
}
