import type { ApiObject } from './api-resource.ts';
import type { ReadEvent, WatchEvent } from './watch-line.ts';

/** What every request takes. */
export interface CallOptions {
  /** Ends the request. The promise rejects once the request has settled, never before. */
  readonly signal?: AbortSignal | undefined;
  /** How long the caller waits for the answer, in milliseconds. Default: the transport's `requestTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

/** Which object. */
export interface ObjectName {
  /** Needed for a resource that belongs to a namespace. */
  readonly namespace?: string | undefined;
  /** The object's name. */
  readonly name: string;
}

export interface GetOptions extends CallOptions {
  /** For one of very many reads at once: it goes over HTTP/2, beside the watches, where the server has that. Default false. */
  readonly besideStreams?: boolean | undefined;
  /** `"0"`: whatever the server has in its cache. Default: the newest. */
  readonly resourceVersion?: string | undefined;
}

/** Which objects. */
export interface SelectionOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** Such as `spec.nodeName=node-1`. Default: every object. */
  readonly fieldSelector?: string | undefined;
  /** Such as `app=web,tier!=test`. Default: every object. */
  readonly labelSelector?: string | undefined;
}

export interface ListOptions extends SelectionOptions, CallOptions {
  /** The most objects of a page. Default: no limit. */
  readonly limit?: number | undefined;
  /** Of the page before. */
  readonly continue?: string | undefined;
  /** `"0"`: whatever the server has in its cache. Default: the newest. */
  readonly resourceVersion?: string | undefined;
  /** How `resourceVersion` is meant; the server asks for it beside some of the other options. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

/** One page of a list. */
export interface ObjectPage<T extends ApiObject> {
  /** The objects of the page. */
  readonly items: readonly T[];
  /** Where a watch goes on. */
  readonly resourceVersion: string;
  /** Set when there are more pages. */
  readonly continue: string | undefined;
  /** How many objects come after this page; undefined where the server does not say it. */
  readonly remainingItemCount: number | undefined;
}

/** Which objects are watched, from which version on, and who hears of it. */
export interface WatchOptions<T extends ApiObject> extends SelectionOptions {
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
  /** Changes after this version are told. */
  readonly resourceVersion?: string | undefined;
  /** Needed beside `sendInitialEvents`. */
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined;
  /** True: the watch begins with every object there is. */
  readonly sendInitialEvents?: boolean | undefined;
  /** True: the server also sends bookmarks, which carry only a version. */
  readonly allowWatchBookmarks?: boolean | undefined;
  /** After how many seconds the server is to end the watch by itself. Default: the server's own, half an hour to an hour. */
  readonly timeoutSeconds?: number | undefined;
  /** The watch ends with `Timeout` after this long a silence, in milliseconds. Default 150 000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Reads each line. When it throws, the line counts as no event. Default: JSON.parse. */
  readonly readEvent?: ReadEvent | undefined;
  /** Called with each event, in order. */
  readonly onEvent: (event: WatchEvent<T>) => void;
}

export interface WriteOptions extends CallOptions {
  /** The server checks the write, answers as if it had happened, and changes nothing. */
  readonly dryRun?: boolean | undefined;
  /** The name under which the server notes who wrote which field. */
  readonly fieldManager?: string | undefined;
  /** What the server does with fields that it does not know. Default: the server's, `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
  /** For a server-side apply that takes fields from others. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** How long the object may take to end, in seconds. Default: what the object says. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Precondition: the server refuses (409) when the object of this name has another uid. */
  readonly uid?: string | undefined;
  /** Precondition: the server refuses (409) when the object has changed. */
  readonly resourceVersion?: string | undefined;
  /** What becomes of the objects that this one owns. Default: the server's, by resource. */
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
  /** The server checks the request, answers as if it had happened, and deletes nothing. */
  readonly dryRun?: boolean | undefined;
}

/** The media types of patches. */
export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

/** A patch of one object. */
export interface ResourcePatch {
  /** The media type of the body. */
  readonly type: PatchType;
  /** Sent as JSON. */
  readonly body: unknown;
}
