import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CriRuntime } from '../../../../src/cri.ts';
import { isRuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { CriServer } from './cri-server.ts';
import { failureOf, setUp } from './setup.ts';

const silent = () => 'nothing' as const;

/** Asks until the runtime answers: the connection is made again a moment after the runtime is there. */
async function answerOf(runtime: CriRuntime): Promise<string> {
  let name: string | undefined;
  await until(async () => {
    try {
      name = (await runtime.version()).runtimeName;
    } catch (error) {
      if (!isRuntimeError(error, 'unavailable')) throw error;
    }
    return name !== undefined;
  });
  return name ?? '';
}

describe('a runtime that is not there', () => {
  it('fails each call with kind unavailable, in no virtual time', async () => {
    const socketPath = join(await tempDir(), 'none.sock');
    const runtime = new CriRuntime({ socketPath, clock: new FakeClock(), logger: null });
    onTestFinished(() => runtime.close());
    const failures = await Promise.all([failureOf(runtime.version()), failureOf(runtime.listImages())]);
    const expected = { kind: 'unavailable', message: expect.stringContaining('rpc error: code = Unavailable desc = ') };
    expect(failures).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
  });

  it('is found at a path with a slash too many', async () => {
    const server = await CriServer.start({ Version: () => ({ runtimeName: 'here' }) });
    const runtime = new CriRuntime({ socketPath: `/${server.socketPath}`, clock: new FakeClock(), logger: null });
    onTestFinished(() => runtime.close());
    expect(await answerOf(runtime)).toBe('here');
  });

  it('is found when it comes', async () => {
    const answers = { Version: () => ({ runtimeName: 'late' }) };
    const server = await CriServer.start(answers);
    server.kill();
    const runtime = new CriRuntime({ socketPath: server.socketPath, clock: new FakeClock(), logger: null });
    onTestFinished(() => runtime.close());
    expect(await failureOf(runtime.version())).toMatchObject({ kind: 'unavailable' });
    await server.listen();
    expect(await answerOf(runtime)).toBe('late');
  });
});

describe('a runtime that restarts', () => {
  it('fails the calls under way with kind unavailable, and answers the next ones when it is back', async () => {
    const { runtime, server } = await setUp({
      RunPodSandbox: silent,
      PullImage: silent,
      Version: () => ({ runtimeName: 'back' }),
    });
    expect(await answerOf(runtime)).toBe('back');
    const { signal } = new AbortController();
    const underWay = [failureOf(runtime.pullImage('a', { signal })), failureOf(runtime.pullImage('b'))];
    await until(() => server.seen.length === 3);
    server.kill();
    for (const failure of await Promise.all(underWay)) expect(failure).toMatchObject({ kind: 'unavailable', call: 'PullImage' });
    await server.listen();
    expect(await answerOf(runtime)).toBe('back');
  });

  it('ends the stream of events with kind unavailable, and gives a new one when it is back', async () => {
    const { runtime, server } = await setUp({ Version: () => ({ runtimeName: 'back' }) });
    const { signal } = new AbortController();
    const first = runtime.events(signal)[Symbol.asyncIterator]();
    await until(() => server.seen.length === 1);
    server.kill();
    expect(await failureOf(first.next())).toMatchObject({ kind: 'unavailable', call: 'GetContainerEvents' });
    await server.listen();
    await answerOf(runtime);
    const calls = server.names().filter((name) => name === 'GetContainerEvents').length;
    void runtime
      .events(signal)
      [Symbol.asyncIterator]()
      .next()
      .catch(() => {});
    await until(() => server.names().filter((name) => name === 'GetContainerEvents').length === calls + 1);
    expect(server.names().at(-1)).toBe('GetContainerEvents');
  });
});

describe('close', () => {
  it('rejects calls under way and later ones with kind unavailable, and may be called twice', async () => {
    const { runtime, server, clock } = await setUp({ Version: silent, ListImages: silent });
    const underWay = [failureOf(runtime.version()), failureOf(runtime.listImages())];
    await until(() => server.seen.length === 2);
    await runtime.close();
    await runtime.close();
    const later = failureOf(runtime.version());
    for (const failure of await Promise.all([...underWay, later])) expect(failure).toMatchObject({ kind: 'unavailable' });
    expect(clock.pendingTimers).toBe(0);
    await until(() => server.seen.every(({ isCancelled }) => isCancelled));
  });

  it('ends the stream of events, also one that nobody reads', async () => {
    const { runtime, server } = await setUp();
    const { signal } = new AbortController();
    const read = failureOf(runtime.events(signal)[Symbol.asyncIterator]().next());
    runtime.events(signal);
    await until(() => server.seen.length === 2);
    await runtime.close();
    expect(await read).toMatchObject({ kind: 'unavailable', call: 'GetContainerEvents' });
    await until(() => server.seen.every(({ isCancelled }) => isCancelled));
  });
});

describe('imageSocketPath', () => {
  it('gets the calls about images, and no other', async () => {
    const images = await CriServer.start({ ListImages: () => ({}), PullImage: () => ({ imageRef: 'sha256:1' }) });
    const { runtime, server } = await setUp({ Version: () => ({}) }, { imageSocketPath: images.socketPath });
    await runtime.version();
    expect(await runtime.listImages()).toEqual([]);
    expect(await runtime.pullImage('busybox')).toBe('sha256:1');
    expect([server.names(), images.names()]).toEqual([['Version'], ['ListImages', 'PullImage']]);
    await runtime.close();
    expect(await failureOf(runtime.listImages())).toMatchObject({ kind: 'unavailable' });
  });
});
