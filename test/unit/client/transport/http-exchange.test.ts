import { getEventListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { serializeError } from '../../../../src/base/logging/log-fields.ts';
import { AnswerTooLongError } from '../../../../src/client/transport/api-error.ts';
import { HttpExchange, type StreamOptions } from '../../../../src/client/transport/http-exchange.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { failureOf } from './scripted-server.ts';

/** As undici does it: an abort reaches the handler before the call returns. */
class FakeController implements Dispatcher.DispatchController {
  readonly exchange: HttpExchange;
  aborted = false;
  readonly paused = false;
  reason: Error | null = null;

  constructor(exchange: HttpExchange) {
    this.exchange = exchange;
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.exchange.onResponseError(this, reason);
  }

  pause(): void {}
  resume(): void {}
}

function exchangeOf(options: { signal?: AbortSignal; stream?: StreamOptions } = {}) {
  const clock = new FakeClock();
  const exchange = new HttpExchange({ label: 'GET /p', clock, timeoutMs: 1000, maxAnswerBytes: 10, ...options });
  return { clock, exchange, controller: new FakeController(exchange) };
}

describe('HttpExchange', () => {
  it('resolves to the whole answer, informational ones left out', async () => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 103, { link: 'x' });
    exchange.onResponseStart(controller, 200, { 'content-type': 'text/plain' });
    exchange.onResponseData(controller, Buffer.from('12345'));
    exchange.onResponseData(controller, Buffer.from('67890'));
    exchange.onResponseEnd();
    expect(await exchange.answer).toEqual({
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('1234567890'),
    });
  });

  it('ends an answer that is longer than allowed', async () => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('12345678901'));
    expect(controller.aborted).toBe(true);
    expect(await failureOf(exchange.answer)).toMatchObject({ reason: 'BrokenAnswer' });
  });

  it('keeps nothing of a chunk but its bytes, however small they come', async () => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    for (const byte of '1234567') {
      const read = Buffer.from(`${byte}${'.'.repeat(60_000)}`);
      exchange.onResponseData(controller, read.subarray(0, 1));
      read.fill('!');
    }
    exchange.onResponseEnd();
    expect((await exchange.answer).body.toString()).toBe('1234567');
  });

  it('settles only when undici lets go of a request it has begun', async () => {
    const stop = new AbortController();
    const { exchange, controller } = exchangeOf({ signal: stop.signal });
    let letGo = (): void => {};
    controller.abort = (reason) => {
      letGo = () => exchange.onResponseError(controller, reason);
    };
    exchange.onRequestStart(controller);
    stop.abort();
    expect(exchange.isSettled).toBe(false);
    letGo();
    expect(await failureOf(exchange.answer)).toMatchObject({ reason: 'Aborted' });
  });

  it('keeps the first of two failures', async () => {
    const stop = new AbortController();
    const { clock, exchange, controller } = exchangeOf({ signal: stop.signal });
    controller.abort = () => {};
    exchange.onRequestStart(controller);
    await clock.advance(1000);
    stop.abort();
    exchange.onResponseError(controller, new Error('aborted'));
    expect(await failureOf(exchange.answer)).toMatchObject({ reason: 'Timeout' });
  });

  it('stops a request that gets its connection after it has failed, and leaves that connection alone', async () => {
    const { clock, exchange, controller } = exchangeOf();
    const failure = failureOf(exchange.answer);
    await clock.advance(1000);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
    expect(() => exchange.onRequestStart(controller)).toThrow('settled');
    expect(controller.aborted).toBe(false);
  });

  it('times a request from its start, however its answer trickles', async () => {
    const { clock, exchange, controller } = exchangeOf();
    const failure = failureOf(exchange.answer);
    exchange.onRequestStart(controller);
    await clock.advance(900);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('x'));
    await clock.advance(100);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
  });

  it('takes no informational answer for the status', async () => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 103, {});
    exchange.onResponseError(controller, new Error('reset'));
    expect(await failureOf(exchange.answer)).toMatchObject({ status: undefined, reason: 'Network' });
  });

  it('has no status of success where a stream breaks off: what follows the 200 is the failure', async () => {
    const { exchange, controller } = exchangeOf({ stream: { onChunk: () => {}, idleTimeoutMs: 1000 } });
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseError(controller, Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
    const error = await failureOf(exchange.answer);
    expect(error).toMatchObject({ name: 'BrokenOffError', status: undefined, reason: 'Network' });
    expect(serializeError(error)).not.toHaveProperty('status');
  });

  it('keeps the status of an error whose body breaks off', async () => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 503, {});
    exchange.onResponseError(controller, new Error('reset'));
    expect(await failureOf(exchange.answer)).toMatchObject({ status: 503, reason: 'BrokenAnswer' });
  });
});

