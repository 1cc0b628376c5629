import { describe, expect, it } from 'vitest';
import * as failures from '../../../../src/client/reflector/failures.ts';
import { AnswerTooLongError, ApiError, BrokenOffError } from '../../../../src/client/transport/api-error.ts';
import { configMap, refusal, refused, startedSetUp, tooLarge } from './fake-api.ts';

const { StaleListError: _, mayGoOnAfter, ...predicates } = failures;

/** The same error as a transport of another copy of the package, or of the caller's, would have it. */
function foreign({ name, message, status, reason, retryAfterMs, cause }: ApiError): Error {
  return Object.assign(new Error(message, { cause }), { name, status, reason, retryAfterMs });
}

const samples: readonly ApiError[] = [
  refusal(410, 'Expired'),
  refusal(410, ''),
  refusal(400, 'BadRequest'),
  refusal(403, 'Forbidden'),
  refusal(422, 'Invalid'),
  refusal(429, 'TooManyRequests', 'slow down', { retryAfterMs: 3000 }),
  refusal(503, 'ServiceUnavailable'),
  tooLarge(),
  refused(),
  new ApiError({ reason: 'Network', message: 'reset' }),
  new ApiError({ status: 200, reason: 'Network', message: 'reset' }),
  new BrokenOffError({ message: 'reset' }),
  new ApiError({ reason: 'Timeout', message: 'silent' }),
  new ApiError({ reason: 'Aborted', message: 'aborted' }),
  new ApiError({ reason: 'NoCredentials', message: 'none' }),
  new ApiError({ status: 200, reason: 'BrokenAnswer', message: 'no list' }),
  new AnswerTooLongError('GET /fake', 64),
];

describe('a failure', () => {
  it.each(
    samples.map((sample) => [`${sample.status} ${sample.reason} ${sample.name}`, sample] as const),
  )('says the same whatever class it has: %s', (_what, own) => {
    for (const [name, predicate] of Object.entries(predicates)) {
      expect([name, predicate(foreign(own))]).toEqual([name, predicate(own)]);
    }
    const ended = (failure: unknown) => mayGoOnAfter({ failure, hasBroughtSomething: false }, 1);
    expect(ended(foreign(own))).toBe(ended(own));
  });

  it.each([
    new BrokenOffError({ message: 'reset' }),
    new ApiError({ status: 200, reason: 'Network', message: 'reset' }),
  ])('of a stream that broke off is no refusal, and no failure without an answer: %j', (failure) => {
    expect([failures.hasBrokenOff(failure), failures.hasNoAnswer(failure), failures.isRefusal(failure)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(mayGoOnAfter({ failure, hasBroughtSomething: false }, 1)).toBe(false);
  });

  it('of client-node has its status in its code', () => {
    const error = Object.assign(new Error('HTTP-Code: 410'), { code: 410, body: '{}', headers: {} });
    expect([failures.isExpired(error), failures.hasHttpFailed(error), failures.isBrokenAnswer(error)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('that asks for a wait until a date does not ask for 50 years', () => {
    const headers = { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' };
    expect(failures.retryAfterMsOf(Object.assign(new Error('later'), { code: 429, body: '{}', headers }))).toBe(0);
  });

  it('that tells nothing counts as a broken answer, so that a list comes next', () => {
    expect([undefined, null, 7, new Error('odd'), {}].map(failures.isBrokenAnswer)).toEqual([true, true, true, true, true]);
  });

  it('of another class makes the reflector read the newest state, where its version has expired', async () => {
    await using test = await startedSetUp({ streamLists: false, listFrom: 'cache' });
    test.api.failures.list.push(foreign(refusal(410, 'Expired')));
    test.api.put(configMap('b', '20'));
    test.api.latest.expire();
    await test.clock.advance(1200);
    await test.settle();
    expect(test.api.log).toEqual(['list 10/all', 'list newest/all', 'watch 20']);
    expect(test.names()).toEqual(['a 10', 'b 20']);
  });
});
