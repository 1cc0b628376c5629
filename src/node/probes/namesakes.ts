/** How many workers write to the series of each name, which pods of one name share. */
export class Namesakes {
  readonly #counts = new Map<string, number>();

  begin(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** True when it was the last one of this name. */
  end(name: string): boolean {
    const left = (this.#counts.get(name) ?? 1) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
    return left <= 0;
  }
}
