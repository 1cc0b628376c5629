import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DebugHandlerOptions, resolveDebugOptions } from './debug-options.ts';
import { DebugServer } from './debug-server.ts';

/** Answers requests of any Node.js HTTP server. `express().use('/debug', handler)` and `http.createServer(handler)` both work. */
export interface DebugHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Stops listening to the manager, ends every stream and drops the history. Requests are answered with 503 from now on. */
  close(): void;
}

/**
 * Shows what a status manager holds and does, live: a page for browsers, JSON for programs, text for `curl`.
 *
 * - `/`: the page; for a client that accepts no HTML a table as text. `?filter=WORDS&sync=STATE&phase=PHASE` narrows it,
 *   with at most 20 words, states and phases.
 * - `/pods/UID`: one pod and its timeline, as text; a browser is sent to the page.
 * - `/api/snapshot`, `/api/pods/UID`: the same as JSON. `/api/changes`: server-sent events. See `DebugSnapshot`, `DebugPod`,
 *   `DebugChanges`.
 *
 * Read-only. It asks for no password: let the server listen on a loopback address, or put your own check before it. A request
 * that names the server by another name than an IP address, `localhost` or one of `allowedHosts` is refused. No credential is
 * ever shown; the statuses of pods are. The history begins with the handler. Throws ERR_INVALID_OPTION.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { BasicPodManager, StatusManager } from 'pod-status-manager';
 * import { createDebugHandler } from 'pod-status-manager/debug';
 *
 * const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
 * const manager = new StatusManager({ podClient: null, podManager: new BasicPodManager(), podDeletionSafety });
 * const debug = createDebugHandler({ manager });
 * const server = createServer(debug).listen(0, '127.0.0.1', () => server.close()); // a real agent goes on listening
 * server.once('close', () => debug.close());
 * ```
 */
export function createDebugHandler(options: DebugHandlerOptions): DebugHandler {
  const debug = new DebugServer(resolveDebugOptions(options));
  const handler = (request: IncomingMessage, response: ServerResponse): void => debug.handle({ request, response });
  return Object.assign(handler, { close: () => debug.close() });
}
