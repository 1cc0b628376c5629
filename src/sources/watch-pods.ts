import { errorFromStatus, type JsonMembers } from '../client/transport/api-answer.ts';
import { ApiError, maxMessageLength } from '../client/transport/api-error.ts';
import type { KubeTransport } from '../client/transport/kube-transport.ts';
import { LineSplitter } from '../client/transport/line-splitter.ts';
import { isJsonObject } from '../wire/json.ts';
import { compareResourceVersions } from '../wire/resource-version.ts';
import type { WirePod } from '../wire/types.ts';
import type { PodSelection } from './list-pods.ts';
import { isPod, receivedPod } from './received-pod.ts';

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly pod: WirePod; readonly resourceVersion: string }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface WatchPodsOptions {
  readonly signal: AbortSignal;
  /** Changes after this version are told. */
  readonly resourceVersion: string;
  readonly idleTimeoutMs: number;
  /** When the server is to end the watch by itself. */
  readonly timeoutSeconds: number;
  readonly onEvent: (event: WatchEvent) => void;
}

/** An object of the API has at most 1.5 MiB in etcd; its JSON can be several times as long. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * Tells of every change until the server ends the watch. Rejects with the `ApiError` that ended it otherwise; one of
 * these is an event whose resourceVersion is older than that of the event before it: the history of the server went back.
 */
export async function watchPods(
  transport: KubeTransport,
  { path, nodeName }: PodSelection,
  options: WatchPodsOptions,
): Promise<void> {
  const { signal, resourceVersion, idleTimeoutMs, timeoutSeconds, onEvent } = options;
  const lines = new LineSplitter({ maxLineBytes });
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    fieldSelector: `spec.nodeName=${nodeName}`,
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  });
  let reached = resourceVersion;
  const onChunk = (chunk: Buffer): void => {
    for (const line of lines.push(chunk)) {
      // one chunk may hold many events, and a handler of the first may have stopped the source
      if (signal.aborted) return;
      const event = parseEvent(line, path);
      refuseOlder(event, reached, path);
      reached = event.resourceVersion;
      onEvent(event);
    }
  };
  await transport.stream({ method: 'GET', path, query, signal, idleTimeoutMs, onChunk });
}

function parseEvent(line: string, path: string): WatchEvent {
  const { type, object } = parseLine(line) ?? {};
  if (type === 'ERROR') throw errorOfEvent(object, path);
  if (type === 'BOOKMARK' && isJsonObject(object) && isJsonObject(object.metadata)) {
    const { resourceVersion } = object.metadata;
    if (typeof resourceVersion === 'string' && resourceVersion !== '') return { type, resourceVersion };
  }
  if ((type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') && isPod(object)) {
    return { type, pod: receivedPod(object), resourceVersion: object.metadata.resourceVersion };
  }
  throw new ApiError({ reason: 'BrokenAnswer', message: `GET ${path}: a line of the watch is no event` });
}

function parseLine(line: string): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function errorOfEvent(object: unknown, path: string): ApiError {
  const code = isJsonObject(object) ? object.code : undefined;
  // an ERROR event refuses the watch, whatever code it carries
  return errorFromStatus(object, { status: typeof code === 'number' && code >= 400 ? code : 500, label: `GET ${path}` });
}

function refuseOlder({ resourceVersion }: WatchEvent, reached: string, path: string): void {
  const order = compareResourceVersions(resourceVersion, reached);
  if (order === undefined || order >= 0) return;
  const message = `GET ${path}: the watch went back from resourceVersion ${reached} to ${resourceVersion}`;
  throw new ApiError({ reason: 'BrokenAnswer', message: message.slice(0, maxMessageLength) });
}
