import { type ObjectKind, objectKinds } from './object-truth.ts';

/** The time in which some registered pod names an object without a break. */
export interface Period {
  readonly sinceMs: number;
  endedAtMs: number | undefined;
  /** The highest resourceVersion that each manager has given out: since then, or ever where no cache lags behind. */
  readonly newest: Map<string, number>;
  /** The immutable version that a manager has given out from its watch, and keeps. */
  readonly kept: Map<string, number>;
}

export type NamedObjects = Readonly<Record<ObjectKind, ReadonlySet<string>>>;

/** Which objects the registered pods name, told by the test itself. */
export class References {
  readonly #now: () => number;
  readonly #cachesLag: boolean;
  readonly #pods = new Map<string, NamedObjects>();
  readonly #periods = new Map<string, Period>();

  /** Where caches lag behind, an object that is named anew may be older than it was the last time. */
  constructor(now: () => number, { cachesLag }: { readonly cachesLag: boolean }) {
    this.#now = now;
    this.#cachesLag = cachesLag;
  }

  /** What the pod names from now on; undefined: it is registered no more. */
  set(uid: string, names: NamedObjects | undefined): void {
    if (names === undefined) this.#pods.delete(uid);
    else this.#pods.set(uid, names);
    for (const kind of objectKinds) this.#update(kind);
  }

  /** The objects of a kind that some pod names. */
  names(kind: ObjectKind): ReadonlySet<string> {
    return new Set([...this.#pods.values()].flatMap((names) => [...names[kind]]));
  }

  /** The period that goes on, or the last one. */
  period(kind: ObjectKind, name: string): Period | undefined {
    return this.#periods.get(`${kind}/${name}`);
  }

  #update(kind: ObjectKind): void {
    const named = this.names(kind);
    for (const name of named) {
      const last = this.period(kind, name);
      if (last !== undefined && last.endedAtMs === undefined) continue;
      const newest = new Map(this.#cachesLag ? [] : last?.newest);
      this.#periods.set(`${kind}/${name}`, { sinceMs: this.#now(), endedAtMs: undefined, newest, kept: new Map() });
    }
    for (const [key, period] of this.#periods) {
      if (!key.startsWith(`${kind}/`) || period.endedAtMs !== undefined) continue;
      if (!named.has(key.slice(kind.length + 1))) period.endedAtMs = this.#now();
    }
  }
}
