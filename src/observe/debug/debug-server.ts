import { callGuarded } from '../../base/guard.ts';
import { acceptsHtml, isAllowedHost, isFromOtherSite } from './allowed-request.ts';
import { answerJson, answerText, beginStream, type Exchange, PageAnswer, redirect } from './answers.ts';
import { Board } from './board.ts';
import { ChangeStream } from './change-stream.ts';
import type { DebugPod } from './debug-api.ts';
import type { ResolvedDebugOptions } from './debug-options.ts';
import { page, pagePolicy } from './page/page.ts';
import { PodHistory } from './pod-history.ts';
import { PodTable } from './pod-table.ts';
import { podText } from './pod-text.ts';
import { record } from './recorder.ts';
import { type Route, routeOf } from './route.ts';
import { filterOf, tableText } from './table-text.ts';
import { Traffic } from './traffic.ts';

/** Why a request is not answered. */
interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers every request of the debug handler, and holds what the answers are made from. */
export class DebugServer {
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
    const parts = { table: new PodTable(manager, clock), history: new PodHistory(options.history), traffic: new Traffic(clock) };
    this.#history = parts.history;
    this.#board = new Board({ ...options, ...parts });
    this.#stream = new ChangeStream({ ...options, board: this.#board });
    this.#endRecording = record({ ...options, ...parts, onPod: (podUID) => parts.table.touch(podUID) });
  }

  /** Never throws. */
  handle(exchange: Exchange): void {
    callGuarded(
      () => this.#handle(exchange),
      (err) => {
        this.#options.logger.error({ err }, 'a debug request could not be answered');
        if (exchange.response.headersSent) exchange.response.destroy();
        else answerText(exchange, 500, 'The request could not be answered; the log says why.');
      },
    );
  }

  /** Ends every stream, listens to the manager no more, and drops the history. */
  close(): void {
    this.#isClosed = true;
    this.#endRecording();
    this.#stream.close();
    this.#history.clear();
  }

  #handle(exchange: Exchange): void {
    const route = routeOf(exchange.request.url, this.#options.basePath);
    const refusal = this.#refusal(exchange, route);
    if (refusal !== undefined) answerText(exchange, refusal.status, refusal.text, refusal.headers);
    else if (route !== undefined) this.#answer(exchange, route);
  }

  #refusal({ request }: Exchange, route: Route | undefined): Refusal | undefined {
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

  #answer(exchange: Exchange, route: Route): void {
    const isBrowser = acceptsHtml(exchange.request);
    switch (route.kind) {
      case 'index':
        if (isBrowser) this.#sendPage(exchange);
        else this.#answerTable(exchange, route.query);
        break;
      case 'pod':
        if (isBrowser) redirect(exchange, `../#pod=${encodeURIComponent(route.podUID)}`);
        else this.#answerPod(exchange, route.podUID, (pod) => answerText(exchange, 200, podText(pod)));
        break;
      case 'api-snapshot':
        answerJson(exchange, this.#board.snapshot());
        break;
      case 'api-pod':
        this.#answerPod(exchange, route.podUID, (pod) => answerJson(exchange, pod));
        break;
      case 'api-changes':
        this.#openStream(exchange);
        break;
    }
  }

  #answerTable(exchange: Exchange, query: URLSearchParams): void {
    const filter = filterOf(query);
    if (filter === undefined) answerText(exchange, 400, 'A filter may have at most 20 words, states and phases.');
    else answerText(exchange, 200, tableText(this.#board.snapshot(), filter));
  }

  #answerPod(exchange: Exchange, podUID: string, send: (pod: DebugPod) => void): void {
    const pod = this.#board.pod(podUID);
    if (pod === undefined) answerText(exchange, 404, 'Nothing is known of a pod with this uid.');
    else send(pod);
  }

  #openStream(exchange: Exchange): void {
    beginStream(exchange);
    if (exchange.request.method === 'HEAD') exchange.response.end();
    else this.#stream.open(exchange.response);
  }

  #sendPage(exchange: Exchange): void {
    this.#page ??= new PageAnswer(page, pagePolicy);
    this.#page.send(exchange);
  }
}
