import type { ApiVerb, Route } from './route.ts';

/** One request on pods, as the server saw it. */
export interface LoggedRequest {
  readonly verb: ApiVerb;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: 'status' | undefined;
  /** The HTTP status answered; 0 while there is no answer, and for good when the connection ended before one. */
  readonly status: number;
}

type Writable = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/** The last requests, and how many there were in all. */
export class RequestLog {
  readonly #capacity: number;
  #entries: Writable[] = [];
  readonly #counts = new Map<ApiVerb, number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get entries(): readonly LoggedRequest[] {
    return this.#entries.slice(-this.#capacity);
  }

  /** Notes a request that has just come in; the function returned notes what it is answered. */
  add({ verb, namespace, name, subresource }: Route): (status: number) => void {
    const entry: Writable = { verb, namespace, name, subresource, status: 0 };
    this.#entries.push(entry);
    if (this.#entries.length > 2 * this.#capacity) this.#entries = this.#entries.slice(-this.#capacity);
    this.#counts.set(verb, (this.#counts.get(verb) ?? 0) + 1);
    return (status) => {
      entry.status = status;
    };
  }

  /** Requests of `verb` (none given: of all), those no longer listed included. */
  count(verb?: ApiVerb): number {
    if (verb !== undefined) return this.#counts.get(verb) ?? 0;
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  clear(): void {
    this.#entries = [];
    this.#counts.clear();
  }
}
