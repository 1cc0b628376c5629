import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** For everything but the page: nothing may be loaded or shown in a frame, and nothing is kept. */
const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  vary: 'accept',
  'x-content-type-options': 'nosniff',
} as const;

/** A request that is answered, and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function answerJson(exchange: Exchange, value: unknown): void {
  answer(exchange, 200, 'application/json', JSON.stringify(value));
}

/** Plain text; a line break is added. */
export function answerText(
  exchange: Exchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  answer(exchange, status, 'text/plain', `${text}\n`, headers);
}

export function redirect(exchange: Exchange, location: string): void {
  answerText(exchange, 302, `See ${location}`, { location });
}

/** Writes the head of a stream of events. */
export function beginStream({ response }: Exchange): void {
  response.writeHead(200, { ...commonHeaders, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
}

function answer(
  { request, response }: Exchange,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(text);
  const head = { ...commonHeaders, 'content-type': `${type}; charset=utf-8`, 'content-length': body.length, ...headers };
  response.writeHead(status, head);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** The page, with the policy that lets its own script and style run and nothing else. */
export class PageAnswer {
  readonly #body: Buffer;
  readonly #etag: string;
  readonly #policy: string;

  constructor(html: string, policy: string) {
    this.#body = Buffer.from(html);
    this.#etag = `"${createHash('sha256').update(html).digest('base64').slice(0, 27)}"`;
    this.#policy = policy;
  }

  send({ request, response }: Exchange): void {
    const isKnown = request.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === this.#etag);
    const head = {
      ...commonHeaders,
      'cache-control': 'no-cache',
      'content-security-policy': this.#policy,
      etag: this.#etag,
    };
    if (isKnown) response.writeHead(304, head).end();
    else {
      response.writeHead(200, { ...head, 'content-type': 'text/html; charset=utf-8', 'content-length': this.#body.length });
      response.end(request.method === 'HEAD' ? undefined : this.#body);
    }
  }
}
