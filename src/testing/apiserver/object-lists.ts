import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import type { ApiObject } from '../../client/resources/api-resource.ts';
import { keyFor } from '../objects/api-names.ts';
import {
  apiStatus,
  badRequest,
  forbiddenChange,
  invalidOptions,
  type StatusCause,
  StoreError,
  unforeseen,
  unsupportedValue,
} from '../objects/api-status.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import type { Selection } from '../objects/selectors.ts';
import { isTrue, type ResourceRoute } from './served-resources.ts';

/** The objects of a list, or of one page of it, with the metadata of the list. */
export interface ListPage {
  readonly items: readonly ApiObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    /** The token for the next page. */
    readonly continue?: string;
    /** How many objects follow; unknown when there is a selector. */
    readonly remainingItemCount?: number;
  };
}

/** Where a list goes on: after the object with this key, and as the objects were at the resourceVersion of the first page. */
interface Place {
  readonly resourceVersion: string;
  readonly after: string;
}

/** Throws 504 for a resourceVersion that the store has not reached. */
export function notFuture(wanted: number, store: ServedStore): void {
  const current = Number(store.resourceVersion);
  if (wanted <= current) return;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] as const;
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
  throw new StoreError(apiStatus(504, 'Timeout', message, { causes, retryAfterSeconds: 1 }));
}

function tokenOf({ resourceVersion, after }: Place): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: Number(resourceVersion), start: after })).toString('base64url');
}

function parseToken(token: string): Place {
  let value: Json;
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    value = null;
  }
  if (!isJsonObject(value) || !Number.isSafeInteger(value.rv) || typeof value.start !== 'string') {
    throw badRequest('invalid continue token: continue key is not valid');
  }
  return { resourceVersion: String(value.rv), after: value.start };
}

/** Throws 422 for options that do not go together. */
function checkListOptions(query: URLSearchParams, version: number): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const forbidden = (why: string): StatusCause => forbiddenChange('resourceVersionMatch', why);
  const causes: StatusCause[] = [];
  if (match !== '') {
    const isGiven = (query.get('resourceVersion') ?? '') !== '';
    if (!isGiven) causes.push(forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if ((query.get('continue') ?? '') !== '')
      causes.push(forbidden('resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      causes.push(unsupportedValue('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && isGiven && version === 0)
      causes.push(forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (query.has('sendInitialEvents'))
    causes.push(forbiddenChange('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
}

/** What the query says about the place to begin: a page that follows another, one exact state, or the newest state. */
function beginningOf(query: URLSearchParams, limit: number, store: ServedStore): Place {
  const version = requestedVersion(query, (message) => badRequest(`invalid resource version: ${message}`));
  checkListOptions(query, version);
  const token = query.get('continue') ?? '';
  if (token !== '') {
    if (version !== 0) throw badRequest('specifying resource version is not allowed when using continue');
    return parseToken(token);
  }
  notFuture(version, store);
  const match = query.get('resourceVersionMatch') ?? '';
  // a server reads page by page from one state, also where the query does not ask for an exact one
  const isExact = match === 'Exact' || (match === '' && limit > 0 && version !== 0);
  return { resourceVersion: isExact ? String(version) : store.resourceVersion, after: '' };
}

/** LIST, whole or in pages. Throws 410 when the state that a page or an exact list is of is forgotten. */
export function listObjects(route: ResourceRoute, store: ServedStore): ListPage {
  const { query } = route;
  const asked = Math.max(0, integerIn(query, 'limit') ?? 0);
  const { resourceVersion, after } = beginningOf(query, asked, store);
  const selection = selectionOf(route);
  const all = store.list(selection, resourceVersion).filter((object) => keyOf(object) > after);
  // a list that may come from the cache of a server is not cut
  const limit = query.get('resourceVersion') === '0' && after === '' ? 0 : asked;
  const items = limit === 0 ? all : all.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || items.length === all.length) return { items, metadata: { resourceVersion } };
  const isCounted = (selection.fieldSelector ?? '') === '' && (selection.labelSelector ?? '') === '';
  const remaining = isCounted ? { remainingItemCount: all.length - items.length } : {};
  return { items, metadata: { resourceVersion, continue: tokenOf({ resourceVersion, after: keyOf(last) }), ...remaining } };
}

function keyOf({ metadata }: ApiObject): string {
  return keyFor(metadata?.namespace ?? '', metadata?.name ?? '');
}

// What several requests have in their query.

export function selectionOf({ namespace, query }: ResourceRoute): Selection {
  return {
    namespace,
    fieldSelector: query.get('fieldSelector') ?? undefined,
    labelSelector: query.get('labelSelector') ?? undefined,
  };
}

/** The resourceVersion of a query as a number; 0 for none. Throws the error of `refusal` when it is no number. */
export function requestedVersion(query: URLSearchParams, refusal: (message: string) => StoreError): number {
  const text = query.get('resourceVersion') ?? '';
  if (/^\d*$/.test(text)) return Number(text);
  const shown = JSON.stringify(text);
  throw refusal(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`);
}

/** A whole number of a query; undefined where there is none. Throws 400 for other text. */
export function integerIn(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null) return undefined;
  if (/^[-+]?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

export interface WatchQuery {
  readonly selection: Selection;
  /** The resourceVersion that the client knows; undefined when it knows none. */
  readonly since: string | undefined;
  /** True: the watch begins with every object. */
  readonly initialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number | undefined;
}

/** The annotations of the bookmark after the initial events. */
export const initialEventsEnd: JsonObject = { 'k8s.io/initial-events-end': 'true' };

/** Throws 422 for options that do not go together. */
function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const forbidden = (why: string): StatusCause => forbiddenChange('resourceVersionMatch', why);
  const causes: StatusCause[] = [];
  if (query.has('sendInitialEvents')) {
    if (match !== 'NotOlderThan')
      causes.push(forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
    if (match !== 'NotOlderThan' && match !== '') causes.push(unsupportedValue('resourceVersionMatch', match, ['NotOlderThan']));
  } else if (match !== '') {
    causes.push(forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  }
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
}

/** What the query of a watch asks for. Throws 400 or 422 for what the server refuses. */
export function readWatchQuery(route: ResourceRoute): WatchQuery {
  const { query } = route;
  const version = requestedVersion(query, unforeseen);
  checkWatchOptions(query);
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return {
    selection: selectionOf(route),
    since: version === 0 ? undefined : String(version),
    // A client that knows no resourceVersion gets the initial events unasked.
    initialEvents: query.has('sendInitialEvents') ? isTrue(query, 'sendInitialEvents') : version === 0,
    bookmarks: isTrue(query, 'allowWatchBookmarks'),
    timeoutMs: seconds > 0 ? seconds * 1000 : undefined,
  };
}
