import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { integerOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { Board, record } from './board.ts';
import { ChangeStream } from './change-stream.ts';
import {
  acceptsHtml,
  beginStream,
  type DebugExchange,
  type DebugRoute,
  debugRouteOf,
  hostName,
  isAllowedHost,
  isFromOtherSite,
  PageAnswer,
  redirect,
  sendJson,
  sendText,
} from './debug-answers.ts';
import type { DebugPod } from './debug-api.ts';
import type { DebugNodeSource, DebugSchedulerSource, PartKind } from './debug-part.ts';
import type { DebugManager } from './described-pod.ts';
import { fleetQueryOf } from './fleet-query.ts';
import { fleetNodeText, fleetText } from './fleet-text.ts';
import { page, pagePolicy } from './page/page.ts';
import { filterOf, partText, podPageText, tableText } from './plain-text.ts';
import { type HistoryLimits, PodHistory } from './pod-history.ts';
import { noManager, PodTable } from './pod-table.ts';
import type { DebugFleetSource } from './told-fleet.ts';
import { Traffic } from './traffic.ts';

/** Answers requests of any Node.js HTTP server. `express().use('/debug', handler)` and `http.createServer(handler)` both work. */
export interface DebugHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Stops listening to the manager and looking at the fleet, ends every stream and drops the history. Requests are answered with 503 from now on. */
  close(): void;
}

/**
 * Shows what a status manager, a node, a scheduler and a fleet hold and do, live: a page for browsers, JSON for programs, text for `curl`.
 *
 * - `/`: the page; for a client that accepts no HTML a table as text, with pods in trouble first.
 *   `?trouble&filter=WORDS&sync=STATE&phase=PHASE` narrows it, with at most 20 words, states and phases.
 * - `/pods/UID`, `/node`, `/scheduler`, `/fleet`, `/fleet/nodes/NAME`: one pod with its timeline, the node, the scheduler, the fleet,
 *   one node of it, as text; a browser is sent to the page.
 * - `/api/snapshot`, `/api/pods/UID`, `/api/node`, `/api/scheduler`, `/api/fleet`, `/api/fleet/nodes/NAME`: the same as JSON.
 *   `/api/changes`: server-sent events. See `DebugSnapshot`, `DebugPod`, `DebugPart`, `DebugFleet`, `DebugFleetNode`, `DebugChanges`.
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

/** What `createDebugHandler` takes. An option that does not exist is refused with ERR_INVALID_OPTION. */
export interface DebugHandlerOptions {
  /** The status manager that is shown. The handler listens to its events until it is closed. Needed unless there is a `scheduler` or a `fleet`. */
  readonly manager?: DebugManager;
  /** The node around the manager: a `ProviderNode`, a `NodeAgent`, a `PodStatusAgent`, or anything that answers like one. Default: none. */
  readonly node?: DebugNodeSource;
  /** A scheduler: a `Scheduler`, or anything that answers like one. Default: none. */
  readonly scheduler?: DebugSchedulerSource;
  /**
   * A member of a fleet of nodes: a `NodeFleet`, or anything that answers like one. Until it is closed the handler looks every five seconds
   * who owns how many shards. Default: none.
   */
  readonly fleet?: DebugFleetSource;
  /** What is kept of each pod's past. */
  readonly history?: DebugHistoryOptions;
  /** Names, without a port, by which a request may name the server, beside `localhost` and IP addresses. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** The path under which the server hands requests to the handler with their whole URL: `/debug`. Default: the root. */
  readonly basePath?: string;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Pino-shaped. Default: warnings and errors go to the console. Null: silent. */
  readonly logger?: Logger | null;
}

/** How much the handler keeps of the past of the pods. Zero keeps nothing. */
export interface DebugHistoryOptions {
  /** Entries of each pod's timeline; older ones are dropped. Default 100. */
  readonly entriesPerPod?: number;
  /** Memory for the timelines of all pods, in bytes; the oldest entries of all are dropped. Default 33 554 432 (32 MiB). */
  readonly bytes?: number;
}

