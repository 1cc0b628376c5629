import { describe, expect, it } from 'vitest';
import { RunState, type RunStateName } from '../../../../src/base/concurrency/run-state.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';

const nothing = async (): Promise<void> => {};
const never = (): Promise<void> => new Promise(() => {});

/** A run state in the state where a row of the table begins. */
async function inState(name: RunStateName): Promise<RunState> {
  const state = new RunState('manager');
  if (name !== 'idle') state.start();
  if (name === 'stopping') state.stop(never).catch(nothing);
  if (name === 'stopped') await state.stop(nothing);
  expect(state.name).toBe(name);
  return state;
}

describe('RunState', () => {
  it.each([
    ['idle', undefined, 'running'],
    ['running', 'ERR_ALREADY_STARTED', 'running'],
    ['stopping', 'ERR_STOPPED', 'stopping'],
    ['stopped', 'ERR_STOPPED', 'stopped'],
  ] as const)('start in state %s: error %s, then state %s', async (from, code, to) => {
    const state = await inState(from);
    if (code === undefined) state.start();
    else expect(() => state.start()).toThrow(expect.objectContaining({ code }));
    expect(state.name).toBe(to);
  });

  it.each([
    ['idle', true],
    ['running', true],
    ['stopping', false],
    ['stopped', false],
  ] as const)('stop in state %s shuts down: %s', async (from, shutsDown) => {
    const state = await inState(from);
    let calls = 0;
    const stopped = state.stop(async () => {
      calls += 1;
      expect(state.name).toBe('stopping');
    });
    expect(calls).toBe(shutsDown ? 1 : 0);
    await settle();
    expect(state.name).toBe(from === 'stopping' ? 'stopping' : 'stopped');
    expect(state.stop(nothing)).toBe(stopped);
  });

  it.each([
    ['idle', false],
    ['running', false],
    ['stopping', true],
    ['stopped', true],
  ] as const)('assertNotStopped in state %s throws: %s', async (from, throws) => {
    const state = await inState(from);
    const assertion = expect(() => state.assertNotStopped('flush'));
    if (throws)
      assertion.toThrow(
        expect.objectContaining({ code: 'ERR_STOPPED', message: `flush() was called on a manager that is ${from}` }),
      );
    else assertion.not.toThrow();
  });

  it('is stopping until the shutdown has ended', async () => {
    const state = new RunState('manager');
    state.start();
    const shutDown = Promise.withResolvers<void>();
    const stopped = state.stop(() => shutDown.promise);
    await settle();
    expect(state.name).toBe('stopping');
    shutDown.resolve();
    await stopped;
    expect(state.name).toBe('stopped');
  });

  it('is stopped when the shutdown has failed, and every stop rejects with its error', async () => {
    const state = new RunState('manager');
    const failure = new Error('no');
    const stopped = state.stop(() => Promise.reject(failure));
    await expect(stopped).rejects.toBe(failure);
    await expect(state.stop(nothing)).rejects.toBe(failure);
    expect(state.name).toBe('stopped');
  });
});
