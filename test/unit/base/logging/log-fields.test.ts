import { describe, expect, it } from 'vitest';
import { StatusManagerError } from '../../../../src/base/errors.ts';
import { logFields, serializeError } from '../../../../src/base/logging/log-fields.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';

const refused = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111, syscall: 'connect' });

describe('serializeError', () => {
  it('shows the name, the message and the codes of an error and of what is behind it', () => {
    const error = new ApiError({ status: 429, reason: 'TooManyRequests', message: 'wait', retryAfterMs: 1500, cause: refused() });
    expect(serializeError(error)).toEqual({
      ...{ name: 'ApiError', message: 'wait', code: 'ERR_API', status: 429, reason: 'TooManyRequests', retryAfterMs: 1500 },
      cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', errno: -111, syscall: 'connect' },
    });
  });

  it('shows the errors of several addresses', () => {
    expect(serializeError(new AggregateError([refused(), new TypeError('bad')]))).toEqual({
      ...{ name: 'AggregateError', message: '' },
      errors: [
        { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', errno: -111, syscall: 'connect' },
        { name: 'TypeError', message: 'bad' },
      ],
    });
  });

  it('shows a last error as a snapshot has it: its class and its time too', () => {
    const lastError = { errorClass: 'forbidden', message: 'no', at: 1000 };
    expect(serializeError(lastError)).toEqual(lastError);
    expect(logFields({ err: lastError, error: lastError, pods: [{ error: lastError }] })).toEqual({
      ...{ err: lastError, error: lastError, pods: [{ error: lastError }] },
    });
  });

  it('shows the calls that led to an error only where asked for, and never what the message says', () => {
    const error = new Error('two\nlines of a body', { cause: refused() });
    expect(Object.keys(serializeError(error))).toEqual(['message', 'cause']);
    const { stack, cause } = serializeError(error, { stack: true });
    expect(stack?.split('\n')[0]).toMatch(/^at .*log-fields\.test\.ts/);
    expect(`${stack}${cause?.stack}`).not.toMatch(/body|ECONNREFUSED/);
    expect(cause?.stack).toMatch(/^at /);
    const forged = Object.assign(new Error('x'), { stack: `Error: x\n    at ${'y'.repeat(100_000)}` });
    expect(serializeError(forged, { stack: true }).stack?.length).toBeLessThan(2100);
  });

  it.each([
    ['text', 'text'],
    [undefined, 'undefined was thrown'],
    [null, 'null was thrown'],
    [7n, '7'],
    [() => {}, 'a function'],
    [Symbol('hush'), 'a symbol'],
    [{}, 'an object without a message'],
    [[], 'an array without a message'],
    [
      new Proxy(new Error('no'), {
        getPrototypeOf() {
          throw new Error('no');
        },
      }),
      'an error that cannot be read',
    ],
  ])('takes whatever was thrown: %s', (thrown, message) => {
    expect(serializeError(thrown)).toEqual({ message });
    expect(serializeError(thrown, null as never)).toEqual({ message });
  });

  it('has what an error and its causes say once, and the codes of all of them', () => {
    const words = 'x is no phase: '.repeat(60);
    const first = Object.assign(new TypeError(words), { code: 'ERR_PHASE' });
    const second = new StatusManagerError('ERR_INVALID_ARGUMENT', `The answer is refused: ${words}`, { cause: first });
    const shown = serializeError(new Error(`not synced: ${second.message}`, { cause: second }));
    expect(shown.cause).toEqual({
      ...{ name: 'StatusManagerError', code: 'ERR_INVALID_ARGUMENT' },
      cause: { name: 'TypeError', code: 'ERR_PHASE' },
    });
    expect(shown.message).toContain(words.slice(0, 300));
    expect(serializeError(new Error('a: b', { cause: new Error('b') }))).toEqual({ message: 'a: b' });
    const other = new Error('a: b', { cause: new Error('b', { cause: new Error('c', { cause: new Error('') }) }) });
    expect(serializeError(other)).toEqual({ message: 'a: b', cause: { cause: { message: 'c', cause: { message: '' } } } });
  });

  it('shows no header, no body and no secret', () => {
    const error = Object.assign(new Error('HTTP-Code: 403\nbody: hush'), {
      ...{ body: 'hush', headers: { authorization: 'hush' }, request: 'hush', token: 'hush', stack: 'hush' },
      cause: Object.assign(new Error('at https://me:hush@host/x?y with Bearer hush.hush, Basic aHVzaDpodXNo'), {
        config: 'hush',
      }),
    });
    expect(serializeError(error, { stack: true })).toEqual({
      ...{ message: 'HTTP-Code: 403', stack: '' },
      cause: { message: 'at https://(hidden)@host/x?y with Bearer (hidden), Basic (hidden)', stack: expect.any(String) },
    });
  });
});

describe('logFields', () => {
  it('gives plain members that JSON takes, without those that have no value', () => {
    const fields = logFields({
      podName: 'web',
      at: new Date(0),
      gone: undefined,
      call: () => {},
      ratio: Number.NaN,
    });
    expect(fields).toEqual({ podName: 'web', at: '1970-01-01T00:00:00.000Z', ratio: null });
    expect(Object.keys(fields)).toEqual(['podName', 'at', 'ratio']);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect(JSON.parse(JSON.stringify(fields))).toEqual(fields);
  });

  it('shows what was thrown, whatever it is', () => {
    expect(logFields({ err: 'text' })).toEqual({ err: { message: 'text' } });
    expect(logFields({ err: undefined })).toEqual({ err: { message: 'undefined was thrown' } });
    expect(logFields({ err: null, errors: [new TypeError('no')] })).toEqual({
      ...{ err: { message: 'null was thrown' }, errors: [{ name: 'TypeError', message: 'no' }] },
    });
  });

  it('takes no prototype from a key', () => {
    const fields = logFields(JSON.parse('{"__proto__":{"polluted":1}}'));
    expect([JSON.stringify(fields), 'polluted' in fields]).toEqual(['{"__proto__":{"polluted":1}}', false]);
  });

  it('never throws', () => {
    expect(logFields(null as never)).toEqual({});
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(logFields(proxy)).toEqual({});
  });
});
