/** The members of an object in a file. Each is read once and must have its type; null counts as absent. `refuseRest` refuses what nobody has read. */
export class Members {
  readonly #path: string;
  readonly #left: Map<string, unknown>;

  /** Throws where `value` is no object. */
  constructor(path: string, value: unknown) {
    this.#path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path || 'the file', 'an object', value);
    this.#left = new Map(Object.entries(value));
  }

  text(name: string): string | undefined {
    return this.#read(name, 'text', (value) => typeof value === 'string');
  }

  number(name: string): number | undefined {
    return this.#read(name, 'a number', (value) => typeof value === 'number');
  }

  boolean(name: string): boolean | undefined {
    return this.#read(name, 'true or false', (value) => typeof value === 'boolean');
  }

  /** A time such as `1m30s`, in milliseconds. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) throw wrong(this.#at(name), 'a time such as "15s" or "1m30s"', text);
    const parts = text.matchAll(/([\d.]+)(ms|s|m|h)/g);
    return [...parts].reduce((sum, [, amount, unit = 's']) => sum + Number(amount) * (msIn.get(unit) ?? 0), 0);
  }

  list(name: string): readonly unknown[] {
    return this.#read(name, 'a list', (value) => Array.isArray(value)) ?? [];
  }

  /** Empty where there is none. */
  object(name: string): Members {
    return new Members(this.#at(name), this.#take(name) ?? {});
  }

  /** Throws where the member is not exactly this text. */
  constant(name: string, wanted: string): void {
    const value = this.text(name);
    if (value !== wanted) throw wrong(this.#at(name), JSON.stringify(wanted), value);
  }

  /** Takes members that change nothing, and returns the names of those that there are. */
  ignore(...names: readonly string[]): readonly string[] {
    return names.filter((name) => this.#left.delete(name)).map((name) => this.#at(name));
  }

  refuseRest(): void {
    for (const [name, value] of this.#left) throw wrong(this.#at(name), 'absent: this program has no such member', value);
  }

  #read<T>(name: string, rule: string, isRight: (value: unknown) => value is T): T | undefined {
    const value = this.#take(name);
    if (value === undefined || value === null) return undefined;
    if (isRight(value)) return value;
    throw wrong(this.#at(name), rule, value);
  }

  #take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value;
  }

  #at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

const msIn: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

function wrong(path: string, rule: string, value: unknown): Error {
  return new Error(`${path}: expected ${rule}, got ${JSON.stringify(value)?.slice(0, 200) ?? 'nothing'}`);
}
