import { ApiException } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { classifyApiError, readApiFailure } from '../../../../src/client/resources/error-class.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';

const status = (code: number, reason: string, more: object = {}): string =>
  JSON.stringify({ kind: 'Status', code, reason, message: `the server's word: ${reason}`, ...more });
const exception = (code: number, body: unknown, headers: Record<string, string> = {}): ApiException<unknown> =>
  new ApiException(code, 'Unknown API Status Code!', body, headers);

describe('classifyApiError', () => {
  it.each([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [408, 'timeout'],
    [409, 'conflict'],
    [410, 'unavailable'],
    [413, 'invalid'],
    [415, 'invalid'],
    [418, 'unavailable'],
    [422, 'invalid'],
    [429, 'throttled'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('takes %i from an ApiError, from client-node’s exception and from any object alike: %s', (code, errorClass) => {
    const errors = [
      new ApiError({ status: code, reason: 'Some', message: 'm' }),
      exception(code, status(code, 'Some')),
      { status: code },
      { code },
    ];
    expect(errors.map(classifyApiError)).toEqual(errors.map(() => errorClass));
  });

  it.each([
    ['an ApiError of the reason NotFound', new ApiError({ status: 404, reason: 'NotFound', message: 'm' }), 'gone'],
    ['client-node’s exception with a Status object', exception(404, status(404, 'NotFound')), 'gone'],
    ['client-node’s exception with a parsed Status object', exception(404, JSON.parse(status(404, 'NotFound'))), 'gone'],
    ['a 404 of another reason', new ApiError({ status: 404, reason: 'NoStatus', message: 'm' }), 'unavailable'],
    ['client-node’s exception with a page of a proxy', exception(404, '404 page not found'), 'unavailable'],
    ['client-node’s exception with a body that is no Status', exception(404, '{"reason":"NotFound"}'), 'unavailable'],
    ['a bare 404', { status: 404 }, 'unavailable'],
  ])('calls a pod gone for the apiserver’s own word alone: %s', (_, error, errorClass) => {
    expect(classifyApiError(error)).toBe(errorClass);
  });

  it.each([
    ['Timeout', 'timeout'],
    ['Aborted', 'aborted'],
    ['BrokenAnswer', 'broken-answer'],
    ['NoCredentials', 'unauthorized'],
    ['Network', 'unavailable'],
    ['NotOwner', 'unavailable'],
    ['constructor', 'unavailable'],
  ])('goes by the reason %s where there was no answer: %s', (reason, errorClass) => {
    expect(classifyApiError(new ApiError({ reason, message: 'm' }))).toBe(errorClass);
  });

  it.each([
    undefined,
    null,
    'text',
    404,
    new Error('x'),
    { code: 'ECONNRESET' },
    { status: '404' },
  ])('takes %o for no answer', (error) => {
    expect(classifyApiError(error)).toBe('unavailable');
  });
});

describe('readApiFailure', () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5);

  it.each([
    ['an ApiError', new ApiError({ status: 429, reason: 'r', message: 'm', retryAfterMs: 7000 }), 7000],
    ['a header of client-node’s exception', exception(429, '', { 'Retry-After': '7' }), 7000],
    ['a date in it', exception(429, '', { 'retry-after': 'Fri, 02 Jan 2026 03:04:12 GMT' }), 7000],
    ['the details of its Status object', exception(429, status(429, 'r', { details: { retryAfterSeconds: 7 } })), 7000],
    ['a negative wait', { status: 429, retryAfterMs: -1 }, undefined],
    ['no wait', { status: 429 }, undefined],
  ])('finds how long the server asked to wait: %s', (_, error, expected) => {
    expect(readApiFailure(error, now).retryAfterMs).toBe(expected);
  });

  it('takes the message of the Status object and not client-node’s, which holds the whole answer', () => {
    expect(readApiFailure(exception(422, status(422, 'Invalid'), { 'set-cookie': 'secret' })).message).toBe(
      "the server's word: Invalid",
    );
  });

  it('repeats nothing of an answer without one', () => {
    expect(readApiFailure(exception(502, '<html>secret</html>', { 'set-cookie': 'secret' })).message).toBe('HTTP status 502');
  });

  it('keeps 500 characters of a message', () => {
    expect(readApiFailure(new Error('m'.repeat(2000))).message).toBe('m'.repeat(500));
  });

  it.each([undefined, null, 5, {}, { message: '' }])('has a message for %o', (error) => {
    expect(readApiFailure(error).message).not.toBe('');
  });

  const throws = (): never => {
    throw new Error('no');
  };
  it.each([
    ['a getter that throws', Object.defineProperty({}, 'status', { get: throws })],
    ['a code that cannot become text', { body: '', code: Object.create(null) }],
    ['headers that cannot be listed', { headers: new Proxy({}, { ownKeys: throws }) }],
  ])('says so, and does not throw, where the error cannot be read: %s', (_, error) => {
    const message = 'the pod client rejected with an error that cannot be read';
    expect(readApiFailure(error)).toEqual({ status: undefined, reason: undefined, retryAfterMs: undefined, message });
    expect(classifyApiError(error)).toBe('unavailable');
  });
});
