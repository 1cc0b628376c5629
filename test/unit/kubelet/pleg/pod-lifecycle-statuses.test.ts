import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { setUpLifecycle as setUp } from './lifecycle-setup.ts';

describe('the status of a pod', () => {
  it('is what its sandbox and its containers say', async () => {
    const { lifecycle, runPod, start, clock } = setUp();
    const { id, sandboxID } = await runPod('a');
    await start();
    expect(lifecycle.get('a')).toMatchObject({
      podUID: 'a',
      name: 'pod-a',
      namespace: 'default',
      ips: ['10.244.0.2'],
      containers: [
        { id: `fake://${id}`, name: 'app', state: 'running', restartCount: 0, active: true, startedAt: clock.now() - 6000 },
      ],
      sandboxes: [{ ready: true, hostNetwork: false, network: { ip: '10.244.0.2' } }],
      sandboxDetails: [{ id: sandboxID }],
      containerDetails: [{ id }],
    });
    expect(lifecycle.get('b')).toEqual({
      podUID: 'b',
      ips: [],
      containers: [],
      sandboxes: [],
      sandboxDetails: [],
      containerDetails: [],
    });
  });

  it('says how a container has ended, with its last words, and asks for them once', async () => {
    const asked: string[] = [];
    const terminationMessageOf = async ({ id }: { readonly id: string }) => {
      asked.push(id);
      return 'disk full';
    };
    const { lifecycle, runPod, start, runtime, signal, takeCalls } = setUp({ terminationMessageOf });
    const { id } = await runPod('a');
    await start();
    runtime.killContainer(id, { exitCode: 5, reason: 'OOMKilled', message: 'killed' });
    await settle();
    const status = { state: 'exited', exitCode: 5, reason: 'OOMKilled', message: 'killed: disk full', active: true };
    expect(lifecycle.get('a').containers).toMatchObject([status]);
    takeCalls();
    await lifecycle.refresh('a', signal);
    expect(takeCalls()).toEqual({ ListPodSandbox: 1, ListContainers: 1 });
    expect(asked).toEqual([id]);
  });

  it('asks a ready sandbox again after half a minute: it may have lost its addresses', async () => {
    const { lifecycle, runPod, start, clock, signal, takeCalls } = setUp();
    await runPod('a');
    await start();
    await lifecycle.refresh('a', signal);
    await clock.advance(30_000);
    takeCalls();
    await lifecycle.refresh('a', signal);
    expect(takeCalls()).toMatchObject({ PodSandboxStatus: 1 });
    await lifecycle.refresh('a', signal);
    expect(takeCalls()).not.toHaveProperty('PodSandboxStatus');
  });

  it('keeps the exit code of a container whose last words cannot be read', async () => {
    const { lifecycle, runPod, start, runtime, lines } = setUp({
      terminationMessageOf: () => Promise.reject(new Error('no such file')),
    });
    const { id } = await runPod('a');
    await start();
    runtime.killContainer(id);
    await settle();
    expect(lifecycle.get('a').containers).toMatchObject([{ exitCode: 137, message: '' }]);
    expect(lines).toMatchObject([{ level: 'warn', fields: { containerID: id } }]);
  });

  it('has the newest sandbox and container first, addresses of the newest sandbox, and keeps them when the pod has ended', async () => {
    const { lifecycle, runPod, start, runtime, clock, signal } = setUp();
    const first = await runPod('a');
    await start();
    await runtime.stopPodSandbox(first.sandboxID);
    await settle();
    expect(lifecycle.get('a').ips).toEqual(['10.244.0.2']);
    await clock.advance(1);
    const sandboxID = await runtime.runPodSandbox(sandboxConfigOf('a', 1), '');
    const id = await runtime.createContainer(sandboxID, containerConfigOf('a', 'app', 1), sandboxConfigOf('a', 1));
    const status = await lifecycle.refresh('a', signal);
    expect(status.ips).toEqual(['10.244.0.3']);
    expect(status.sandboxDetails.map((sandbox) => sandbox.id)).toEqual([sandboxID, first.sandboxID]);
    expect(status.containers).toMatchObject([
      { id: `fake://${id}`, state: 'created', active: true, restartCount: 1 },
      { id: `fake://${first.id}`, state: 'exited', active: false },
    ]);
    expect(status.containers[0]).not.toHaveProperty('startedAt');
  });

  it('does not show what belongs to somebody else', async () => {
    const { lifecycle, runtime, start, signal } = setUp();
    await runtime.runPodSandbox(sandboxConfigOf('a', 0, { labels: {} }), '');
    await start();
    expect(lifecycle.get('a').sandboxes).toEqual([]);
    expect(await lifecycle.getPods(signal)).toEqual([]);
  });
});

describe('get', () => {
  it('says nothing before the runtime does, and nothing of a pod that could not be read', async () => {
    const { runPod, lifecycle, runtime, start, clock, lines, signal } = setUp();
    expect(() => lifecycle.get('a')).toThrow('has not said yet');
    const { id } = await runPod('a');
    await runPod('b');
    runtime.fail({ about: id, times: 20, fault: { kind: 'error', error: 'failed' } });
    await start();
    expect(() => lifecycle.get('a')).toThrow('has not said yet');
    expect(lifecycle.get('b').containers).toHaveLength(1);
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { podUID: 'a' } }]);
    const known = await lifecycle.getPods(signal);
    expect(known.map(({ uid, containers }) => [uid, containers])).toEqual([
      ['b', [{ name: 'app', state: 'running' }]],
      ['a', [{ name: 'app', state: 'running' }]],
    ]);
    runtime.heal();
    await clock.advance(10_000);
    expect(lifecycle.get('a').containers).toHaveLength(1);
  });
});

describe('getPods', () => {
  it('lists the runtime when the last list is too old, and rejects as the list does', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal, takeCalls } = setUp();
    await runPod('a');
    await start();
    takeCalls();
    expect(await lifecycle.getPods(signal)).toMatchObject([{ uid: 'a', name: 'pod-a', namespace: 'default' }]);
    expect(takeCalls()).toEqual({});
    runtime.fail({ call: 'ListContainers', times: 1000, fault: { kind: 'error', error: 'failed', message: 'no list' } });
    await clock.advance(30_000);
    await expect(lifecycle.getPods(signal)).rejects.toThrow('no list');
  });
});

describe('the pods that run', () => {
  it('are those with a ready sandbox or a running container, though the runtime lists others still', async () => {
    const { runPod, start, lifecycle, runtime, signal } = setUp();
    const { id } = await runPod('a');
    const { sandboxID } = await runPod('b');
    await start();
    runtime.killContainer(id);
    await runtime.stopPodSandbox(sandboxID);
    await settle();
    expect((await lifecycle.getPods(signal)).map(({ uid }) => uid)).toEqual(['a']);
    expect(lifecycle.get('b').containers).toHaveLength(1);
  });
});
