import type { ServerResponse } from 'node:http';
import type { ApiVerb, Route, Subresource } from './route.ts';

/** One request on pods, as the server saw it. */
export interface LoggedRequest {
  readonly verb: ApiVerb;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: Subresource | undefined;
  /** The HTTP status of the answer; 0 while there is none, and when the connection ended without one. */
  readonly status: number;
}

interface Entry {
  readonly logged: Omit<LoggedRequest, 'status'>;
  /** The answer in progress, or the status of a finished one: the log keeps no finished answers in memory. */
  answer: ServerResponse | number;
}

const statusOf = (response: ServerResponse): number => (response.headersSent ? response.statusCode : 0);

/** The last requests, and how many there were in all. */
export class RequestLog {
  readonly #capacity: number;
  #entries: Entry[] = [];
  readonly #counts = new Map<ApiVerb, number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get entries(): readonly LoggedRequest[] {
    return this.#entries
      .slice(-this.#capacity)
      .map(({ logged, answer }) => ({ ...logged, status: typeof answer === 'number' ? answer : statusOf(answer) }));
  }

  /** Records a request that has just arrived. */
  add({ verb, namespace, name, subresource }: Route, response: ServerResponse): void {
    const entry: Entry = { logged: { verb, namespace, name, subresource }, answer: response };
    response.once('close', () => {
      entry.answer = statusOf(response);
    });
    this.#entries.push(entry);
    if (this.#entries.length > 2 * this.#capacity) this.#entries = this.#entries.slice(-this.#capacity);
    this.#counts.set(verb, (this.#counts.get(verb) ?? 0) + 1);
  }

  /** The number of requests of `verb` (default: any verb), including those no longer listed. */
  count(verb?: ApiVerb): number {
    if (verb !== undefined) return this.#counts.get(verb) ?? 0;
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  clear(): void {
    this.#entries = [];
    this.#counts.clear();
  }
}
