import { describe, expect, it } from 'vitest';
import { disagreements } from '../../../examples/virtual-node/agent/agent-verdict.ts';
import { type AgentSnapshot, renderAgentLine, renderAgentView } from '../../../examples/virtual-node/agent/agent-view.ts';
import { PodLives, pickShape, podOf } from '../../../examples/virtual-node/agent/pod-shapes.ts';
import { isReady, podWords, restartsOf } from '../../../examples/virtual-node/agent/pod-words.ts';
import { ToldLives } from '../../../examples/virtual-node/agent/told-lives.ts';
import { Random } from '../../../examples/virtual-node/random.ts';
import type { WireContainerStatus, WirePod } from '../../../src/index.ts';
import type { RuntimeHappening } from '../../../src/testing.ts';
import { type BareParts, barePod } from '../../support/pods.ts';
import { containerConfigOf, sandboxConfigOf } from '../../support/runtime-configs.ts';

function status(name: string, more: Partial<WireContainerStatus>): WireContainerStatus {
  return { name, restartCount: 0, ready: false, image: 'i', imageID: '', ...more };
}

function podWith(status: BareParts['status'] = {}, initNames: readonly string[] = []): WirePod {
  const initContainers = initNames.map((name) => ({ name, ...(name === 'proxy' && { restartPolicy: 'Always' }) }));
  return barePod({ metadata: { name: 'web-1-0', uid: 'a' }, spec: { initContainers }, status });
}

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const done = { terminated: { exitCode: 0, reason: 'Completed' } };

