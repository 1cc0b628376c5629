import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isLevelEnabled, type Logger, loggerOption, silentLogger } from '../../../../src/base/logging/logger.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';

const printed: string[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...args: unknown[]) => void printed.push([level, ...args].join('|')));
  }
});
afterEach(() => {
  printed.length = 0;
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const levels = ['debug', 'info', 'warn', 'error'] as const;

function record() {
  const lines: unknown[][] = [];
  const log =
    (level: string) =>
    (...args: unknown[]): void =>
      void lines.push([level, ...args]);
  return { lines, logger: Object.fromEntries(levels.map((level) => [level, log(level)])) as unknown as Logger };
}

describe('the option logger', () => {
  it('left out: warnings and errors go to the console, one line each', () => {
    const logger = loggerOption(undefined);
    for (const level of levels) logger[level]({ podUID: 'u1', count: 2 }, 'the pod waits');
    logger.warn({}, 'no fields');
    expect(printed).toEqual([
      'warn|pod-status-manager warn: the pod waits {"podUID":"u1","count":2}',
      'error|pod-status-manager error: the pod waits {"podUID":"u1","count":2}',
      'warn|pod-status-manager warn: no fields',
    ]);
    expect(levels.map((level) => isLevelEnabled(logger, level))).toEqual([false, false, true, true]);
  });

  it('null: nothing is printed', () => {
    const logger = loggerOption(null);
    for (const level of levels) logger[level]({}, 'message');
    expect([printed, levels.some((level) => isLevelEnabled(logger, level))]).toEqual([[], false]);
  });

  it('given: it gets every line as it is, and its own word on levels counts', () => {
    const { lines, logger } = record();
    const fields = { err: new Error('no') };
    const used = loggerOption(logger);
    for (const level of levels) used[level](fields, 'message');
    expect(lines).toEqual(levels.map((level) => [level, fields, 'message']));
    expect(lines[0]?.[1]).toBe(fields);
    expect(printed).toEqual([]);
    expect(isLevelEnabled(used, 'debug')).toBe(true);
    expect(isLevelEnabled(loggerOption({ ...logger, isLevelEnabled: (level) => level !== 'debug' }), 'debug')).toBe(false);
  });

  it.each([undefined, null])('gets an `err` also where nothing was thrown: %s', (err) => {
    const { lines, logger } = record();
    loggerOption(logger).warn({ err, podName: 'web' }, 'message');
    expect(lines).toEqual([['warn', { err: `${err} was thrown`, podName: 'web' }, 'message']]);
    loggerOption(logger).warn({ podName: 'web' }, 'message');
    expect(lines[1]).toEqual(['warn', { podName: 'web' }, 'message']);
    loggerOption(undefined).warn({ err }, 'message');
    expect(printed).toEqual([`warn|pod-status-manager warn: message {"err":{"message":"${err} was thrown"}}`]);
  });

  it('is called with its own this, as pino needs it', () => {
    const seen: unknown[] = [];
    class Pino {
      debug(this: unknown): void {
        seen.push(this);
      }
      info(): void {}
      warn(): void {}
      error(): void {}
      isLevelEnabled(): boolean {
        seen.push(this);
        return false;
      }
    }
    const pino = new Pino();
    const logger = loggerOption(pino);
    logger.debug({}, 'message');
    isLevelEnabled(logger, 'debug');
    expect(seen).toEqual([pino, pino]);
  });

  it('of one part given to another part stays the same object', () => {
    for (const logger of [loggerOption(undefined), loggerOption(null), loggerOption(record().logger)]) {
      expect(loggerOption(logger)).toBe(logger);
    }
    expect(loggerOption(null)).toBe(silentLogger);
  });

  it.each([[1], ['pino'], [{}], [{ debug() {}, info() {}, warn() {} }]])('refuses what is no logger: %j', (value) => {
    expect(() => loggerOption(value as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => loggerOption(value as never)).toThrow('logger');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['gives a promise', () => Promise.reject(new Error('no'))],
    ['gives something else', () => 'perhaps'],
  ])('whose isLevelEnabled %s is taken to show the line', (_, answer) => {
    expect(isLevelEnabled({ ...record().logger, isLevelEnabled: answer as never }, 'debug')).toBe(true);
  });
});

describe('a line on the console', () => {
  const line = (fields: object): string => {
    loggerOption(undefined).error(fields, 'message');
    return String(printed.at(-1)).replace('error|pod-status-manager error: message', '').trim();
  };

  it('shows the code and the message of an error and of its causes, and no stack, request, header or body', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const error = new ApiError({ status: 403, reason: 'Forbidden', message: 'pods is forbidden', cause });
    Object.assign(error, { request: { headers: { authorization: 'Bearer hush' } } });
    expect(JSON.parse(line({ err: error }))).toEqual({
      err: {
        ...{ name: 'ApiError', message: 'pods is forbidden', code: 'ERR_API', status: 403, reason: 'Forbidden' },
        cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', syscall: 'connect' },
      },
    });
    const ofClientNode = Object.assign(new Error('HTTP-Code: 403\nBody: {}\nHeaders: {"set-cookie":"hush"}'), {
      ...{ code: 403, body: '{"token":"hush"}', headers: { authorization: 'hush' } },
    });
    expect(line({ err: ofClientNode })).toBe('{"err":{"message":"HTTP-Code: 403","code":403}}');
  });

  it('is one line, and moves no cursor', () => {
    const text = line({ name: 'a\nb\r\u001b[2J\u009b2J\u2028\u0085', err: new Error('two\nlines') });
    expect(text).toMatch(/^[\u0020-\u007e]+$/);
    expect(JSON.parse(text)).toMatchObject({ err: { message: 'two\nlines' } });
  });

  it('is never long', () => {
    const many = Array.from({ length: 5000 }, (_, index) => ({ podUID: `u${index}`, text: 'x'.repeat(10_000) }));
    const text = line({ many, long: 'x'.repeat(100_000), wide: Object.fromEntries(many.map((_, index) => [`k${index}`, 1])) });
    expect(text.length).toBeLessThan(5000);
    expect(JSON.parse(text).many.at(-1)).toMatch(/^… 499\d more$/);
    expect(JSON.parse(line({ many: many.map((_, index) => index) })).many.at(-1)).toBe('… 4980 more');
  });

  const knot: Record<string, unknown> = {};
  for (let index = 0; index < 20; index += 1) knot[`k${index}`] = knot;
  const tree = (depth: number, leaf: unknown): unknown => (depth === 0 ? leaf : Array(20).fill(tree(depth - 1, leaf)));
  const chain = (left: number): Error => new Error('x'.repeat(5000), left === 0 ? {} : { cause: chain(left - 1) });
  const errorsOf = (left: number): Error =>
    Object.assign(left === 0 ? new Error() : new AggregateError(Array(30).fill(errorsOf(left - 1))), {
      ...{ code: -1.7976931348623157e308, status: -1.7976931348623157e308, errno: -1.7976931348623157e308 },
    });
  it.each([
    ['members that hold each other', { knot }],
    ['lists of lists of numbers', { tree: tree(3, -1.7976931348623157e308) }],
    ['lists of lists of texts', { tree: tree(3, 'x'.repeat(5000)) }],
    ['a long key', { ['k'.repeat(1_000_000)]: 1 }],
    ['many long keys', Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}${'k'.repeat(5000)}`, knot]))],
    ['characters that JSON escapes', { a: tree(1, '\u0000"\u0085\ud800'.repeat(5000)) }],
    ['a chain of causes', { err: chain(50) }],
    ['errors of errors', { err: errorsOf(4) }],
    ['a long integer', { a: 10n ** 5000n }],
  ])('is never long, whatever the fields are: %s', (_, fields) => {
    const text = line(fields);
    expect(text.length).toBeLessThan(6000);
    expect(Object.keys(JSON.parse(text)).length).toBeGreaterThan(0);
  });

  it('shows the message and the codes alone of what was thrown, whatever it is', () => {
    const config = { url: 'https://x', headers: { 'X-Key': 'hush' } };
    expect(JSON.parse(line({ err: { statusCode: 503, reason: 'Busy', message: 'no\nhush', response: {}, config } }))).toEqual({
      err: { message: 'no', statusCode: 503, reason: 'Busy' },
    });
    const cause = { code: 'ECONNRESET', config };
    expect(line({ err: new Error('no', { cause }) })).toBe(
      '{"err":{"message":"no","cause":{"message":"an object without a message","code":"ECONNRESET"}}}',
    );
    expect(line({ podUID: 'u', cause: [config], err: 'text' })).toBe(
      '{"podUID":"u","cause":{"message":"an array without a message"},"err":{"message":"text"}}',
    );
  });

  it('hides members whose name tells of a secret, wherever they stand', () => {
    const headers = { Authorization: 'Bearer hush', 'set-cookie': ['hush'], host: 'x' };
    expect(
      JSON.parse(line({ request: [{ headers }], accessToken: 'hush', clientSecret: { a: 'hush' }, PASSWORD: 'hush' })),
    ).toEqual({
      ...{ accessToken: '(hidden)', clientSecret: '(hidden)', PASSWORD: '(hidden)' },
      request: [{ headers: { Authorization: '(hidden)', 'set-cookie': '(hidden)', host: 'x' } }],
    });
  });

  it('shows whatever value there is', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const fields = {
      ...{ big: 7n, at: new Date(0), bad: new Date(Number.NaN), bytes: Buffer.from('hush'), circle },
      get broken(): string {
        throw new Error('no');
      },
      deep: { a: { b: { c: { d: [1] } } } },
      nan: Number.NaN,
      call: () => {},
      toJSON: () => 'hush',
    };
    expect(line(fields)).toBe(
      '{"big":"7","at":"1970-01-01T00:00:00.000Z","bad":null,"bytes":"4 bytes","circle":{"self":{"self":{"self":"{…}"}}},"deep":{"a":{"b":{"c":"{…}"}}},"nan":null}',
    );
  });

  it('shows an error that cannot be read', () => {
    const broken = new Error('x');
    for (const name of ['message', 'code', 'cause']) {
      Object.defineProperty(broken, name, {
        get() {
          throw new Error('no');
        },
      });
    }
    expect(line({ err: broken })).toBe('{"err":{"message":"an error without a message"}}');
  });

  it('of one message comes at most 20 times a minute; the last of them says so, and the next one how many were left out', () => {
    const logger = loggerOption(undefined);
    for (let i = 0; i < 50; i += 1) logger.warn({ i }, 'again');
    logger.warn({}, 'another');
    expect(printed.length).toBe(21);
    expect(printed.slice(-3)).toEqual([
      'warn|pod-status-manager warn: again {"i":18}',
      'warn|pod-status-manager warn: again {"i":19} (further lines of this message are left out for a minute)',
      'warn|pod-status-manager warn: another',
    ]);
    vi.advanceTimersByTime(60_000);
    for (let i = 50; i < 52; i += 1) logger.warn({ i }, 'again');
    expect(printed.slice(-2)).toEqual([
      'warn|pod-status-manager warn: again {"linesLeftOut":30,"i":50}',
      'warn|pod-status-manager warn: again {"i":51}',
    ]);
    const before = printed.length;
    for (const time of [0, Date.now() + 3_600_000]) {
      vi.setSystemTime(time);
      for (let i = 52; i < 80; i += 1) logger.warn({ i }, 'again');
    }
    expect(printed.slice(before)).toHaveLength(18);
  });
});
