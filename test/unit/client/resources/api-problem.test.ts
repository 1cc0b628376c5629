import { describe, expect, it } from 'vitest';
import { apiProblem, failureInWords } from '../../../../src/client/resources/api-problem.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';

const network = (code: string): ApiError =>
  new ApiError({ reason: 'Network', message: 'no answer', cause: Object.assign(new Error(code), { code }) });

describe('failureInWords', () => {
  it.each([
    [401, 'Unauthorized', 'unauthorized'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'gone'],
    [404, 'NoStatus', 'unavailable'],
    [409, 'Conflict', 'conflict'],
    [422, 'Invalid', 'invalid'],
    [429, 'TooManyRequests', 'throttled'],
    [503, 'ServiceUnavailable', 'unavailable'],
    [undefined, 'Timeout', 'timeout'],
    [undefined, 'BrokenAnswer', 'broken-answer'],
    [undefined, 'NotOwner', 'not-owner'],
    [503, 'NotOwner', 'unavailable'],
  ])('calls %s %s %s, and says what would help', (status, reason, kind) => {
    const words = failureInWords(new ApiError({ status, reason, message: 'no' }));
    expect(words).toEqual({ kind, help: expect.stringMatching(/^[A-Z].*\.$/) });
  });

  it.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'connection-refused'],
    ['ECONNRESET', 'connection-lost'],
    ['ENETUNREACH', 'unreachable'],
    ['CERT_HAS_EXPIRED', 'certificate-expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'wrong-ca'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'wrong-ca'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'wrong-name'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client-certificate'],
    ['ESOMETHING', 'unavailable'],
    ['constructor', 'unavailable'],
  ])('knows %s behind a request without an answer as %s', (code, kind) => {
    expect(failureInWords(network(code)).kind).toBe(kind);
  });

  it('tells an admission webhook from a missing right', () => {
    const message = 'admission webhook "policy.example.com" denied the request: no';
    expect(failureInWords(new ApiError({ status: 403, reason: 'Forbidden', message })).kind).toBe('admission-denied');
  });

  it('knows an error of a proxy, whatever its code', () => {
    const cause = Object.assign(new Error('the proxy: connect ECONNREFUSED'), { name: 'ProxyError', code: 'ECONNREFUSED' });
    expect(failureInWords(new ApiError({ reason: 'Network', message: 'no answer', cause })).kind).toBe('proxy');
  });

  it('bears any error', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    const hostile = {
      get status() {
        throw new Error('no');
      },
    };
    for (const error of [undefined, null, 'text', loop, hostile]) expect(failureInWords(error).kind).toBe('unavailable');
  });
});

describe('apiProblem', () => {
  it('says first what could not be done, then the words of the server', () => {
    const error = new ApiError({ status: 403, reason: 'Forbidden', message: 'nodes "n" is forbidden' });
    expect(apiProblem('the node could not be registered', error, { attempt: 2, since: 1, retryAt: 5 })).toEqual({
      kind: 'forbidden',
      message: 'the node could not be registered: nodes "n" is forbidden',
      attempt: 2,
      since: 1,
      retryAt: 5,
      help: expect.any(String),
    });
  });
});
