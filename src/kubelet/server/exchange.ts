import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request and its answer. */
export interface Exchange {
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
  { request, response }: Exchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const body = Buffer.from(text);
  response.writeHead(status, {
    ...{ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', 'content-length': body.length },
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

export function answerJson(exchange: Exchange, value: unknown): void {
  answerText(exchange, 200, JSON.stringify(value), { 'content-type': 'application/json' });
}
