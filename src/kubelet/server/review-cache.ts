import { createHash } from 'node:crypto';
import type { SteadyClock } from '../../base/clock.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';

/** What a cache of reviews needs. */
export interface ReviewCacheOptions<T> {
  readonly clock: SteadyClock;
  /** So many answers are kept; the one that was used least lately goes. */
  readonly most: number;
  /** How long an answer counts, in milliseconds. */
  readonly keepMs: (answer: T) => number;
}

interface Entry<T> {
  readonly answer: T;
  readonly until: number;
}

/** So many questions are open at once: whoever makes up tokens must not flood the apiserver. */
const mostOpen = 64;

/** Keeps what the apiserver said, for a while. The same question at the same time is asked once. A failure is never kept. */
export class ReviewCache<T> {
  readonly #options: ReviewCacheOptions<T>;
  readonly #answers: BoundedMap<string, Entry<T>>;
  readonly #open = new Map<string, Promise<T>>();

  constructor(options: ReviewCacheOptions<T>) {
    this.#options = options;
    this.#answers = new BoundedMap(options.most);
  }

  /** The answer to a question, from here or from `ask`. Rejects as `ask` does, and when too much is being asked. */
  async answer(question: string, ask: () => Promise<T>): Promise<T> {
    // no token is kept, and no question costs more than another
    const key = createHash('sha256').update(question).digest('base64');
    const kept = this.#answers.get(key);
    if (kept !== undefined && this.#options.clock.elapsed() < kept.until) {
      this.#answers.set(key, kept);
      return kept.answer;
    }
    this.#answers.delete(key);
    return this.#open.get(key) ?? this.#ask(key, ask);
  }

  #ask(key: string, ask: () => Promise<T>): Promise<T> {
    if (this.#open.size >= mostOpen) return Promise.reject(new Error('too many reviews are under way'));
    const asked = ask()
      .then((answer) => {
        this.#keep(key, answer);
        return answer;
      })
      .finally(() => this.#open.delete(key));
    this.#open.set(key, asked);
    return asked;
  }

  #keep(key: string, answer: T): void {
    const { clock, keepMs } = this.#options;
    this.#answers.set(key, { answer, until: clock.elapsed() + keepMs(answer) });
  }
}
