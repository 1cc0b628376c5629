import type { PodLife } from './pod-life.ts';

export interface Mark {
  /** Whose object it may stand on. */
  readonly owner: string;
  /** The phase it was set with is terminal. */
  readonly terminal: boolean;
}

/** What is true, whatever the manager and the apiserver say: every pod's life, and who set which mark. */
export class Truth {
  readonly #lives = new Map<string, PodLife>();
  readonly #marks = new Map<number, Mark>();
  #lastMark = 0;

  life(uid: string): PodLife | undefined {
    return this.#lives.get(uid);
  }

  lives(): readonly PodLife[] {
    return [...this.#lives.values()];
  }

  add(life: PodLife): PodLife {
    this.#lives.set(life.uid, life);
    return life;
  }

  /** The next mark: larger than every one before it, of any pod. */
  nextMark(life: PodLife): number {
    this.#lastMark++;
    life.mark = this.#lastMark;
    this.#marks.set(this.#lastMark, { owner: life.owner, terminal: life.saysTerminal });
    return this.#lastMark;
  }

  mark(mark: number): Mark | undefined {
    return this.#marks.get(mark);
  }
}
