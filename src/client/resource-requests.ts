import type { ApiObject } from './api-resource.ts';
import type { WatchEvent } from './watch-line.ts';

/** What every request takes. */
export interface CallOptions {
  /** Ends the request. The promise rejects once the request has settled, never before. */
  readonly signal?: AbortSignal | undefined;
  /** How long the caller waits for the answer, in milliseconds. Default: the transport's `requestTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

export interface ObjectName {
  /** Needed for a resource that belongs to a namespace. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface GetOptions extends CallOptions {
  /** For one of very many reads at once: it goes over HTTP/2, beside the watches, where the server has that. Default false. */
  readonly besideStreams?: boolean | undefined;
  /** `"0"`: whatever the server has in its cache. Default: the newest. */
  readonly resourceVersion?: string | undefined;
}

export interface SelectionOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface ListOptions extends SelectionOptions, CallOptions {
  /** The most objects of a page. */
  readonly limit?: number | undefined;
  /** Of the page before. */
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
}

/** One page of a list. */
export interface ObjectPage<T extends ApiObject> {
  readonly items: readonly T[];
  /** Where a watch goes on. */
  readonly resourceVersion: string;
  /** Set when there are more pages. */
  readonly continue: string | undefined;
  readonly remainingItemCount: number | undefined;
}

export interface WatchOptions<T extends ApiObject> extends SelectionOptions {
  readonly signal?: AbortSignal | undefined;
  /** Changes after this version are told. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined;
  /** True: the watch begins with every object there is. */
  readonly sendInitialEvents?: boolean | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  /** When the server is to end the watch by itself. */
  readonly timeoutSeconds?: number | undefined;
  /** The watch ends with `Timeout` after this long a silence, in milliseconds. Default 150 000. */
  readonly idleTimeoutMs?: number | undefined;
  readonly onEvent: (event: WatchEvent<T>) => void;
}

export interface WriteOptions extends CallOptions {
  /** The server checks the write, answers as if it had happened, and changes nothing. */
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
  /** For a server-side apply that takes fields from others. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  readonly gracePeriodSeconds?: number | undefined;
  /** Precondition: the server refuses (409) when the object of this name has another uid. */
  readonly uid?: string | undefined;
  /** Precondition: the server refuses (409) when the object has changed. */
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
  readonly dryRun?: boolean | undefined;
}

export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

export interface ResourcePatch {
  readonly type: PatchType;
  /** Sent as JSON. */
  readonly body: unknown;
}
