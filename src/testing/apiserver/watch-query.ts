import type { JsonObject } from '../../api/wire.ts';
import { apiStatus, StoreError } from '../api-status.ts';
import type { PodSelection } from '../pod-selectors.ts';
import { requestedVersion, selectionOf } from './pod-handlers.ts';
import { isTrue, type Route } from './route.ts';

export interface WatchQuery {
  readonly selection: PodSelection;
  /** The version the client knows; undefined: it knows nothing and is shown every pod first. */
  readonly since: string | undefined;
  /** Every pod first, and a bookmark that says so. */
  readonly initialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number | undefined;
}

/** The annotations of the bookmark after the initial events. */
export const initialEventsEnd: JsonObject = { 'k8s.io/initial-events-end': 'true' };

function refuse(field: string, why: string): never {
  const message = `ListOptions.meta.k8s.io "" is invalid: ${field}: Forbidden: ${why}`;
  throw new StoreError(apiStatus(422, 'Invalid', message, { kind: 'ListOptions' }));
}

/** What the query of a watch asks for. Throws 400 or 422 for what the server refuses. */
export function readWatchQuery(route: Route): WatchQuery {
  const { query } = route;
  const version = requestedVersion(query);
  const bookmarks = isTrue(query, 'allowWatchBookmarks');
  const initialEvents = isTrue(query, 'sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  if (initialEvents && match !== 'NotOlderThan') {
    refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match !== '' && !query.has('sendInitialEvents'))
    refuse('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch');
  if (initialEvents && !bookmarks)
    refuse('sendInitialEvents', 'sendInitialEvents is forbidden for watch unless allowWatchBookmarks is set');
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  return {
    selection: selectionOf(route),
    since: version === 0 ? undefined : String(version),
    initialEvents,
    bookmarks,
    timeoutMs: seconds > 0 ? seconds * 1000 : undefined,
  };
}
