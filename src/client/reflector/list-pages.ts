import type { ApiObject } from '../resources/api-resource.ts';
import type { ResourceClient } from '../resources/resource-client.ts';
import type { ListOptions, ObjectPage } from '../resources/resource-requests.ts';
import { ApiError } from '../transport/api-error.ts';
import { isExpired } from './failures.ts';
import { objectKeyOf } from './object-store.ts';

export interface FullList<T> {
  /** Of a name that came twice the last copy. */
  readonly objects: readonly T[];
  /** That of the first page: all pages show the objects as they were then. */
  readonly resourceVersion: string;
  readonly isPaginated: boolean;
}

export interface ListPagesOptions<T> extends Omit<ListOptions, 'continue'> {
  /** Called with each object as it comes; undefined leaves the object out. */
  readonly receive: (object: T) => T | undefined;
  /** Called after each page that has come. */
  readonly onPage: () => void;
  /** Called before the first object of a list that was asked for again: those received before do not count. */
  readonly onRestart: () => void;
}

/** Several times what the name of an object and a version make. */
const longestToken = 8192;
/** A page may be empty where a selector leaves its objects out. */
const mostPagesForNothing = 100;

/**
 * All objects of a selection, as they were at one moment. When the server forgets that moment between two pages, the list
 * is asked for once more, in one piece. Pages that lead nowhere end it with a `BrokenAnswer`.
 */
export async function listPages<T extends ApiObject>(
  client: ResourceClient<T>,
  { receive, onPage, onRestart, ...selection }: ListPagesOptions<T>,
): Promise<FullList<T>> {
  const list = new ListInPages<T>(client.resource.resource, receive);
  let next: ListOptions = selection;
  for (;;) {
    let page: ObjectPage<T>;
    try {
      page = await client.list(next);
    } catch (error) {
      if (list.hasRestarted || next.continue === undefined || !isExpired(error)) throw error;
      page = await client.list({ ...selection, limit: undefined });
      list.restart();
      onRestart();
    }
    onPage();
    const token = list.take(page);
    if (token === undefined) return list.result();
    // a server refuses a version beside a continue token
    next = { ...selection, resourceVersion: undefined, resourceVersionMatch: undefined, continue: token };
  }
}

/** What has come of a list, and whether it gets on: a proxy that answers each request with one page would never come to its end. */
class ListInPages<T extends ApiObject> {
  readonly #resource: string;
  readonly #receive: (object: T) => T | undefined;
  /** By key; undefined for one that was left out. */
  readonly #objects = new Map<string, T | undefined>();
  readonly #tokens = new Set<string>();
  #resourceVersion: string | undefined;
  #pagesForNothing = 0;
  #hasRestarted = false;

  constructor(resource: string, receive: (object: T) => T | undefined) {
    this.#resource = resource;
    this.#receive = receive;
  }

  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** What has come does not count. */
  restart(): void {
    this.#hasRestarted = true;
    this.#objects.clear();
    this.#resourceVersion = undefined;
  }

  /** The token of the page after this one; undefined when this was the last. */
  take({ items, resourceVersion, continue: token }: ObjectPage<T>): string | undefined {
    // a watch without a version would begin with every object again
    if (resourceVersion === '') throw this.#broken('has no resourceVersion');
    this.#resourceVersion ??= resourceVersion;
    const known = this.#objects.size;
    for (const item of items) {
      // what receives it may change it in place
      const key = objectKeyOf(item);
      this.#objects.set(key, this.#receive(item));
    }
    if (token === undefined) return undefined;
    this.#pagesForNothing = this.#objects.size > known ? 0 : this.#pagesForNothing + 1;
    if (this.#pagesForNothing === mostPagesForNothing)
      throw this.#broken(`does not get on: ${mostPagesForNothing} pages in a row brought no further object`);
    if (token.length > longestToken) throw this.#broken(`has a continue token of ${token.length} characters`);
    if (this.#tokens.has(token)) throw this.#broken('does not get on: two pages have the same continue token');
    this.#tokens.add(token);
    return token;
  }

  result(): FullList<T> {
    const objects: T[] = [];
    for (const object of this.#objects.values()) if (object !== undefined) objects.push(object);
    return { objects, resourceVersion: this.#resourceVersion ?? '', isPaginated: this.#tokens.size > 0 };
  }

  #broken(what: string): ApiError {
    return new ApiError({ status: 200, reason: 'BrokenAnswer', message: `A list of ${this.#resource} ${what}` });
  }
}
