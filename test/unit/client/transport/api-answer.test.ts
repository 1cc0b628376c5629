import { describe, expect, it } from 'vitest';
import { classifyApiError } from '../../../../src/client/resources/error-class.ts';
import { errorFromStatus, parseRetryAfter, readApiAnswer } from '../../../../src/client/transport/api-answer.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const answer = (status: number, body: string, headers = {}) => ({ status, headers, body: Buffer.from(body) });

function errorOf(...args: Parameters<typeof answer>): ApiError {
  try {
    readApiAnswer(answer(...args), 'PATCH /p', now);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('expected an ApiError');
}

describe('readAnswer', () => {
  it('gives the object of a good answer', () => {
    expect(readApiAnswer(answer(200, '{"a":1}'), 'GET /p', now)).toEqual({ a: 1 });
    expect(readApiAnswer(answer(202, '{"a":1}'), 'GET /p', now)).toEqual({ a: 1 });
  });

  it.each(['', '{"half":', 'null', '[]', '"text"', '<html>'])('takes a good answer that holds %j for broken', (body) => {
    const error = errorOf(200, body);
    expect(error.reason).toBe('BrokenAnswer');
    expect(classifyApiError(error)).toBe('broken-answer');
  });

  it('does not repeat a body it cannot read', () => {
    expect(errorOf(200, 'secret').message).toBe('PATCH /p: 200 with 6 bytes that are not a JSON object');
  });

  it('says that an answer is packed, which it has not asked for', () => {
    const { message } = errorOf(200, 'packed', { 'content-encoding': 'gzip' });
    expect(message).toBe('PATCH /p: 200 with 6 bytes that are not a JSON object (gzip)');
  });

  it('takes reason and message from the Status object', () => {
    const body = JSON.stringify({ kind: 'Status', reason: 'Conflict', message: 'modified', details: { retryAfterSeconds: 2 } });
    expect(errorOf(409, body)).toMatchObject({
      status: 409,
      reason: 'Conflict',
      message: 'PATCH /p: 409 modified',
      retryAfterMs: 2000,
    });
  });

  it('says of an error answer that is no Status object that no apiserver gave it', () => {
    expect(errorOf(413, '')).toMatchObject({ status: 413, reason: 'NoStatus', message: 'PATCH /p: 413 Payload Too Large' });
    expect(errorOf(429, 'slow down')).toMatchObject({ status: 429, reason: 'NoStatus', retryAfterMs: undefined });
    expect(errorOf(404, JSON.stringify({ reason: 'NotFound' }))).toMatchObject({ status: 404, reason: 'NoStatus' });
    expect(errorOf(799, '{}')).toMatchObject({ status: 799, message: 'PATCH /p: 799 Unknown' });
    expect(classifyApiError(errorOf(302, ''))).toBe('unavailable');
  });

  it('calls the reason of a Status object that gives none unknown', () => {
    expect(errorOf(500, JSON.stringify({ kind: 'Status' }))).toMatchObject({ status: 500, reason: 'Unknown' });
  });

  it('keeps the first 500 characters of a long message', () => {
    const { message } = errorOf(422, JSON.stringify({ kind: 'Status', reason: 'Invalid', message: 'm'.repeat(2000) }));
    expect(message).toBe(`PATCH /p: 422 ${'m'.repeat(500)}…`);
  });

  it('prefers the Retry-After header to the Status object', () => {
    const body = JSON.stringify({ kind: 'Status', details: { retryAfterSeconds: 2 } });
    expect(errorOf(429, body, { 'retry-after': '7' }).retryAfterMs).toBe(7000);
  });
});

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['Fri, 02 Jan 2026 03:04:15 GMT', 10_000],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['9999999999', undefined],
    [['1', '2'], undefined],
    [undefined, undefined],
  ])('reads %j as %s', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});

describe('errorFromStatus', () => {
  it('bears anything in place of a Status', () => {
    for (const value of [undefined, null, 'text', [], { reason: 5, message: {}, details: 'x' }]) {
      expect(errorFromStatus(value, { status: 500, label: 'GET /p' })).toMatchObject({
        status: 500,
        reason: 'NoStatus',
      });
    }
  });
});
