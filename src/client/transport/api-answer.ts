import { STATUS_CODES } from 'node:http';
import { isJsonObject } from '../../api/json/json.ts';
import { ApiError, maxMessageLength } from './api-error.ts';
import type { HttpAnswer } from './http-exchange.ts';

/** The members of a JSON object that came from a server: nothing is known of them yet. */
export type JsonMembers = { readonly [key: string]: unknown };

/** The object a 2xx answer holds. Throws the `ApiError` that any other answer stands for. */
export function readApiAnswer({ status, headers, body }: HttpAnswer, label: string, nowMs: number): JsonMembers {
  const value = parseJson(body);
  if (status < 200 || status >= 300) {
    const header = headers['retry-after'];
    throw errorFromStatus(value, { status, label, retryAfterMs: parseRetryAfter(header, nowMs) });
  }
  if (isJsonObject(value)) return value;
  // nobody has asked for a compressed answer, and none is unpacked: what is small on the wire could be as large as it likes
  const encoding = headers['content-encoding'];
  const packed = typeof encoding === 'string' ? ` (${shorten(encoding)})` : '';
  throw new ApiError({
    status,
    reason: 'BrokenAnswer',
    message: `${label}: ${status} with ${body.length} bytes that are not a JSON object${packed}`,
  });
}

interface StatusContext {
  readonly status: number;
  readonly label: string;
  readonly retryAfterMs?: number | undefined;
}

/**
 * The error that an answer tells of. Only a Status object has a reason of the apiserver's; any other answer comes from a
 * proxy or a load balancer, and its error has the reason `NoStatus`.
 */
export function errorFromStatus(value: unknown, { status, label, retryAfterMs }: StatusContext): ApiError {
  const isStatus = isJsonObject(value) && value.kind === 'Status';
  const { reason, message, details }: JsonMembers = isStatus ? value : {};
  const phrase = STATUS_CODES[status] ?? 'Unknown';
  const seconds = isJsonObject(details) ? details.retryAfterSeconds : undefined;
  return new ApiError({
    status,
    reason: typeof reason === 'string' && reason !== '' ? reason.slice(0, 100) : isStatus ? 'Unknown' : 'NoStatus',
    message: `${label}: ${status} ${typeof message === 'string' && message !== '' ? shorten(message) : phrase}`,
    retryAfterMs: retryAfterMs ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined),
  });
}

/** `Retry-After` in milliseconds from now: seconds, or an HTTP date. Undefined for anything else. */
export function parseRetryAfter(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  // Date.parse takes much more than an HTTP date; all three forms of one begin with the weekday's name
  const date = /^[A-Z][a-z]{2}/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function shorten(text: string): string {
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // the parser's message quotes the body, so it is not kept
    return undefined;
  }
}
