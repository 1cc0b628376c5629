import { describe, expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { quietLifecycle } from '../../../support/quiet-lifecycle.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { setUpLifecycle as setUp, setUpLifecycle } from './lifecycle-setup.ts';

describe('lists', () => {
  it('ask for statuses only where something has changed', async () => {
    const { runPod, start, takeCalls, clock, lifecycle, runtime } = setUp();
    for (let pod = 0; pod < 50; pod += 1) await runPod(`p${pod}`);
    await start();
    takeCalls();
    await clock.advance(10_000);
    expect(takeCalls()).toEqual({ ListPodSandbox: 1, ListContainers: 1 });
    runtime.loseEvents({ times: 1 });
    const { id } = lifecycle.get('p7').containerDetails[0] ?? { id: '' };
    runtime.killContainer(id);
    await clock.advance(10_000);
    const calls = takeCalls();
    expect(calls).toMatchObject({ ContainerStatus: 1 });
    // a sandbox that is as ready as it was has the addresses that it had
    expect(calls).not.toHaveProperty('PodSandboxStatus');
  });

  it('find what no event has told of, and come more often then', async () => {
    const { runPod, start, takeCalls, clock, lifecycle, runtime, changed } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.loseEvents({ times: 1 });
    runtime.killContainer(id);
    changed.length = 0;
    await clock.advance(10_000);
    expect(changed).toEqual(['a']);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    takeCalls();
    await clock.advance(5000);
    expect(takeCalls().ListPodSandbox).toBeGreaterThanOrEqual(4);
    await clock.advance(10_000);
    takeCalls();
    await clock.advance(20_000);
    expect(takeCalls().ListPodSandbox).toBe(2);
  });

  it('come each second from a runtime without events', async () => {
    const made = setUpLifecycle();
    const none = (): never => {
      throw Object.assign(new Error('unknown method'), { code: 'ERR_RUNTIME', kind: 'unimplemented' });
    };
    const runtime = new Proxy(made.runtime, {
      get: (target, name) => {
        if (name === 'events') return none;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const lifecycle = quietLifecycle(runtime, made.clock);
    lifecycle.start();
    await made.clock.advance(10_000);
    made.takeCalls();
    await made.clock.advance(10_000);
    expect(made.takeCalls()).toEqual({ ListPodSandbox: 10, ListContainers: 10 });
    await lifecycle.stop();
  });

  it('tell of pods that are gone', async () => {
    const { runPod, start, clock, lifecycle, runtime, changed, signal } = setUp();
    const { sandboxID } = await runPod('a');
    await start();
    changed.length = 0;
    runtime.loseEvents({ times: 100 });
    await runtime.removePodSandbox(sandboxID);
    await clock.advance(10_000);
    expect(changed).toEqual(['a']);
    expect(lifecycle.get('a').containers).toEqual([]);
    expect(await lifecycle.getPods(signal)).toEqual([]);
  });
});

describe('events', () => {
  it('of an end lead to a read of that pod at once, and to one more at most while a read is under way', async () => {
    const { runPod, start, takeCalls, lifecycle, runtime, changed, clock } = setUp();
    const { sandboxID, id } = await runPod('a');
    const sandbox = sandboxConfigOf('a');
    const ids = [id];
    for (const name of ['x', 'y', 'z']) {
      ids.push(await runtime.createContainer(sandboxID, containerConfigOf('a', name), sandbox));
      await runtime.startContainer(ids.at(-1) ?? '');
    }
    await runPod('b');
    await start();
    takeCalls();
    changed.length = 0;
    runtime.fail({ call: 'ContainerStatus', fault: { kind: 'late-answer', ms: 100 } });
    for (const each of ids) {
      runtime.killContainer(each);
      await settle();
    }
    await clock.advance(100);
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 2, ListContainers: 2 });
    const { containers } = lifecycle.get('a');
    expect(containers.map(({ state }) => state)).toEqual(['exited', 'exited', 'exited', 'exited']);
    expect(changed).toEqual(['a', 'a']);
  });

  it('of a start or a removal wait for the read of the one who did it, and lead to one of their own where nobody did', async () => {
    const { runPod, start, takeCalls, lifecycle, runtime, clock, signal } = setUp();
    await start();
    const { sandboxID } = await runPod('a');
    await clock.advance(200);
    takeCalls();
    await lifecycle.refresh('a', signal);
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 1, ListContainers: 1 });
    await clock.advance(1000);
    expect(takeCalls()).toEqual({});
    await runtime.stopPodSandbox(sandboxID);
    await clock.advance(250);
    await runtime.removePodSandbox(sandboxID);
    await clock.advance(499);
    expect(lifecycle.get('a').sandboxes).toHaveLength(1);
    await clock.advance(1);
    expect(lifecycle.get('a').sandboxes).toEqual([]);
    await runPod('b');
    await clock.advance(250);
    expect(lifecycle.get('b').containers).toMatchObject([{ state: 'running' }]);
  });

  it('of a pod that a call changes wait a second for the read of the call, and a moment for another one where the call is over', async () => {
    const { runPod, start, takeCalls, lifecycle, runtime, clock, signal } = setUp();
    const [first, second] = [await runPod('a', 'x'), await runPod('b')];
    await start();
    takeCalls();
    const endExpecting = lifecycle.expectRead('a');
    runtime.killContainer(first.id);
    await clock.advance(999);
    expect(takeCalls()).toEqual({});
    await clock.advance(1);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    takeCalls();
    await runtime.stopPodSandbox(first.sandboxID);
    await lifecycle.refresh('a', signal);
    await runtime.removePodSandbox(first.sandboxID);
    endExpecting();
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 1 });
    await clock.advance(249);
    expect(lifecycle.get('a').sandboxes).toHaveLength(1);
    await clock.advance(1);
    expect(lifecycle.get('a').sandboxes).toEqual([]);
    takeCalls();
    lifecycle.expectRead('a')();
    runtime.killContainer(second.id);
    await settle();
    expect(lifecycle.get('b').containers).toMatchObject([{ state: 'exited' }]);
    await clock.advance(5000);
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 1 });
  });

  it('of a sandbox that stops with no container in it leads to a read a moment later', async () => {
    const { start, lifecycle, runtime, clock } = setUp();
    const sandboxID = await runtime.runPodSandbox(sandboxConfigOf('a'), '');
    await start();
    await runtime.stopPodSandbox(sandboxID);
    await clock.advance(249);
    expect(lifecycle.get('a').sandboxes).toMatchObject([{ ready: true }]);
    await clock.advance(1);
    expect(lifecycle.get('a').sandboxes).toMatchObject([{ ready: false }]);
  });

  it('that wait are not lost with a read of somebody else that fails', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    await start();
    await clock.advance(10_000);
    runtime.fail({ call: 'ListContainers', fault: { kind: 'error', error: 'failed' } });
    await runPod('a');
    await expect(lifecycle.refresh('a', signal)).rejects.toThrow('was made to fail');
    await clock.advance(100);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'running' }]);
  });

  it('that come while all is listed are read after the list', async () => {
    const { runPod, start, lifecycle, runtime, clock } = setUp();
    await start();
    runtime.fail({ call: 'ListContainers', fault: { kind: 'late-answer', ms: 100 } });
    await clock.advance(9_990);
    const { id } = await runPod('a');
    await clock.advance(300);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'running' }]);
    runtime.killContainer(id);
    await settle();
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
  });

  it('are not lost with a read that fails: the runtime is listed at once, and not after the long period', async () => {
    const { runPod, start, lifecycle, runtime, changed, clock } = setUp();
    const { id } = await runPod('a');
    await start();
    await clock.advance(10_000);
    changed.length = 0;
    runtime.fail({ call: 'ListContainers', fault: { kind: 'error', error: 'failed' } });
    runtime.killContainer(id);
    await clock.advance(1000);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    expect(changed).toEqual(['a']);
  });

  it('that come while the pod is read lead to a read that begins afterwards, whatever the first one has seen', async () => {
    const { runPod, start, lifecycle, runtime, changed, clock, signal } = setUp();
    const { id } = await runPod('a');
    await start();
    changed.length = 0;
    runtime.fail({ call: 'ListContainers', fault: { kind: 'late-answer', ms: 300 } });
    const before = lifecycle.refresh('a', signal);
    await settle();
    runtime.killContainer(id);
    await clock.advance(300);
    expect((await before).containers).toHaveLength(1);
    await clock.advance(10);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    expect(changed).toEqual(['a']);
  });

  it('of a pod that nobody names are found by the id', async () => {
    const { runPod, start, lifecycle, runtime, clock } = setUp();
    const { id } = await runPod('a');
    await start();
    expect(lifecycle.get('a').containers).toHaveLength(1);
    runtime.killContainer(id);
    await settle();
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited', finishedAt: clock.now() }]);
  });
});

