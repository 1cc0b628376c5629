import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { FaultRules } from '../fault-rules.ts';
import { isReview } from '../kinds/review-kinds.ts';
import { apiStatus, qualifiedName, reasonOfCode, StoreError } from '../objects/api-status.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import { type Answer, encodeAnswer, failures, renderingOf, sendAnswer, statusAnswer, writeHead } from './answer.ts';
import { type Fault, type FaultRule, takeFaults } from './faults.ts';
import type { Namespaces } from './namespaces.ts';
import { bindPod, handleObjects, type ObjectRequest, readBody } from './object-handlers.ts';
import type { RequestLog } from './request-log.ts';
import { ReviewAnswers } from './review-answers.ts';
import { type Authorize, administrator, type TokenUser } from './review-options.ts';
import { type OtherRoute, parseRoute, type ResourceRoute, type ServedResources } from './served-resources.ts';
import type { Watches } from './watches.ts';

export interface RequestHandlerOptions {
  readonly store: PodStore;
  readonly served: ServedResources;
  readonly clock: Clock;
  readonly watches: Watches;
  readonly namespaces: Namespaces;
  readonly faults: FaultRules<FaultRule>;
  readonly log: RequestLog;
  /** When given, every request needs a token of `users`. */
  readonly token: string | undefined;
  /** Whose token each is. */
  readonly users: ReadonlyMap<string, TokenUser>;
  /** Undefined: reviews say that all is allowed. */
  readonly authorize: Authorize | undefined;
  readonly requireNamespaces: boolean;
}

interface Exchange {
  readonly route: ResourceRoute;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

const serverVersion = { major: '1', minor: '36', gitVersion: 'v1.36.3', platform: 'in-memory' };

/** Answers each request. It checks the route, the credentials and the faults, and then reads or writes the resource. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #reviews: ReviewAnswers;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#reviews = new ReviewAnswers(options);
  }

  /** Never rejects: the answer to an unexpected error is 500; a connection that cannot be answered is closed. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#respond(request, response);
    } catch (error) {
      if (response.destroyed || response.headersSent) {
        response.destroy();
        return;
      }
      const status =
        error instanceof StoreError ? error.body : apiStatus(500, 'InternalError', `Internal error occurred: ${String(error)}`);
      sendAnswer(response, statusAnswer(status));
    }
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = parseRoute(request.method ?? 'GET', request.url ?? '/', this.#options.served);
    if (typeof route === 'object') this.#options.log.add(route, response);
    const body = await readBody(request);
    if (body === undefined) return sendAnswer(response, statusAnswer(failures.tooLarge));
    if (this.#options.token !== undefined && this.#senderOf(request) === undefined)
      return sendAnswer(response, statusAnswer(failures.unauthorized));
    if (typeof route === 'object') return this.#respondWithFaults({ route, request, response, body });
    sendAnswer(response, otherAnswer(route));
  }

  /** Undefined for a request without a token that the server knows. */
  #senderOf({ headers: { authorization = '' } }: IncomingMessage): TokenUser | undefined {
    const [scheme, token = ''] = authorization.split(' ');
    return scheme === 'Bearer' ? this.#options.users.get(token) : undefined;
  }

  async #respondWithFaults(exchange: Exchange): Promise<void> {
    const { route, response } = exchange;
    const { latencyMs, fault } = takeFaults(this.#options.faults, route);
    if (latencyMs > 0 && !(await this.#passes(latencyMs, response))) return;
    switch (fault?.kind) {
      case 'status':
        return sendAnswer(response, faultAnswer(fault));
      case 'reset':
        response.socket?.resetAndDestroy();
        return;
      case 'hang':
        return;
      case 'garbage':
        return sendAnswer(response, {
          code: 200,
          body: '{"kind": "Pod", "metadata": \u0000 not JSON',
          headers: { 'content-type': 'application/json' },
        });
      default:
        return this.#respondObjects(exchange, fault);
    }
  }

  /** Resolves to true after `ms`, or to false when the client goes away before. */
  #passes(ms: number, response: ServerResponse): Promise<boolean> {
    return new Promise((resolve) => {
      const gone = (): void => {
        cancel();
        resolve(false);
      };
      const cancel = this.#options.clock.setTimer(() => {
        response.off('close', gone);
        resolve(true);
      }, ms);
      response.once('close', gone);
    });
  }

  #respondObjects({ route, request, response, body }: Exchange, fault: Fault | undefined): void {
    const { namespaces, requireNamespaces, watches } = this.#options;
    const rendering = renderingOf(request.headers.accept);
    if (rendering === undefined) throw new StoreError(failures.notAcceptable);
    const { namespace, store, verb } = route;
    if (requireNamespaces && verb === 'create' && store.resource.namespaced) namespaces.require(namespace ?? '');
    if (verb === 'watch') {
      watches.serve(route, response, rendering);
      if (fault !== undefined) breakOff(response, fault);
      return;
    }
    const asked = { route, body, contentType: request.headers['content-type'], rendering };
    const sender = this.#senderOf(request) ?? administrator;
    const answer = isReview(store.resource) ? this.#reviews.answer(asked, sender) : this.#answer(asked);
    if (fault === undefined) sendAnswer(response, answer);
    else if (fault.kind === 'cut') sendHalf(response, answer);
    else breakOff(response, fault);
  }

  #answer(request: ObjectRequest): Answer {
    const { store, namespaces, clock } = this.#options;
    const { verb, subresource, store: objects } = request.route;
    if (subresource === 'binding') return bindPod(request, store);
    if (verb === 'delete' && qualifiedName(objects.resource) === 'namespaces') return namespaces.delete(request, clock.now());
    return handleObjects(request);
  }
}

/** The answer to a request on no resource. */
function otherAnswer(route: OtherRoute): Answer {
  switch (route) {
    case 'version':
      return { code: 200, body: serverVersion };
    case 'health':
      return { code: 200, body: 'ok' };
    case 'unknown-group':
      return { code: 404, body: '404 page not found\n' };
    case 'unknown-resource':
      return statusAnswer(failures.unknownPath);
    case 'method-not-allowed':
      return statusAnswer(failures.methodNotAllowed);
  }
}

function faultAnswer({ code, retryAfterSeconds, reason, message }: Fault & { kind: 'status' }): Answer {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const text = message ?? `This request fails with ${code} on demand`;
  return statusAnswer(apiStatus(code, reason ?? reasonOfCode(code), text, details));
}

/** Announces the length of the whole body, sends half of it, and ends the connection. */
function sendHalf(response: ServerResponse, answer: Answer): void {
  const whole = encodeAnswer(answer);
  writeHead(response, answer, whole.length);
  response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.socket?.destroy());
}

function breakOff(response: ServerResponse, { kind }: Fault): void {
  if (kind === 'cut') response.write('{"type":"ADDED","object":{"ki', () => response.socket?.destroy());
  else response.socket?.resetAndDestroy();
}