describe('HttpExchange, what its errors say', () => {
  it.each([
    ['aborted', undefined, 'Aborted', 'GET /p: aborted by the caller'],
    ['timed out', new DOMException('late', 'TimeoutError'), 'Timeout', 'GET /p: timed out by the caller'],
  ])('of a request that its caller %s', async (_, cause, reason, message) => {
    const stop = new AbortController();
    const { exchange } = exchangeOf({ signal: stop.signal });
    stop.abort(cause);
    expect(await failureOf(exchange.answer)).toMatchObject({ reason, message });
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  const stream = { onChunk: () => {}, idleTimeoutMs: 60_000 };
  it.each([
    ['a request', undefined, 'no answer within 1000 ms'],
    ['a stream', stream, 'no answer within 60000 ms'],
  ])('of %s that takes too long: the error names what was missing', async (_what, kind, whenSent) => {
    const missing = async (prepare: (exchange: HttpExchange, controller: FakeController) => void): Promise<unknown> => {
      const { clock, exchange, controller } = exchangeOf(kind && { stream: kind });
      prepare(exchange, controller);
      const failure = failureOf(exchange.answer);
      await clock.advance(1000);
      // the limit of a stream whose request is sent
      if (!exchange.isSettled) await clock.advance(59_000);
      return failure;
    };
    const errors = [
      await missing((exchange) => exchange.waitsFor('credentials')),
      await missing((exchange) => exchange.waitsFor('connection')),
      await missing((exchange, controller) => {
        exchange.waitsFor('connection');
        exchange.onRequestStart(controller);
      }),
    ];
    expect(errors).toMatchObject([
      { reason: 'Timeout', message: 'GET /p: no credentials within 1000 ms' },
      { reason: 'Timeout', message: 'GET /p: no connection within 1000 ms' },
      { reason: 'Timeout', message: `GET /p: ${whenSent}` },
    ]);
  });

  it('of a stream that falls silent', async () => {
    const { clock, exchange, controller } = exchangeOf({ stream });
    const failure = failureOf(exchange.answer);
    await clock.advance(999);
    exchange.onRequestStart(controller);
    await clock.advance(59_999);
    exchange.onResponseStart(controller, 200, {});
    await clock.advance(59_999);
    expect(exchange.isSettled).toBe(false);
    await clock.advance(1);
    expect(await failure).toMatchObject({ reason: 'Timeout', message: 'GET /p: nothing heard within 60000 ms' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('of a stream that was refused: what is said of it may not trickle for ever', async () => {
    const { clock, exchange, controller } = exchangeOf({ stream });
    const failure = failureOf(exchange.answer);
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 503, {});
    for (let i = 0; i < 2; i += 1) {
      await clock.advance(30_000);
      exchange.onResponseData(controller, Buffer.from('x'));
    }
    expect(await failure).toMatchObject({ reason: 'Timeout' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('of an answer that is too long', async () => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('12345678901'));
    const failure = await failureOf(exchange.answer);
    expect(failure).toBeInstanceOf(AnswerTooLongError);
    expect(failure).toMatchObject({ message: 'GET /p: the answer is longer than 10 bytes' });
  });

  it.each([
    [Object.assign(new Error('read failed'), { code: 'ECONNRESET' }), 'GET /p: read failed (ECONNRESET)'],
    [Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' }), 'GET /p: connect ECONNREFUSED ::1:1'],
    [Object.assign(new Error(''), { code: 'ECONNRESET' }), 'GET /p: ECONNRESET'],
    [new RangeError(''), 'GET /p: RangeError'],
    [Object.assign(new Error('odd'), { code: 7 }), 'GET /p: odd'],
    [new TypeError('no code'), 'GET /p: no code'],
    [new Error('x'.repeat(1000)), `GET /p: ${'x'.repeat(492)}`],
  ])('of a network that fails', async (error, message) => {
    const { exchange, controller } = exchangeOf();
    exchange.onRequestStart(controller);
    exchange.onResponseError(controller, error);
    expect(await failureOf(exchange.answer)).toMatchObject({ reason: 'Network', message, cause: { name: error.name } });
  });

  it('of a stream: the answer of an error is read whole, and of the edge of one, too', async () => {
    const chunks: string[] = [];
    const { exchange, controller } = exchangeOf({ stream: { ...stream, onChunk: (chunk) => chunks.push(String(chunk)) } });
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 300, {});
    exchange.onResponseData(controller, Buffer.from('moved'));
    exchange.onResponseEnd();
    expect(await exchange.answer).toMatchObject({ status: 300, body: Buffer.from('moved') });
    expect(chunks).toEqual([]);
  });
});