describe('getNewerThan', () => {
  it('answers at once with what was read after the time, and reads where there is none', async () => {
    const { runPod, start, lifecycle, takeCalls, clock, signal } = setUp();
    await runPod('a');
    await start();
    const now = clock.now();
    takeCalls();
    await lifecycle.getNewerThan('a', now - 3000, signal);
    expect(takeCalls()).toEqual({});
    await lifecycle.getNewerThan('a', now, signal);
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 1, ListContainers: 1 });
    expect(await lifecycle.getNewerThan('none', now - 3000, signal)).toMatchObject({ podUID: 'none', containers: [] });
    expect(takeCalls()).toEqual({});
  });

  it('never gives what a read brought that began before the time, however late it answers', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.fail({ call: 'ContainerStatus', fault: { kind: 'late-answer', ms: 5000 } });
    const old = lifecycle.refresh('a', signal);
    await clock.advance(1000);
    runtime.loseEvents({ times: 100 });
    runtime.killContainer(id);
    const read = lifecycle.getNewerThan('a', clock.now(), signal);
    let isAnswered = false;
    void read.then(() => {
      isAnswered = true;
    });
    await clock.advance(3999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect((await old).containers).toMatchObject([{ state: 'running' }]);
    expect((await read).containers).toMatchObject([{ state: 'exited' }]);
  });

  it('does not let a list that answers late bring back what has changed', async () => {
    const { runPod, start, lifecycle, runtime, clock, changed } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.fail({ call: 'ListContainers', fault: { kind: 'late-answer', ms: 60_000 } });
    await clock.advance(10_000);
    runtime.killContainer(id);
    await settle();
    changed.length = 0;
    await clock.advance(49_000);
    const { calls } = runtime;
    const before = calls.length;
    await clock.advance(1500);
    // the late list has come, and the one after it is not due
    expect(calls.slice(before)).toEqual([]);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    await clock.advance(20_000);
    expect(changed).toEqual([]);
  });

  it('takes nothing for new that was read before the clock was set back', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.loseEvents({ times: 100 });
    runtime.killContainer(id);
    clock.jump(-3_600_000);
    expect((await lifecycle.getNewerThan('a', clock.now(), signal)).containers).toMatchObject([{ state: 'exited' }]);
  });

  it('waits while the runtime is away, and gives up with its caller', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    await runPod('a');
    await start();
    runtime.restart({ downMs: 30_000 });
    const waiting = lifecycle.getNewerThan('a', clock.now(), signal);
    const abort = new AbortController();
    const impatient = lifecycle.getNewerThan('a', clock.now(), abort.signal).catch((error: unknown) => error);
    await clock.advance(10_000);
    abort.abort('enough');
    expect(await impatient).toBe('enough');
    await clock.advance(25_000);
    expect((await waiting).containers).toHaveLength(1);
  });

  it('rejects with what the runtime says of that pod alone', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    const { id } = await runPod('a');
    await runPod('b');
    await start();
    runtime.fail({ about: id, times: 1000, fault: { kind: 'error', error: 'failed', message: 'cannot read state' } });
    await expect(lifecycle.getNewerThan('a', clock.now(), signal)).rejects.toThrow('cannot read state');
    expect((await lifecycle.getNewerThan('b', clock.now(), signal)).containers).toHaveLength(1);
  });

  it('answers after a runtime that never does, once the time of a read is up', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp({ readTimeoutMs: 20_000 });
    const { id } = await runPod('a');
    await start();
    runtime.fail({ about: id, fault: { kind: 'hang' } });
    const hanging = lifecycle.getNewerThan('a', clock.now(), signal).catch((error: unknown) => error);
    await clock.advance(20_000);
    expect(await hanging).toMatchObject({ name: 'RuntimeError', kind: 'timeout' });
    expect((await lifecycle.getNewerThan('a', clock.now(), signal)).containers).toHaveLength(1);
  });

  it('rejects when the lifecycle is stopped', async () => {
    const { runPod, start, lifecycle, runtime, clock, signal } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.fail({ about: id, times: 100, fault: { kind: 'hang' } });
    const hanging = lifecycle.getNewerThan('a', clock.now(), signal).catch((error: unknown) => error);
    await settle();
    await lifecycle.stop();
    expect(await hanging).toMatchObject({ code: 'ERR_STOPPED' });
    await expect(lifecycle.refresh('a', signal)).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });
});

