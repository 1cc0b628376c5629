import { describe, expect, it } from 'vitest';
import type { CriRuntime } from '../../../../src/cri.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { until } from '../../../support/until.ts';
import { failureOf, setUp } from './setup.ts';

const silent = () => 'nothing' as const;
const silence = {
  Version: silent,
  RunPodSandbox: silent,
  StopContainer: silent,
  ExecSync: silent,
  PullImage: silent,
  ListImages: silent,
};

describe('a call that the runtime does not answer', () => {
  it.each<[string, number, (runtime: CriRuntime) => Promise<unknown>]>([
    ['is cut off after 2 minutes', 120_000, (runtime) => runtime.version()],
    ['about images, too', 120_000, (runtime) => runtime.listImages()],
    ['for a sandbox after 4 minutes', 240_000, (runtime) => runtime.runPodSandbox(sandboxConfigOf('a'), '')],
    ['to stop a container after its grace and 2 minutes', 150_000, (runtime) => runtime.stopContainer('c', 30)],
    ['to run a command after its timeout and 2 minutes', 125_000, (runtime) => runtime.execSync('c', ['ls'], 5)],
    ['is never cut off later than a timer can be set', 2 ** 31 - 1, (runtime) => runtime.stopContainer('c', 10_000_000)],
  ])('%s', async (_, ms, call) => {
    const { runtime, server, clock } = await setUp(silence);
    const failure = failureOf(call(runtime));
    await until(() => server.seen.length === 1);
    let isOver = false;
    void failure.then(() => {
      isOver = true;
    });
    await clock.advance(ms - 1);
    expect([isOver, server.seen[0]?.isCancelled]).toEqual([false, false]);
    await clock.advance(1);
    const message = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded';
    expect(await failure).toMatchObject({ kind: 'timeout', message });
    await until(() => server.seen[0]?.isCancelled === true);
  });

  it.each<[string, (runtime: CriRuntime, signal: AbortSignal) => Promise<unknown>]>([
    ['an image is pulled', (runtime, signal) => runtime.pullImage('i', { signal })],
    ['a command has no timeout', (runtime, signal) => runtime.execSync('c', ['ls'], 0, { signal })],
  ])('is waited for while %s, until its signal aborts', async (_, call) => {
    const { runtime, server, clock } = await setUp(silence);
    const controller = new AbortController();
    const failure = failureOf(call(runtime, controller.signal));
    await until(() => server.seen.length === 1);
    await clock.advance(86_400_000);
    expect(server.seen[0]?.isCancelled).toBe(false);
    controller.abort(new Error('enough'));
    expect(await failure).toEqual(new Error('enough'));
    await until(() => server.seen[0]?.isCancelled === true);
  });

  it('is limited by callTimeoutMs', async () => {
    const { runtime, server, clock } = await setUp(silence, { callTimeoutMs: 50 });
    const failure = failureOf(runtime.version());
    await until(() => server.seen.length === 1);
    await clock.advance(50);
    expect(await failure).toMatchObject({ kind: 'timeout', call: 'Version' });
  });
});

describe('a signal', () => {
  it('that has aborted before sends nothing', async () => {
    const { runtime, server } = await setUp({ Version: () => ({}) });
    const reason = new Error('too late');
    expect(await failureOf(runtime.version({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    await settle();
    expect(server.seen).toEqual([]);
  });

  it('takes the call back from the runtime, and rejects at once with its reason', async () => {
    const { runtime, server } = await setUp(silence);
    const controller = new AbortController();
    const failure = failureOf(runtime.version({ signal: controller.signal }));
    await until(() => server.seen.length === 1);
    controller.abort('stop');
    expect(await failure).toBe('stop');
    await until(() => server.seen[0]?.isCancelled === true);
  });

  it('keeps no listener and no timer of a call that is over', async () => {
    const { runtime, clock } = await setUp({ Version: () => ({ runtimeName: 'test' }) });
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = new Proxy(signal, {
      get(target, key) {
        if (key === 'addEventListener') listeners += 1;
        if (key === 'removeEventListener') listeners -= 1;
        const value = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await runtime.version({ signal: counted });
    expect(listeners).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
