import { afterEach, describe, expect, it } from 'vitest';
import type { RuntimeEvent } from '../../../../src/kubelet/runtime/container-runtime.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';

const clock = new FakeClock();
let runtime: FakeRuntime;
afterEach(() => runtime.close());

function setUp(): AbortController {
  runtime = new FakeRuntime({ clock, images: ['busybox'], lives: () => ({ stopTakesMs: 500 }) });
  return new AbortController();
}

async function runPod(uid: string): Promise<{ readonly sandboxID: string; readonly id: string }> {
  const sandboxID = await runtime.runPodSandbox(sandboxConfigOf(uid), '');
  const id = await runtime.createContainer(sandboxID, containerConfigOf(uid), sandboxConfigOf(uid));
  await runtime.startContainer(id);
  return { sandboxID, id };
}

function read(signal: AbortSignal): { readonly events: RuntimeEvent[]; readonly end: Promise<unknown> } {
  const events: RuntimeEvent[] = [];
  const end = (async () => {
    for await (const event of runtime.events(signal)) events.push(event);
  })().catch((error: unknown) => error);
  return { events, end };
}

describe('a call that goes wrong', () => {
  it('fails without effect, or with effect', async () => {
    setUp();
    runtime.fail({ call: 'RunPodSandbox', fault: { kind: 'error', error: 'unavailable' } });
    await expect(runtime.runPodSandbox(sandboxConfigOf('a'), '')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await runtime.listPodSandboxes()).toEqual([]);
    runtime.fail({ fault: { kind: 'error-after', error: 'timeout', message: 'too late' } });
    await expect(runtime.runPodSandbox(sandboxConfigOf('a'), '')).rejects.toThrow('too late');
    expect(await runtime.listPodSandboxes()).toHaveLength(1);
  });

  it('never answers until it is aborted, without effect or with effect', async () => {
    const controller = setUp();
    for (const [kind, count] of [
      ['hang', 0],
      ['hang-after', 1],
    ] as const) {
      runtime.fail({ fault: { kind } });
      const abort = new AbortController();
      const call = runtime.runPodSandbox(sandboxConfigOf('a'), '', { signal: abort.signal });
      await clock.advance(3_600_000);
      abort.abort(new Error('no patience'));
      await expect(call).rejects.toThrow('no patience');
      expect(await runtime.listPodSandboxes()).toHaveLength(count);
    }
    expect(controller.signal.aborted).toBe(false);
  });

  it('takes effect late, or answers late with what was true', async () => {
    setUp();
    const { id } = await runPod('a');
    runtime.fail({ call: 'ListContainers', fault: { kind: 'late-answer', ms: 1000 } });
    const old = runtime.listContainers();
    runtime.fail({ call: 'ListContainers', fault: { kind: 'latency', ms: 1000 } });
    const late = runtime.listContainers();
    runtime.killContainer(id, { exitCode: 9, reason: 'OOMKilled' });
    await clock.advance(1000);
    expect(await old).toMatchObject([{ state: 'running' }]);
    expect(await late).toMatchObject([{ state: 'exited' }]);
    expect(await runtime.containerStatus(id)).toMatchObject({ exitCode: 9, reason: 'OOMKilled' });
  });

  it('is chosen by what it is about, by number and by chance', async () => {
    setUp();
    const { id } = await runPod('a');
    const chances = [0.4, 0.6, 0.1];
    const random = () => chances.shift() ?? 1;
    const byChance = runtime.fail({ about: id, fault: { kind: 'error', error: 'failed' }, probability: 0.5, random });
    const outcomes: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      outcomes.push(
        await runtime.containerStatus(id).then(
          ({ state }) => state,
          () => 'error',
        ),
      );
    }
    expect(outcomes).toEqual(['error', 'running', 'error']);
    byChance.remove();
    const handle = runtime.fail({ call: 'ContainerStatus', times: 2, fault: { kind: 'error', error: 'failed' } });
    await runtime.containerStatus(id).catch(() => {});
    expect(handle.remaining).toBe(1);
    runtime.heal();
    await expect(runtime.containerStatus(id)).resolves.toMatchObject({ state: 'running' });
  });

  it('is aborted before it is made', async () => {
    const controller = setUp();
    controller.abort(new Error('not now'));
    await expect(runtime.version({ signal: controller.signal })).rejects.toThrow('not now');
    expect(runtime.calls).toEqual([]);
  });
});

describe('events', () => {
  it('tell of everything that happens while somebody reads, with what is there right after', async () => {
    const controller = setUp();
    await runPod('a');
    const { events, end } = read(controller.signal);
    const { sandboxID, id } = await runPod('b');
    void runtime.stopContainer(id, 10);
    await clock.advance(500);
    await runtime.removePodSandbox(sandboxID);
    await settle();
    const told = events.map(
      ({ type, containerID, podUID }) => `${type} ${containerID === id ? 'container' : 'sandbox'} ${podUID}`,
    );
    expect(told).toEqual([
      'created sandbox b',
      'started sandbox b',
      'created container b',
      'started container b',
      'stopped container b',
      'stopped sandbox b',
      'deleted container b',
      'deleted sandbox b',
    ]);
    expect(events[4]).toMatchObject({ containers: [{ id, state: 'exited' }], sandbox: { id: sandboxID, state: 'ready' } });
    controller.abort();
    expect(await end).toBeUndefined();
  });

  it('get lost on demand, and the history does not', async () => {
    const controller = setUp();
    const { events } = read(controller.signal);
    const { id } = await runPod('a');
    await settle();
    runtime.loseEvents({ about: id });
    runtime.killContainer(id);
    await runtime.removeContainer(id);
    await settle();
    expect(events.map(({ type }) => type)).toEqual(['created', 'started', 'created', 'started', 'deleted']);
    expect(runtime.history.slice(-2)).toMatchObject([
      { type: 'stopped', what: 'container', exitCode: 137 },
      { type: 'deleted', what: 'container' },
    ]);
    controller.abort();
  });
});

describe('a restart', () => {
  it('ends events and calls under way, and leaves containers alone', async () => {
    const controller = setUp();
    const { id } = await runPod('a');
    const { end } = read(controller.signal);
    const stopping = runtime.stopContainer(id, 10).catch((error: unknown) => error);
    await settle();
    runtime.restart({ downMs: 2000 });
    expect(await stopping).toMatchObject({ kind: 'unavailable' });
    expect(await end).toMatchObject({ kind: 'unavailable' });
    expect(await read(controller.signal).end).toMatchObject({ kind: 'unavailable' });
    await expect(runtime.version()).rejects.toMatchObject({ kind: 'unavailable' });
    await clock.advance(2000);
    expect(await runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 0 });
  });

  it('of a closed runtime does nothing, and no timer is left', async () => {
    setUp();
    const { id } = await runPod('a');
    void runtime.stopContainer(id, 10).catch(() => {});
    runtime.restart({ downMs: 1000 });
    await runtime.close();
    runtime.restart();
    await expect(runtime.version()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(clock.pendingTimers).toBe(0);
  });
});
