import { describe, expect, it } from 'vitest';
import { callGuarded, catchRejection } from '../../../src/base/guard.ts';
import { type Logger, loggerOption } from '../../../src/base/logging/logger.ts';
import { unhandledRejectionsOf } from '../../support/unhandled-rejections.ts';

const boom = new Error('boom');
const throws = (): never => {
  throw boom;
};
const rejects = async (): Promise<never> => {
  throw boom;
};

/** An object with `then` as its `then` member. */
const thenable = (then: unknown): object => Object.fromEntries([['then', then]]);

describe('callGuarded', () => {
  it('returns the answer', () => {
    const failures: unknown[] = [];
    expect(callGuarded(() => 7, failures.push)).toBe(7);
    expect(failures).toEqual([]);
  });

  it.each([
    ['throws', throws],
    ['returns a promise that rejects', rejects],
    ['returns a thenable that rejects', () => thenable((_: unknown, reject: (error: Error) => void) => reject(boom))],
    ['returns a thenable that throws', () => thenable(throws)],
  ])('passes the failure of a function that %s to the handler, once', async (_, call: () => unknown) => {
    const failures: unknown[] = [];
    const unhandled = await unhandledRejectionsOf(() => void callGuarded(call, (error) => failures.push(error)));
    expect([failures, unhandled]).toEqual([[boom], []]);
  });
});

describe('catchRejection', () => {
  it.each([
    ['a promise', Promise.resolve(), true],
    ['an object with a then method', thenable(() => {}), true],
    ['an object with a then member', thenable(1), false],
    ['a boolean', true, false],
    ['null', null, false],
  ])('tells whether %s is a promise', (_, value, isPromise) => {
    expect(catchRejection(value, throws)).toBe(isPromise);
  });
});

describe('an injected part that fails', () => {
  const levels = ['debug', 'info', 'warn', 'error'] as const;

  it.each([throws, rejects])('does no harm when it is a logger (%o)', async (fail) => {
    const logger = loggerOption(Object.fromEntries(levels.map((level) => [level, fail])) as unknown as Logger);
    expect(await unhandledRejectionsOf(() => levels.forEach((level) => void logger[level]({}, 'message')))).toEqual([]);
  });
});
