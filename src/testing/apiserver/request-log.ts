import type { ServerResponse } from 'node:http';
import { qualifiedName } from '../objects/api-status.ts';
import { type ApiVerb, isNamed, type ResourceRoute, type Subresource } from './served-resources.ts';

/** One request on a resource, as the server saw it. */
export interface LoggedRequest {
  /** `pods`, `secrets`, `leases.coordination.k8s.io`. */
  readonly resource: string;
  /** What the request asked for. */
  readonly verb: ApiVerb;
  /** Undefined for all namespaces, and for a resource of the cluster. */
  readonly namespace: string | undefined;
  /** Undefined where the request names no object, such as a list. */
  readonly name: string | undefined;
  /** Undefined for the object itself. */
  readonly subresource: Subresource | undefined;
  /** The HTTP status of the answer; 0 while there is none, and when the connection ended without one. */
  readonly status: number;
}

interface Entry {
  readonly logged: Omit<LoggedRequest, 'status'>;
  /** The place of the request among those on all resources. */
  readonly place: number;
  /** The answer in progress, or the status of a finished one: the log keeps no finished answers in memory. */
  answer: ServerResponse | number;
}

/** The requests on one resource. */
interface ResourceLog {
  readonly resource: ResourceRoute['store']['resource'];
  entries: Entry[];
  readonly counts: Map<ApiVerb, number>;
}

const statusOf = (response: ServerResponse): number => (response.headersSent ? response.statusCode : 0);

/** The last requests on each resource, and how many there were in all. */
export class RequestLog {
  readonly #capacity: number;
  readonly #logs = new Map<string, ResourceLog>();
  #place = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The requests on a resource, oldest first; `*` stands for every resource. */
  entries(resource: string): readonly LoggedRequest[] {
    return this.#logsOf(resource)
      .flatMap(({ entries }) => this.#last(entries))
      .sort((a, b) => a.place - b.place)
      .map(({ logged, answer }) => ({ ...logged, status: typeof answer === 'number' ? answer : statusOf(answer) }));
  }

  /** Records a request that has just arrived. */
  add({ store, verb, namespace, name, subresource }: ResourceRoute, response: ServerResponse): void {
    const resource = qualifiedName(store.resource);
    const log: ResourceLog = this.#logs.get(resource) ?? { resource: store.resource, entries: [], counts: new Map() };
    this.#logs.set(resource, log);
    const entry: Entry = { logged: { resource, verb, namespace, name, subresource }, place: this.#place, answer: response };
    this.#place += 1;
    response.once('close', () => {
      entry.answer = statusOf(response);
    });
    log.entries.push(entry);
    if (log.entries.length > 2 * this.#capacity) log.entries = this.#last(log.entries);
    log.counts.set(verb, (log.counts.get(verb) ?? 0) + 1);
  }

  /** The number of requests of `verb` (undefined: any verb) on a resource, including those no longer listed. */
  count(verb: ApiVerb | undefined, resource: string): number {
    const counts = this.#logsOf(resource).flatMap((log) => [...log.counts]);
    return counts.reduce((sum, [each, count]) => sum + (verb === undefined || verb === each ? count : 0), 0);
  }

  clear(): void {
    this.#logs.clear();
  }

  /** As many of the newest as are to be listed. */
  #last(entries: readonly Entry[]): Entry[] {
    return entries.slice(Math.max(0, entries.length - this.#capacity));
  }

  #logsOf(resource: string): ResourceLog[] {
    return [...this.#logs.values()].filter((log) => isNamed(resource, log.resource));
  }
}
