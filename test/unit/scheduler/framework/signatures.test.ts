import { describe, expect, it } from 'vitest';
import { SchedulingAlgorithm } from '../../../../src/scheduler/cycle/algorithm.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { PluginError } from '../../../../src/scheduler/framework/plugin-error.ts';
import { frameworkWith, podInfo } from '../framework-world.ts';

/** The places by name that a plugin with this signature gives pods which want one node each. */
function placesWith(method: 'filter' | 'score', signature: () => unknown): unknown[] {
  const answers = {
    filter: (_state, { pod }, { name }) =>
      pod.metadata?.name === name ? undefined : { code: 'Unschedulable', reasons: ['another one'] },
    score: (_state, { pod }, { name }) => (pod.metadata?.name === name ? 100 : 0),
  } satisfies Partial<Plugin>;
  const plugin: Plugin = { name: 'Faulty', signature: signature as () => string, [method]: answers[method] };
  const framework = frameworkWith([plugin]);
  const algorithm = new SchedulingAlgorithm();
  return ['n1', 'n1', 'n2', 'n3'].map((name) => {
    try {
      return algorithm.schedulePod(framework, podInfo(name)).nodeName;
    } catch (error) {
      return error;
    }
  });
}

const cause = new Error('no idea');
const wrong: readonly (readonly [string, string, () => unknown])[] = [
  ['an object', 'a string or undefined from signature', () => ({ want: 'n1' })],
  ['a list', 'a string or undefined from signature', () => ['n1']],
  ['null', 'a string or undefined from signature', () => null],
  ['a number', 'a string or undefined from signature', () => 1],
  ['a symbol', 'a string or undefined from signature', () => Symbol('n1')],
  ['a promise', 'it returned a promise', async () => 'n1'],
  ['a promise that rejects', 'it returned a promise', () => Promise.reject(cause)],
];

describe.each(['filter', 'score'] as const)('a plugin with %s whose signature', (method) => {
  it.each(wrong)('is %s is named in the error, and no pod is placed by it', async (_what, message, signature) => {
    for (const error of placesWith(method, signature)) {
      expect(error).toBeInstanceOf(PluginError);
      expect(error).toMatchObject({ code: 'ERR_PLUGIN', plugin: 'Faulty', extensionPoint: method });
      expect((error as Error).message).toContain(message);
    }
    await new Promise((resolve) => setImmediate(resolve)); // a rejection that nobody catches fails the run
  });

  it('throws is named in the error', () => {
    const thrown = placesWith(method, () => {
      throw cause;
    });
    const expected = { code: 'ERR_PLUGIN', plugin: 'Faulty', extensionPoint: method, cause };
    expect(thrown).toMatchObject([expected, expected, expected, expected]);
  });

  it('is undefined places pods as if it had none', () => {
    expect(placesWith(method, () => undefined)).toEqual(['n1', 'n1', 'n2', 'n3']);
  });
});
