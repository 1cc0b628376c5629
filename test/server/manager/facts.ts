interface Waiter {
  readonly look: () => void;
}

/** Waits for facts: each call of `changed` makes every waiter check its fact again. */
export class Facts {
  readonly #waiters = new Set<Waiter>();

  readonly changed = (): void => {
    for (const waiter of this.#waiters) waiter.look();
  };

  /** Resolves to the first answer that is neither false nor undefined; rejects after 20 s with an error that names `what`. */
  until<T>(what: string, fact: () => T | false | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        settle();
      };
      const look = (): void => {
        try {
          const answer = fact();
          if (answer !== false && answer !== undefined) end(() => resolve(answer));
        } catch (error) {
          end(() => reject(error));
        }
      };
      const waiter: Waiter = { look };
      const timer = setTimeout(() => end(() => reject(new Error(`Waited 20 s in vain: ${what}`))), 20_000);
      this.#waiters.add(waiter);
      look();
    });
  }
}
