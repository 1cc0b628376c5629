import type { JsonObject } from '../../wire/types.ts';
import { apiStatus, forbiddenChange, StoreError, unforeseen } from '../pods-api/api-status.ts';
import type { PodSelection } from '../pods-api/pod-selectors.ts';
import { requestedVersion, selectionOf } from './pod-handlers.ts';
import { isTrue, type Route } from './route.ts';

export interface WatchQuery {
  readonly selection: PodSelection;
  /** The resourceVersion that the client knows; undefined when it knows none and gets every pod first. */
  readonly since: string | undefined;
  /** True: the watch begins with every pod, and then a bookmark if bookmarks are allowed. */
  readonly initialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number | undefined;
}

/** The annotations of the bookmark after the initial events. */
export const initialEventsEnd: JsonObject = { 'k8s.io/initial-events-end': 'true' };

function refuse(field: string, why: string): never {
  const cause = forbiddenChange(field, why);
  const message = `ListOptions.meta.k8s.io "" is invalid: ${field}: ${cause.message}`;
  throw new StoreError(apiStatus(422, 'Invalid', message, { group: 'meta.k8s.io', kind: 'ListOptions', causes: [cause] }));
}

/** What the query of a watch asks for. Throws 400 or 422 for what the server refuses. */
export function readWatchQuery(route: Route): WatchQuery {
  const { query } = route;
  const version = requestedVersion(query, unforeseen);
  const bookmarks = isTrue(query, 'allowWatchBookmarks');
  const isAsked = isTrue(query, 'sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  if (isAsked && match !== 'NotOlderThan') {
    refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match !== '' && !query.has('sendInitialEvents'))
    refuse('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return {
    selection: selectionOf(route),
    since: version === 0 ? undefined : String(version),
    // A client that knows no resourceVersion gets the initial events unasked.
    initialEvents: isAsked || (version === 0 && !query.has('sendInitialEvents')),
    bookmarks,
    timeoutMs: seconds > 0 ? seconds * 1000 : undefined,
  };
}
