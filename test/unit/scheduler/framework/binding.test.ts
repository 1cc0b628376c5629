import { describe, expect, it } from 'vitest';
import { errorText } from '../../../../src/base/errors.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { frameworkWith, podInfo } from '../framework-world.ts';

const pod = podInfo('web');
const state = new CycleState();
const { signal } = new AbortController();
const work = { state, podInfo: pod, nodeName: 'n1' };

describe('reserve and permit', () => {
  it('end at the first rejection', () => {
    const asked: string[] = [];
    const plugin = (name: string, rejects: boolean): Plugin => ({
      name,
      reserve() {
        asked.push(`reserve ${name}`);
        return rejects ? { code: 'Unschedulable', reasons: ['taken'] } : undefined;
      },
      permit() {
        asked.push(`permit ${name}`);
        return rejects ? { code: 'Pending', reasons: ['later'] } : { waitMs: 5 };
      },
    });
    const { binding } = frameworkWith([plugin('A', false), plugin('B', true), plugin('C', false)]);
    expect(binding.reserve(state, pod, 'n1')).toEqual({ plugin: 'B', code: 'Unschedulable', reasons: ['taken'] });
    expect(binding.permit(state, pod, 'n1')).toEqual({
      rejection: { plugin: 'B', code: 'Pending', reasons: ['later'] },
      waits: new Map(),
    });
    expect(asked).toEqual(['reserve A', 'reserve B', 'permit A', 'permit B']);
  });

  it('let a pod wait for several plugins, each for 15 minutes at most', () => {
    const waiting = (name: string, waitMs: number): Plugin => ({ name, permit: () => ({ waitMs }) });
    const { binding } = frameworkWith([waiting('A', 1000), { name: 'B', permit: () => undefined }, waiting('C', 1e9)]);
    expect(binding.permit(state, pod, 'n1')).toEqual({
      waits: new Map([
        ['A', 1000],
        ['C', 900_000],
      ]),
    });
  });

  it.each([-1, Number.NaN, 'soon'])('refuse a wait of %j', (waitMs) => {
    const { binding } = frameworkWith([{ name: 'A', permit: () => ({ waitMs: waitMs as number }) }]);
    expect(() => binding.permit(state, pod, 'n1')).toThrow('milliseconds to wait from 0 up');
  });
});

describe('preBind and bind', () => {
  it('ask one plugin after the other', async () => {
    const asked: string[] = [];
    const plugin = (name: string, answer: 'bound' | 'skip'): Plugin => ({
      name,
      async preBind() {
        asked.push(`preBind ${name}`);
        return undefined;
      },
      async bind(_state, { key }, nodeName) {
        asked.push(`bind ${name} ${key} ${nodeName}`);
        return answer;
      },
    });
    const { binding } = frameworkWith([plugin('A', 'skip'), plugin('B', 'bound'), plugin('C', 'bound')]);
    for (const one of binding.preBindersOf(state, pod, 'n1')) expect(await binding.preBind(one, work, signal)).toBeUndefined();
    await binding.bind(state, pod, 'n1', signal);
    expect(asked).toEqual(['preBind A', 'preBind B', 'preBind C', 'bind A d/web n1', 'bind B d/web n1']);
  });

  it('reject a pod that no plugin binds', async () => {
    const { binding } = frameworkWith([{ name: 'A', bind: async () => 'skip' }]);
    await expect(binding.bind(state, pod, 'n1', signal)).rejects.toThrow('no plugin of the profile binds this pod');
  });

  it('end when the signal aborts, though the plugin never settles', async () => {
    const never = () => new Promise<never>(() => {});
    const { binding } = frameworkWith([{ name: 'A', preBind: never, bind: never }]);
    const [only] = binding.preBindersOf(state, pod, 'n1');
    if (only === undefined) throw new Error('no plugin');
    const controller = new AbortController();
    const both = Promise.allSettled([
      binding.preBind(only, work, controller.signal),
      binding.bind(state, pod, 'n1', controller.signal),
    ]);
    controller.abort(new Error('too late'));
    expect(await both).toMatchObject([{ reason: { plugin: 'A', cause: { message: 'too late' } } }, { reason: { plugin: 'A' } }]);
    await expect(binding.bind(state, pod, 'n1', controller.signal)).rejects.toThrow('too late');
  });
});

describe('unreserve', () => {
  it('that takes time is waited for, and what fails of it is told', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const failing = { name: 'A', unreserve: () => Promise.reject(new Error('refused')) };
    const failures: string[] = [];
    const onFailure = (error: unknown): void => void failures.push(errorText(error));
    const { binding } = frameworkWith([failing, { name: 'B', unreserve: () => promise }], { onFailure });
    expect(binding.isUndoing).toBe(false);
    binding.unreserve(state, pod, 'n1');
    expect(binding.isUndoing).toBe(true);
    resolve();
    await binding.undone();
    expect(binding.isUndoing).toBe(false);
    expect(failures).toEqual(["The scheduler's plugin A failed in reserve: refused"]);
  });

  it('writes nothing once it was given up, until the profile is at work again', async () => {
    const signals: AbortSignal[] = [];
    const unreserve: Plugin['unreserve'] = (_state, _pod, _node, asked) => {
      signals.push(asked);
      return new Promise(() => {});
    };
    const { binding } = frameworkWith([{ name: 'A', unreserve }]);
    binding.unreserve(state, pod, 'n1');
    binding.giveUp('stopped');
    binding.unreserve(state, pod, 'n1');
    await binding.undone();
    binding.resume();
    binding.unreserve(state, pod, 'n1', true);
    await binding.undone();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    binding.unreserve(state, pod, 'n1');
    expect(signals.at(-1)?.aborted).toBe(false);
  });
});
