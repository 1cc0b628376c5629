import { afterEach, describe, expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { quietLifecycle } from '../../../support/quiet-lifecycle.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { setUpLifecycle } from './lifecycle-setup.ts';

let setUps: ReturnType<typeof setUpLifecycle>[] = [];
afterEach(async () => {
  for (const setUp of setUps) {
    await setUp.end();
    expect(setUp.clock.pendingTimers).toBe(0);
  }
  setUps = [];
});

function setUp(options?: Parameters<typeof setUpLifecycle>[0]) {
  const made = setUpLifecycle(options);
  setUps.push(made);
  return made;
}

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
    expect(takeCalls()).toEqual({ ListPodSandbox: 1, ListContainers: 1, PodSandboxStatus: 1 });
    expect(asked).toEqual([id]);
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

describe('lists', () => {
  it('ask for statuses only where something has changed', async () => {
    const { runPod, start, takeCalls, clock, lifecycle, runtime } = setUp();
    for (let pod = 0; pod < 50; pod += 1) await runPod(`p${pod}`);
    await start();
    takeCalls();
    await clock.advance(30_000);
    expect(takeCalls()).toEqual({ ListPodSandbox: 3, ListContainers: 3 });
    runtime.loseEvents({ times: 1 });
    const { id } = lifecycle.get('p7').containerDetails[0] ?? { id: '' };
    runtime.killContainer(id);
    await clock.advance(10_000);
    expect(takeCalls()).toMatchObject({ PodSandboxStatus: 1, ContainerStatus: 1 });
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
    await made.end();
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
  it('lead to a read of that pod at once, and to one more at most while a read is under way', async () => {
    const { runPod, start, takeCalls, lifecycle, runtime, changed, clock } = setUp();
    const { id } = await runPod('a');
    await runPod('b');
    await start();
    takeCalls();
    changed.length = 0;
    runtime.fail({ call: 'ContainerStatus', fault: { kind: 'late-answer', ms: 100 } });
    const sandbox = sandboxConfigOf('a');
    const { sandboxID } = lifecycle.get('a').containerDetails[0] ?? { sandboxID: '' };
    for (const name of ['x', 'y', 'z']) {
      const more = await runtime.createContainer(sandboxID, containerConfigOf('a', name), sandbox);
      await runtime.startContainer(more);
      await settle();
    }
    runtime.killContainer(id);
    await clock.advance(100);
    expect(takeCalls()).toMatchObject({ ListPodSandbox: 2, ListContainers: 2, PodSandboxStatus: 2 });
    expect(
      lifecycle
        .get('a')
        .containers.map(({ name, state }) => `${name} ${state}`)
        .sort(),
    ).toEqual(['app exited', 'x running', 'y running', 'z running']);
    expect(changed).toEqual(['a', 'a']);
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

describe('healthy', () => {
  it.each([
    -3_600_000, 3_600_000,
  ])('is the same after the wall clock was moved by %i ms, and nothing is listed for it', async (ms) => {
    const { start, lifecycle, runtime, clock, signal } = setUp();
    await start();
    runtime.clearCalls();
    clock.jump(ms);
    expect(lifecycle.healthy()).toEqual({ ok: true, message: '' });
    await lifecycle.getPods(signal);
    expect(runtime.calls).toEqual([]);
  });

  it('follows the last list that has succeeded', async () => {
    const { start, lifecycle, runtime, clock, lines } = setUp();
    expect(lifecycle.healthy()).toEqual({ ok: false, message: 'pleg has yet to be successful' });
    await start();
    expect(lifecycle.healthy()).toEqual({ ok: true, message: '' });
    runtime.fail({ call: 'ListPodSandbox', times: 10_000, fault: { kind: 'error', error: 'unavailable' } });
    await clock.advance(170_000);
    expect(lifecycle.healthy().ok).toBe(true);
    await clock.advance(30_000);
    expect(lifecycle.healthy().message).toMatch(/^pleg was last seen active 3m\d+s ago; threshold is 3m0s$/);
    runtime.heal();
    await clock.advance(10_000);
    expect(lifecycle.healthy().ok).toBe(true);
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn the container runtime could not be listed, and is listed again soon',
      'info the container runtime is listed again',
    ]);
  });
});

describe('a runtime that restarts', () => {
  it('is listed and read again as soon as it is back, with what happened meanwhile', async () => {
    const { runPod, start, lifecycle, runtime, clock, changed, lines } = setUp();
    const { id } = await runPod('a');
    await start();
    changed.length = 0;
    runtime.restart({ downMs: 5000 });
    runtime.killContainer(id);
    await clock.advance(6500);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    expect(changed).toEqual(['a']);
    const second = await runPod('b');
    await settle();
    runtime.killContainer(second.id);
    await settle();
    expect(lifecycle.get('b').containers).toMatchObject([{ state: 'exited' }]);
    expect(lines.filter(({ message }) => message.startsWith('the events'))).toHaveLength(1);
  });
});

describe('a stream of events that opens again', () => {
  it('loses nothing that happens before the runtime knows who listens', async () => {
    const { runPod, start, lifecycle, runtime, clock, changed } = setUp();
    const { id } = await runPod('a');
    await start();
    runtime.restart({ downMs: 500 });
    await clock.advance(1600);
    changed.length = 0;
    // the list that follows the reconnecting is over, and the event is sent to nobody
    runtime.loseEvents({ times: 1 });
    runtime.killContainer(id);
    await clock.advance(1100);
    expect(lifecycle.get('a').containers).toMatchObject([{ state: 'exited' }]);
    expect(changed).toEqual(['a']);
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

describe('a listener that fails', () => {
  it('harms nobody', async () => {
    const { runPod, start, lifecycle, lines } = setUp({
      podChanged: () => {
        throw new Error('no');
      },
    });
    await runPod('a');
    await start();
    expect(lifecycle.get('a').containers).toHaveLength(1);
    expect(lines).toMatchObject([{ level: 'warn', fields: { podUID: 'a' } }]);
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
