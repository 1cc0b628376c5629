import { Agent } from 'undici/index.js';
import type { SteadyClock } from '../../base/clock.ts';
import { TimeLeft } from '../../base/concurrency/aborts.ts';
import { ApiError } from '../transport/api-error.ts';
import { type HttpAnswer, HttpExchange } from '../transport/http-exchange.ts';

export interface DocumentRequest {
  /** http or https. A user and a password in it are sent as basic authorization, to its origin alone. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** For the whole of it, redirects and all. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** As Go's client has it. */
const mostRedirects = 10;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Reads documents over HTTP, with one connection to an origin. Follows redirects, but not from https to http, and gives
 * another origin no header of the request but `accept`. No error, and no label in it, holds a header, a query or a password.
 */
export class DocumentClient {
  readonly #agent: Agent;
  readonly #clock: SteadyClock;

  /** `tls`: what servers are verified with; by default with the certificates of the platform. */
  constructor(clock: SteadyClock, tls: { readonly ca?: string } = {}) {
    this.#clock = clock;
    // every wait is timed by the clock, so undici's own timers are off
    const waits = { headersTimeout: 0, bodyTimeout: 0 };
    this.#agent = new Agent({ connections: 1, allowH2: false, connect: { ...tls, timeout: 0 }, ...waits });
  }

  /** The answer, whatever its status. Rejects with an `ApiError`. */
  async get({ url, headers, timeoutMs, maxBytes, signal }: DocumentRequest): Promise<HttpAnswer> {
    const timeLeft = new TimeLeft(this.#clock, timeoutMs);
    let target = url;
    for (let redirected = 0; ; redirected += 1) {
      const answer = await this.#exchange(target, url, headers, {
        // at least a moment: a timer of less would stand for none
        timeoutMs: Math.max(1, timeLeft.ms()),
        maxBytes,
        signal,
      });
      const next = redirects.includes(answer.status) ? redirectOf(answer, target) : undefined;
      if (next === undefined) return answer;
      if (redirected === mostRedirects) throw refusal(url, `more than ${mostRedirects} redirects`);
      if (target.protocol === 'https:' && next.protocol !== 'https:') throw refusal(url, 'a redirect from https to http');
      if (next.protocol !== 'https:' && next.protocol !== 'http:') throw refusal(url, `a redirect to ${next.protocol}`);
      target = next;
    }
  }

  /** Ends the requests under way and closes the sockets. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #exchange(
    target: URL,
    asked: URL,
    headers: DocumentRequest['headers'],
    limits: { timeoutMs: number; maxBytes: number; signal: AbortSignal },
  ): Promise<HttpAnswer> {
    const { maxBytes: maxAnswerBytes, timeoutMs, signal } = limits;
    const exchange = new HttpExchange({ label: requestLabel(target), clock: this.#clock, signal, timeoutMs, maxAnswerBytes });
    const request = {
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'GET' as const,
      headers: target.origin === asked.origin ? { ...authorizationOf(asked), ...headers } : acceptOf(headers),
    };
    try {
      this.#agent.dispatch(request, exchange);
    } catch (error) {
      exchange.fail(
        new ApiError({ reason: 'Network', message: `${requestLabel(target)}: the request could not be made`, cause: error }),
      );
    }
    return exchange.answer;
  }
}

/** A URL as logs and errors show it. */
export function requestLabel({ origin, pathname }: URL): string {
  return `GET ${origin}${pathname}`;
}

function redirectOf({ headers }: HttpAnswer, from: URL): URL | undefined {
  const { location } = headers;
  return location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { authorization: `Basic ${credentials.toString('base64')}` };
}

function acceptOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() === 'accept'));
}

function refusal(url: URL, what: string): ApiError {
  return new ApiError({ reason: 'Network', message: `${requestLabel(url)}: ${what} is not followed` });
}
