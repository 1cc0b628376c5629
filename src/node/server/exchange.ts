import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isStatusManagerError, StatusManagerError } from '../../base/errors.ts';

/** A request and its answer. */
export interface ApiExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What came after the head of a request to switch to another protocol; undefined for an ordinary request. */
  readonly upgrade: Buffer | undefined;
  /** Aborts when the client goes away or the server closes. */
  readonly signal: AbortSignal;
}

/** The response of a request to switch to another protocol, which Node.js leaves to the server. */
export function responseOver(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once('finish', () => (socket as Socket).destroySoon());
  return response;
}

export function answerText(
  { request, response }: ApiExchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = Buffer.from(text);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': body.length,
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

export function answerJson(exchange: ApiExchange, value: unknown): void {
  answerText(exchange, 200, JSON.stringify(value), { 'content-type': 'application/json' });
}

/**
 * Why a request to the kubelet's API is not answered: the status code, and the text that the client gets; code ERR_KUBELET_API. A host
 * rejects with it.
 *
 * @example
 * ```ts
 * import { KubeletApiRefusal } from 'pod-status-manager/kubelet';
 *
 * const refusal = new KubeletApiRefusal(404, 'pod does not exist');
 * console.log(refusal.status, refusal.message); // 404 pod does not exist
 * ```
 */
export class KubeletApiRefusal extends StatusManagerError {
  /** The HTTP status code: 400 to 599. */
  readonly status: number;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super('ERR_KUBELET_API', message);
    this.name = 'KubeletApiRefusal';
    this.status = status;
    this.headers = headers;
  }
}

/** True for a refusal, also for one from another copy of the package. */
export function isApiRefusal(error: unknown): error is KubeletApiRefusal {
  return isStatusManagerError(error, 'ERR_KUBELET_API') && 'status' in error && typeof error.status === 'number';
}
