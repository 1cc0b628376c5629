import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';

/** A request to switch to another protocol, which nobody has answered yet. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  /** What would have answered a refusal over the request's socket. It is taken from the socket once the protocol is switched. */
  readonly response?: ServerResponse | undefined;
  /** What came after the request already. */
  readonly head: Buffer;
  /** Aborts when the client goes away or the server closes. */
  readonly signal: AbortSignal;
}

/** How long a client may take. */
export interface UpgradeLimits {
  readonly clock: Clock;
  /** In milliseconds: a connection over which nothing moves for so long is ended, at the latest after twice the time. */
  readonly idleTimeoutMs: number;
  /** In milliseconds: so soon the streams that belong together must be there. Default 30,000, as the kubelet's. */
  readonly streamsTimeoutMs?: number | undefined;
}

export const defaultStreamsTimeoutMs = 30_000;

/** Why no session comes about. */
export class StreamRefusal extends Error {
  override readonly name = 'StreamRefusal';
  /** The HTTP status code of the answer. Undefined: the connection is closed, and there is nobody to answer. */
  readonly status: number | undefined;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number | undefined, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The client went away before there was a session. */
export function clientIsGone(): StreamRefusal {
  return new StreamRefusal(undefined, 'the client is gone');
}

/** To which protocol the request wants to switch. Throws a `StreamRefusal` for any other one. */
export function askedUpgrade({ headers }: IncomingMessage): 'websocket' | 'spdy' {
  const upgrade = headers.upgrade?.toLowerCase() ?? '';
  if (upgrade === 'websocket') return 'websocket';
  if (upgrade.includes('spdy/3.1')) return 'spdy';
  throw new StreamRefusal(400, 'unable to upgrade: the request asks for neither SPDY/3.1 nor websocket');
}

/** The values of a header that is a list. */
export function listedValues(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  const values = text.split(',').map((value) => value.trim());
  return values.filter((value) => value !== '');
}
