import { describe, expect, it } from 'vitest';
import { disagreements, RuntimeLives } from '../../../examples/virtual-node/agent/agent-verdict.ts';
import { PodLives, type PodShape, pickShape, podOf } from '../../../examples/virtual-node/agent/pod-shapes.ts';
import { podWords } from '../../../examples/virtual-node/pod-words.ts';
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
    expect(disagreements(pods, new RuntimeLives(history).update().byID)).toEqual(wrong);
  });
});

describe('the lives of containers', () => {
  it('are read as they go on, each once', () => {
    const history: RuntimeHappening[] = [];
    const lives = new RuntimeLives(history);
    const happen = (type: RuntimeHappening['type'], what: RuntimeHappening['what'] = 'container'): void => {
      history.push({ type, what, id: '1', at: 0, podUID: 'a', name: 'app', attempt: 0 });
    };
    happen('created', 'sandbox');
    happen('started');
    expect(lives.update()).toMatchObject({ started: 1, ended: 0 });
    happen('stopped');
    expect([lives.update().started, lives.ended, lives.byID.get('1')?.state]).toEqual([1, 1, 'exited']);
    happen('deleted');
    expect(lives.update().byID.size).toBe(0);
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
    const imageOf = (shape: PodShape) => podOf('p', 'n', random, shape).spec?.containers[0]?.image ?? '';
    expect(lifeOf(imageOf('crashing'))).toMatchObject({ exitCode: 1, runsMs: expect.any(Number) });
    expect(lifeOf(imageOf('stubborn'))).toEqual({ ignoresSigterm: true });
    expect(lifeOf(imageOf('web'))).toEqual({ stopTakesMs: expect.any(Number) });
    expect(lifeOf(imageOf('job'), 1)).toMatchObject({ exitCode: 0 });
    expect(registry(imageOf('missing'))).toBeUndefined();
    expect(registry(imageOf('web'))).toMatchObject({ pullMs: expect.any(Number) });
    expect(registry('registry.example/private-app:1')?.error).toContain('401 Unauthorized');
    expect(registry('registry.example/private-app:1', { username: 'me' })?.error).toBeUndefined();
    const probe = (command: string) => exec({ command: [command] });
    expect(new Set(Array.from({ length: 100 }, () => probe('ready').exitCode))).toEqual(new Set([0, 1]));
    expect(new Set(Array.from({ length: 100 }, () => probe('fail').exitCode))).toEqual(new Set([1]));
  });
});
