import type { ApiObject, ApiResource } from '../client/api-resource.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import type { ListOptions } from '../client/resource-requests.ts';
import { ApiError } from '../client/transport/api-error.ts';

export interface FullList<T> {
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

/**
 * All objects of a selection, as they were at one moment. When the server forgets that moment between two pages, the list
 * is asked for once more, in one piece.
 */
export async function listPages<T extends ApiObject>(
  client: ResourceClient<T>,
  { receive, onPage, onRestart, ...selection }: ListPagesOptions<T>,
): Promise<FullList<T>> {
  const first = { ...selection };
  let objects: T[] = [];
  let resourceVersion: string | undefined;
  let isPaginated = false;
  let next: ListOptions = first;
  for (;;) {
    const page = await nextPage(client, next, first);
    if (page.isWhole) {
      objects = [];
      resourceVersion = undefined;
      onRestart();
    }
    onPage();
    if (page.resourceVersion === '') throw withoutVersion(client);
    resourceVersion ??= page.resourceVersion;
    for (const item of page.items) {
      const object = receive(item);
      if (object !== undefined) objects.push(object);
    }
    if (page.continue === undefined) return { objects, resourceVersion, isPaginated };
    isPaginated = true;
    // a server refuses a version beside a continue token
    next = { ...selection, resourceVersion: undefined, resourceVersionMatch: undefined, continue: page.continue };
  }
}

/** The page asked for; or the whole list at once (`isWhole`) when its continue token has expired. */
async function nextPage<T extends ApiObject>(client: ResourceClient<T>, next: ListOptions, first: ListOptions) {
  try {
    return { ...(await client.list(next)), isWhole: false };
  } catch (error) {
    if (next.continue === undefined || !(error instanceof ApiError) || error.reason !== 'Expired') throw error;
    return { ...(await client.list({ ...first, limit: undefined })), isWhole: true };
  }
}

/** A watch without a version would begin with every object again. */
function withoutVersion({ resource }: { readonly resource: ApiResource }): ApiError {
  return new ApiError({ status: 200, reason: 'BrokenAnswer', message: `A list of ${resource.resource} has no resourceVersion` });
}
