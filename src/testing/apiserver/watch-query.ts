import type { JsonObject } from '../../api/json/types.ts';
import { forbiddenChange, invalidOptions, type StatusCause, unforeseen, unsupportedValue } from '../objects/api-status.ts';
import type { Selection } from '../objects/selectors.ts';
import { requestedVersion, selectionOf } from './queries.ts';
import { isTrue, type Route } from './route.ts';

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
export function readWatchQuery(route: Route): WatchQuery {
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