describe('the metrics', () => {
  it('count lists, reads, pods and containers under the names of the kubelet', async () => {
    const metrics = new MetricsRecorder();
    const { runPod, start, runtime, clock } = setUp({ metrics: metricsOption(metrics) });
    const { id } = await runPod('a');
    await runPod('b');
    runtime.killContainer(id);
    runtime.fail({ call: 'ListContainers', fault: { kind: 'late-answer', ms: 250 } });
    await start();
    runtime.restart();
    await clock.advance(2000);
    expect(metrics.mistakes).toEqual([]);
    expect(metrics.value('kubelet_running_pods')).toBe(2);
    expect(metrics.value('kubelet_running_containers', { container_state: 'running' })).toBe(1);
    expect(metrics.value('kubelet_running_containers', { container_state: 'exited' })).toBe(1);
    expect(metrics.values('kubelet_pleg_relist_duration_seconds')[0]).toBe(0.25);
    expect(metrics.values('kubelet_pleg_relist_interval_seconds')).toContain(1);
    expect(metrics.value('kubelet_pleg_last_seen_seconds')).toBeGreaterThan(clock.now() / 1000 - 10);
    expect(metrics.value('pod_status_manager_runtime_event_stream_ends_total')).toBe(1);
  });
});

describe('a pod lifecycle', () => {
  it('is for one run', async () => {
    const { lifecycle } = setUp();
    lifecycle.start();
    expect(() => lifecycle.start()).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_STARTED' }));
    await lifecycle.stop();
    await lifecycle.stop();
    expect(() => lifecycle.start()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });
});