describe('the words of a pod', () => {
  it.each([
    ['Pending', podWith({})],
    [
      'ContainerCreating',
      podWith({ phase: 'Pending', containerStatuses: [status('app', { state: { waiting: { reason: 'ContainerCreating' } } })] }),
    ],
    [
      'Init:1/2',
      podWith({ phase: 'Pending', initContainerStatuses: [status('a', { state: done }), status('b', { state: running })] }, [
        'a',
        'b',
      ]),
    ],
    [
      'Init:CrashLoopBackOff',
      podWith({ initContainerStatuses: [status('a', { state: { waiting: { reason: 'CrashLoopBackOff' } } })] }, ['a']),
    ],
    [
      'Running',
      podWith(
        {
          phase: 'Running',
          initContainerStatuses: [status('proxy', { state: running, started: true })],
          containerStatuses: [status('app', { state: running })],
        },
        ['proxy'],
      ),
    ],
    ['Completed', podWith({ phase: 'Succeeded', containerStatuses: [status('app', { state: done })] })],
    ['ExitCode:3', podWith({ phase: 'Failed', containerStatuses: [status('app', { state: { terminated: { exitCode: 3 } } })] })],
    ['Evicted', podWith({ phase: 'Failed', reason: 'Evicted' })],
    ['Terminating', { ...podWith({ phase: 'Running' }), metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('are %s', (words, pod) => {
    expect(podWords(pod)).toBe(words);
  });

  it('count the restarts of all containers', () => {
    const all = [status('app', { restartCount: 2 }), status('logs', { restartCount: 3 })];
    expect(restartsOf(podWith({ containerStatuses: all }))).toBe(5);
    expect(isReady(podWith({ conditions: [{ type: 'Ready', status: 'True' }] }))).toBe(true);
    expect(isReady(podWith({ conditions: [{ type: 'Ready', status: 'False' }] }))).toBe(false);
  });
});

describe('the view', () => {
  const snapshot: AgentSnapshot = {
    nodeName: 'node',
    seed: 1,
    stage: 'running',
    elapsedMs: 2400,
    totalMs: 10_000,
    pods: Array.from({ length: 30 }, (_, index) => ({ ...podWith({ phase: 'Running' }), metadata: { name: `web-${index}-0` } })),
    created: 31,
    deleted: 1,
    started: 40,
    ended: 9,
    pulls: 5,
    gone: 1,
  };

  it('has one line for everything, and on a terminal one for each of the first pods', () => {
    const line = '  2 s | pods 30 (30 Running) | created 31 | gone 1 | pulls 5 | containers started 40, ended 9';
    expect(renderAgentLine(snapshot)).toBe(line);
    const lines = renderAgentView(snapshot, 60, (_, text) => text).split('\n');
    expect(lines).toHaveLength(22);
    expect(lines[2]).toBe('web-1-0     Running                    0 restarts');
    expect(lines.at(-1)).toBe('and 10 more');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(60);
  });
});

describe('the lives that were told', () => {
  it('have each word once in a row, and the longest of each kind is shown', () => {
    const lives = new ToldLives();
    const tell = (name: string, words: readonly string[]): void => {
      for (const phase of words) {
        const object = { metadata: { name }, status: { phase } };
        lives.note({ type: 'MODIFIED', object, previous: object, resourceVersion: '1' });
      }
    };
    tell('web-0-0', ['Pending', 'Pending', 'Running']);
    tell('web-1-0', ['Pending']);
    tell(
      'job-2-0',
      Array.from({ length: 20 }, (_, index) => `Step${index}`),
    );
    lives.note({ type: 'DELETED', object: { metadata: { name: 'web-0-0' } }, previous: undefined, resourceVersion: '2' });
    const steps = Array.from({ length: 11 }, (_, index) => `Step${index}`);
    expect(lives.examples()).toEqual(['web-0-0: Pending, Running, gone', `job-2-0: ${steps.join(', ')}, …, Step18, Step19`]);
  });
});

describe('the verdict', () => {
  const happening = (type: RuntimeHappening['type'], id: string, more: Partial<RuntimeHappening> = {}): RuntimeHappening => {
    return { type, what: 'container', id, at: 0, podUID: 'a', name: 'app', attempt: 0, ...more };
  };
  const shown = (state: NonNullable<WireContainerStatus['state']>) =>
    podWith({ containerStatuses: [status('app', { state, containerID: 'fake://1' })] });

  it.each([
    ['nothing', [shown(running)], [happening('created', '1'), happening('started', '1')], []],
    ['a pod that runs on', [], [happening('started', '1')], ['the container app of the deleted pod a runs on']],
    [
      'one that runs twice',
      [shown(running)],
      [happening('started', '1'), happening('started', '2')],
      ['the container a app runs twice'],
    ],
    [
      'one that does not run',
      [shown(running)],
      [happening('stopped', '1', { exitCode: 0 })],
      ['web-1-0/app is said to run, and does not'],
    ],
    ['one that runs', [shown(done)], [happening('started', '1')], ['web-1-0/app is said to have ended, and runs']],
    [
      'another exit code',
      [shown(done)],
      [happening('stopped', '1', { exitCode: 3 })],
      ['web-1-0/app ended with 3, and is said to have ended with 0'],
    ],
    ['nothing of what was removed', [shown(done)], [happening('stopped', '1', { exitCode: 3 }), happening('deleted', '1')], []],
  ])('names %s', (_, pods, history, wrong) => {
    expect(disagreements(pods, history)).toEqual(wrong);
  });
});

describe('the lives', () => {
  it('are those that the images name', () => {
    const random = new Random(1);
    const { lives, registry, exec } = new PodLives(random);
    const lifeOf = (image: string, attempt = 0) => {
      const config = containerConfigOf('a', 'app', attempt, { image: { image: 'sha256:1', userSpecifiedImage: image } });
      return lives({ sandbox: sandboxConfigOf('a'), config, attempt });
    };
    const shapes = new Set(Array.from({ length: 200 }, () => pickShape(random)));
    expect([...shapes].sort()).toEqual(['crashing', 'job', 'missing', 'stubborn', 'web']);
    const imageOf = (shape: Parameters<typeof podOf>[1]) => podOf('p', shape, 'n', random).spec?.containers[0]?.image ?? '';
    expect(lifeOf(imageOf('crashing'))).toMatchObject({ exitCode: 1, runsMs: expect.any(Number) });
    expect(lifeOf(imageOf('stubborn'))).toEqual({ ignoresSigterm: true });
    expect(lifeOf(imageOf('web'))).toEqual({ stopTakesMs: expect.any(Number) });
    expect(lifeOf(imageOf('job'), 1)).toMatchObject({ exitCode: 0 });
    expect(registry(imageOf('missing'))).toBeUndefined();
    expect(registry(imageOf('web'))).toMatchObject({ pullMs: expect.any(Number) });
    expect(new Set(Array.from({ length: 100 }, () => exec().exitCode))).toEqual(new Set([0, 1]));
  });
});
