import { describe, expect, it } from 'vitest';
import { checkEvidence } from '../../real/node/faults/check.ts';
import { type Evidence, type FinalContainer, type PodEvidence, parseWitness } from '../../real/node/faults/evidence.ts';

const away = { from: 30, to: 34 };

function found(pod: PodEvidence, runtimeAways: Evidence['runtimeAways']): string[] {
  const nothing = { injuries: [], agentKills: [], fullDisks: [], secretsLeft: [], pressureSeconds: 300 };
  return checkEvidence({ pods: [pod], ...nothing, runtimeAways }).map(({ rule }) => rule);
}

const base = { uid: 'u', name: 'p', createdAt: 9, runningWhenGone: 0, leftovers: [] };

/** An init container that ended well at a time, and ran once more. */
function initPod(endedAt: number, lastExitCode: number, again = ''): PodEvidence {
  const first: FinalContainer = {
    restartCount: again === '' ? 1 : 2,
    ready: true,
    state: 'terminated',
    exitCode: 0,
    lastExitCode,
  };
  return {
    ...{ ...base, kind: 'init', restarts: true, runningAtEnd: ['main'] },
    containers: [
      { name: 'first', isInit: true, beats: 2, exitCode: 0 },
      { name: 'main', isInit: false, beats: -1, exitCode: 0 },
    ],
    witness: {
      first: parseWitness(`start r1 10\nend r1 ${endedAt} 0\nstart r2 50\nend r2 51 0\n${again}`),
      main: parseWitness('start m1 60\nbeat m1 90\n'),
    },
    final: { phase: 'Running', containers: { first, main: { restartCount: 0, ready: true, state: 'running' } } },
  };
}

/** A pod that runs once, and ended well at a time. */
function batchPod(endedAt: number, phase: string, exitCode: number): PodEvidence {
  return {
    ...{ ...base, kind: 'batch', restarts: false, runningAtEnd: [] },
    containers: [{ name: 'main', isInit: false, beats: 4, exitCode: 0 }],
    witness: { main: parseWitness(`start r1 10\nend r1 ${endedAt} 0\n`) },
    final: { phase, containers: { main: { restartCount: 0, ready: false, state: 'terminated', exitCode } } },
  };
}

describe('ends while the runtime is away', () => {
  it('let an init container run once more, whose status says that nobody knows how it ended', () => {
    for (const endedAt of [29.5, 32, 34.5]) expect(found(initPod(endedAt, 255), [away])).toEqual([]);
  });

  it.each([
    ['it ended long before', initPod(28.5, 255), [away]],
    ['it ended long afterwards', initPod(35.5, 255), [away]],
    ['the runtime was never away', initPod(32, 255), []],
    ['its end is known', initPod(32, 0), [away]],
  ])('excuse no other run of it: %s', (_what, pod, aways) => {
    expect(found(pod, aways)).toEqual(['a container is started again for no reason']);
  });

  it('excuse one run for each of them', () => {
    const twice = initPod(32, 0, 'start r3 70\nend r3 71 0\n');
    expect(found(twice, [away])).toEqual(['a container is started again for no reason']);
    expect(found(initPod(32, 255, 'start r3 70\nend r3 71 0\n'), [away, { from: 50, to: 52 }])).toEqual([]);
  });

  it('are told with the code that the runtime gives then, or the real one', () => {
    expect(found(batchPod(32, 'Failed', 255), [away])).toEqual([]);
    expect(found(batchPod(32, 'Succeeded', 0), [away])).toEqual([]);
  });

  it.each([
    ['another code', batchPod(32, 'Failed', 1), [away], ['an end is told other than once', 'a status is untrue']],
    ['the phase of another code', batchPod(32, 'Failed', 0), [away], ['a status is untrue']],
    ['a phase that the code refutes', batchPod(32, 'Succeeded', 255), [away], ['a status is untrue']],
    ['an end before', batchPod(20, 'Failed', 255), [away], ['an end is told other than once', 'a status is untrue']],
  ])('excuse nothing else: %s', (_what, pod, aways, rules) => {
    expect(found(pod, aways)).toEqual(rules);
  });
});
