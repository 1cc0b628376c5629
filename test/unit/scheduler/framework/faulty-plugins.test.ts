import { describe, expect, it } from 'vitest';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Framework } from '../../../../src/scheduler/framework/framework.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { PluginError } from '../../../../src/scheduler/framework/plugin-error.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';

const pod = podInfo('web');
const node = nodeInfo('n1');
const nodes = [node];
const diagnosis = {
  nodes: 1,
  failures: new Map(),
  rest: undefined,
  isRejectedAsSuch: false,
  rejectors: new Set<string>(),
  pending: new Set<string>(),
};
const { signal } = new AbortController();

/** How each method is called, and its extension point. */
const calls: readonly [method: keyof Plugin, point: string, call: (framework: Framework, state: CycleState) => unknown][] = [
  ['preFilter', 'preFilter', (framework, state) => framework.preFilter(state, pod)],
  ['filter', 'filter', (framework, state) => framework.runFiltersWithNominated(state, pod, node)],
  ['postFilter', 'postFilter', (framework, state) => framework.postFilter(state, pod, diagnosis)],
  ['preScore', 'preScore', ({ scores }, state) => scores.preScore(state, pod, nodes)],
  ['score', 'score', ({ scores }, state) => scores.score(state, pod, nodes)],
  ['reserve', 'reserve', ({ binding }, state) => binding.reserve(state, pod, 'n1')],
  ['permit', 'permit', ({ binding }, state) => binding.permit(state, pod, 'n1')],
  ['preBindPreFlight', 'preBind', ({ binding }, state) => binding.preBindersOf(state, pod, 'n1')],
  ['preBind', 'preBind', preBindOf],
  ['bind', 'bind', ({ binding }, state) => binding.bind(state, pod, 'n1', signal)],
];

async function preBindOf({ binding }: Framework, state: CycleState): Promise<void> {
  for (const plugin of binding.preBindersOf(state, pod, 'n1'))
    await binding.preBind(plugin, { state, podInfo: pod, nodeName: 'n1' }, signal);
}

function faulty(method: keyof Plugin, answer: () => unknown): Plugin {
  return { name: 'Faulty', preBind: async () => undefined, [method]: answer };
}

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each(calls)('a plugin whose %s', (method, point, call) => {
  const cause = new Error('no idea');

  it('throws is named in the error, with the extension point', async () => {
    const framework = frameworkWith([
      faulty(method, () => {
        throw cause;
      }),
    ]);
    const error = await failureOf(() => call(framework, new CycleState()));
    expect(error).toBeInstanceOf(PluginError);
    expect(error).toMatchObject({ code: 'ERR_PLUGIN', plugin: 'Faulty', extensionPoint: point, cause });
    expect((error as Error).message).toBe(`The scheduler's plugin Faulty failed in ${point}: no idea`);
  });

  it('rejects, or returns a promise where nobody waits, is named too, and no rejection is left unhandled', async () => {
    const framework = frameworkWith([faulty(method, () => Promise.reject(cause))]);
    const error = await failureOf(() => call(framework, new CycleState()));
    expect(error).toMatchObject({ code: 'ERR_PLUGIN', plugin: 'Faulty', extensionPoint: point });
    await new Promise((resolve) => setImmediate(resolve));
  });

  it.each([null, true, {}, 'yes', { code: 'Never', reasons: [] }])('answers %j is refused', async (answer) => {
    const error = await failureOf(() => call(frameworkWith([faulty(method, () => answer)]), new CycleState()));
    expect(error).toMatchObject({ code: 'ERR_PLUGIN', plugin: 'Faulty', extensionPoint: point });
  });
});

describe('a plugin', () => {
  it('that has addPod or removePod return something is refused', () => {
    const plugin = {
      name: 'Faulty',
      preFilter: () => undefined,
      addPod: async () => {},
      removePod: () => 1,
    } as unknown as Plugin;
    const framework = frameworkWith([plugin]);
    expect(() => framework.runAddPod(new CycleState(), pod, pod, node)).toThrow('promise where the scheduler does not wait');
    expect(() => framework.runRemovePod(new CycleState(), pod, pod, node)).toThrow('nothing from removePod');
  });

  it.each([-1, 101, Number.NaN, Number.POSITIVE_INFINITY])('that normalises a score to %d is refused', (score) => {
    const plugin: Plugin = {
      name: 'Faulty',
      score: () => 1,
      normalizeScores(_state, _pod, scores) {
        scores[0] = score;
      },
    };
    expect(() => frameworkWith([plugin]).scores.score(new CycleState(), pod, nodes)).toThrow(
      `Faulty failed in score: normalised scores must be from 0 to 100, node n1 has ${score}`,
    );
  });

  it.each([-1, 101])('that scores %d and does not normalise is refused', (score) => {
    expect(() => frameworkWith([{ name: 'Faulty', score: () => score }]).scores.score(new CycleState(), pod, nodes)).toThrow(
      'from 0 to 100',
    );
  });

  it('that loses scores when it normalises is refused', () => {
    const plugin: Plugin = { name: 'Faulty', score: () => 1, normalizeScores: (_state, _pod, scores) => void scores.pop() };
    expect(() => frameworkWith([plugin]).scores.score(new CycleState(), pod, nodes)).toThrow(
      'normalizeScores left 0 scores of 1',
    );
  });

  it('whose unreserve or postBind fails does not keep the others from being told', () => {
    const failures: unknown[] = [];
    const told: string[] = [];
    const good = (name: string): Plugin => ({
      name,
      unreserve: () => void told.push(`${name} unreserve`),
      postBind: () => void told.push(`${name} postBind`),
    });
    const bad = {
      name: 'Bad',
      unreserve() {
        throw new Error('no');
      },
      postBind: () => Promise.reject(new Error('never')),
    } as unknown as Plugin;
    const { binding } = frameworkWith([good('A'), bad, good('B')], { onFailure: (error) => failures.push(error) });
    binding.unreserve(new CycleState(), pod, 'n1');
    binding.postBind(new CycleState(), pod, 'n1');
    expect(told).toEqual(['B unreserve', 'A unreserve', 'A postBind', 'B postBind']);
    expect(failures).toMatchObject([{ plugin: 'Bad', extensionPoint: 'reserve' }]);
  });
});