interface ResolvedDebugOptions {
  readonly manager: DebugManager | undefined;
  readonly node: DebugNodeSource | undefined;
  readonly scheduler: DebugSchedulerSource | undefined;
  readonly fleet: DebugFleetSource | undefined;
  readonly history: HistoryLimits;
  readonly allowedHosts: ReadonlySet<string>;
  readonly basePath: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const optionNames = [
  'manager',
  'node',
  'scheduler',
  'fleet',
  'history',
  'allowedHosts',
  'basePath',
  'clock',
  'logger',
] as const satisfies readonly (keyof DebugHandlerOptions)[];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; for an unknown option, too. */
export function resolveDebugOptions(options: DebugHandlerOptions): ResolvedDebugOptions {
  requireKnownOptions('options', options, optionNames);
  const {
    manager,
    node,
    scheduler,
    fleet,
    history = {},
    allowedHosts = [],
    basePath = '',
    clock = systemClock,
    logger,
  } = options;
  if (manager !== undefined || (scheduler === undefined && fleet === undefined)) {
    requireMethods('manager', manager, ['snapshot', 'explain', 'getPodStatus', 'on', 'off']);
  }
  if (scheduler !== undefined) requireMethods('scheduler', scheduler, ['snapshot', 'explain']);
  if (fleet !== undefined) requireMethods('fleet', fleet, ['snapshot', 'explain']);
  if (node !== undefined) requireMethods('node', node, ['snapshot', 'explain']);
  requireKnownOptions('history', history, ['entriesPerPod', 'bytes']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    manager,
    node,
    scheduler,
    fleet,
    history: {
      entriesPerPod: integerOption('history.entriesPerPod', history.entriesPerPod ?? 100, 0),
      bytes: integerOption('history.bytes', history.bytes ?? 33_554_432, 0),
    },
    allowedHosts: hostNames(allowedHosts),
    basePath: pathOption(basePath),
    clock: clock === systemClock ? systemClock : safeClock(clock),
    logger: loggerOption(logger),
  };
}

function hostNames(names: unknown): ReadonlySet<string> {
  const rule = 'a list of host names without a port';
  if (!Array.isArray(names)) throw invalidOption('allowedHosts', rule, names);
  return new Set(
    names.map((name: unknown) => {
      if (typeof name === 'string' && !name.includes(':')) {
        const plain = hostName(name);
        if (plain !== undefined) return plain;
      }
      throw invalidOption('allowedHosts', rule, name);
    }),
  );
}

function pathOption(path: unknown): string {
  if (typeof path === 'string' && /^(?:\/[^/?#\s]+)*\/?$/.test(path)) return path.replace(/\/$/, '');
  throw invalidOption('basePath', 'a path that begins with a slash, such as "/debug"', path);
}

/** Why a request is not answered. */
interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers every request of the debug handler, and holds what the answers are made from. */
class DebugServer {
  readonly #options: ResolvedDebugOptions;
  readonly #board: Board;
  readonly #stream: ChangeStream;
  readonly #history: PodHistory;
  readonly #endRecording: () => void;
  #page: PageAnswer | undefined;
  #isClosed = false;

  /** Listens to the manager from now on. */
  constructor(options: ResolvedDebugOptions) {
    this.#options = options;
    const { manager, clock } = options;
    const table = new PodTable(manager ?? noManager(clock), clock);
    const parts = { table, history: new PodHistory(options.history), traffic: new Traffic(clock) };
    this.#history = parts.history;
    this.#board = new Board({ ...options, ...parts });
    this.#stream = new ChangeStream({ ...options, board: this.#board });
    this.#endRecording =
      manager === undefined ? () => {} : record({ ...options, ...parts, manager, onPod: (podUID) => table.touch(podUID) });
  }

  /** Never throws. */
  handle(exchange: DebugExchange): void {
    callGuarded(
      () => this.#handle(exchange),
      (err) => {
        this.#options.logger.error({ err }, 'a debug request could not be answered');
        if (exchange.response.headersSent) exchange.response.destroy();
        else sendText(exchange, 500, 'The request could not be answered; the log says why.');
      },
    );
  }

  /** Ends every stream, listens to the manager and looks at the fleet no more, and drops the history. */
  close(): void {
    this.#isClosed = true;
    this.#endRecording();
    this.#stream.close();
    this.#board.close();
    this.#history.clear();
  }

  #handle(exchange: DebugExchange): void {
    const route = debugRouteOf(exchange.request.url, this.#options.basePath);
    const refusal = this.#refusal(exchange, route);
    if (refusal !== undefined) sendText(exchange, refusal.status, refusal.text, refusal.headers);
    else if (route !== undefined) this.#answer(exchange, route);
  }

  #refusal({ request }: DebugExchange, route: DebugRoute | undefined): Refusal | undefined {
    if (this.#isClosed) return { status: 503, text: 'The debug handler is closed.' };
    if (!isAllowedHost(request, this.#options.allowedHosts)) {
      return { status: 403, text: 'This host name is not allowed. Use an address, or name it in the option allowedHosts.' };
    }
    if (isFromOtherSite(request)) return { status: 403, text: 'Requests from other sites are refused.' };
    if (route === undefined) return { status: 404, text: 'There is no such page.' };
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return { status: 405, text: 'Nothing can be changed here.', headers: { allow: 'GET, HEAD' } };
    }
    if (route.kind === 'api-changes' && this.#stream.isFull) {
      return { status: 503, text: 'Too many streams are open.', headers: { 'retry-after': '5' } };
    }
    return undefined;
  }

  #answer(exchange: DebugExchange, route: DebugRoute): void {
    const isBrowser = acceptsHtml(exchange.request);
    switch (route.kind) {
      case 'index':
        if (isBrowser) this.#sendPage(exchange);
        else this.#answerTable(exchange, route.query);
        break;
      case 'pod':
        if (isBrowser) redirect(exchange, `../#pod=${encodeURIComponent(route.podUID)}`);
        else this.#answerPod(exchange, route.podUID, (pod) => sendText(exchange, 200, podPageText(pod)));
        break;
      case 'api-snapshot':
        sendJson(exchange, this.#board.snapshot());
        break;
      case 'api-pod':
        this.#answerPod(exchange, route.podUID, (pod) => sendJson(exchange, pod));
        break;
      case 'part':
        if (isBrowser && !route.isApi) redirect(exchange, `./#panel=${route.part}`);
        else this.#answerPart(exchange, route.part, route.isApi);
        break;
      case 'fleet':
        if (isBrowser && !route.isApi) redirect(exchange, './#panel=fleet');
        else this.#answerFleet(exchange, route.query, route.isApi);
        break;
      case 'fleet-node':
        if (isBrowser && !route.isApi) redirect(exchange, `../../#node=${encodeURIComponent(route.nodeName)}`);
        else this.#answerFleetNode(exchange, route.nodeName, route.isApi);
        break;
      case 'api-changes':
        this.#openStream(exchange);
        break;
    }
  }

  #answerTable(exchange: DebugExchange, query: URLSearchParams): void {
    const filter = filterOf(query);
    if (filter === undefined) sendText(exchange, 400, 'A filter may have at most 20 words, states and phases.');
    else sendText(exchange, 200, tableText(this.#board.snapshot(), filter));
  }

  #answerPod(exchange: DebugExchange, podUID: string, send: (pod: DebugPod) => void): void {
    const pod = this.#board.pod(podUID);
    if (pod === undefined) sendText(exchange, 404, 'Nothing is known of a pod with this uid.');
    else send(pod);
  }

  #answerPart(exchange: DebugExchange, kind: PartKind, isApi: boolean): void {
    const part = this.#board.part(kind);
    if (part === undefined) sendText(exchange, 404, `The page was made without a ${kind}.`);
    else if (isApi) sendJson(exchange, part);
    else sendText(exchange, 200, partText(part));
  }

  #answerFleet(exchange: DebugExchange, parameters: URLSearchParams, isApi: boolean): void {
    const query = fleetQueryOf(parameters, isApi ? 100 : 1_000);
    const fleet = query && this.#board.fleet(query);
    if (query === undefined) sendText(exchange, 400, 'A filter may have at most 20 words and states.');
    else if (fleet === undefined) sendText(exchange, 404, 'The page was made without a fleet.');
    else if (isApi) sendJson(exchange, fleet);
    else sendText(exchange, 200, fleetText(fleet));
  }

  #answerFleetNode(exchange: DebugExchange, nodeName: string, isApi: boolean): void {
    const node = this.#board.fleetNode(nodeName);
    if (node === undefined) sendText(exchange, 404, 'Nothing is known of a node with this name.');
    else if (isApi) sendJson(exchange, node);
    else sendText(exchange, 200, fleetNodeText(node));
  }

  #openStream(exchange: DebugExchange): void {
    beginStream(exchange);
    if (exchange.request.method === 'HEAD') exchange.response.end();
    else this.#stream.open(exchange.response);
  }

  #sendPage(exchange: DebugExchange): void {
    this.#page ??= new PageAnswer(page, pagePolicy);
    this.#page.send(exchange);
  }
}
