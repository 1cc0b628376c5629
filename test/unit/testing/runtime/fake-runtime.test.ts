import { afterEach, describe, expect, it } from 'vitest';
import { isRuntimeError, RuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import { runtimeAnnotations } from '../../../../src/kubelet/runtime/runtime-sandboxes.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import type { FakeRuntimeOptions } from '../../../../src/testing/runtime/fake-runtime-options.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';

let made: FakeRuntime[] = [];
afterEach(async () => {
  await Promise.all(made.map((runtime) => runtime.close()));
  made = [];
});

function setUp(options: FakeRuntimeOptions = {}) {
  const clock = new FakeClock();
  const runtime = new FakeRuntime({ clock, images: ['busybox'], ...options });
  made.push(runtime);
  const startOne = async (uid = 'a', attempt = 0) => {
    const sandbox = sandboxConfigOf(uid);
    const [known] = await runtime.listPodSandboxes({ podUID: uid });
    const sandboxID = known?.id ?? (await runtime.runPodSandbox(sandbox, ''));
    const id = await runtime.createContainer(sandboxID, containerConfigOf(uid, 'app', attempt), sandbox);
    await runtime.startContainer(id);
    return { sandboxID, id };
  };
  return { clock, runtime, startOne };
}

/** What a promise has come to, after everything that is due has happened. */
function outcomeOf<T>(promise: Promise<T>): { value?: T; error?: unknown } {
  const outcome: { value?: T; error?: unknown } = {};
  promise.then(
    (value) => {
      outcome.value = value;
    },
    (error: unknown) => {
      outcome.error = error;
    },
  );
  return outcome;
}

describe('a container', () => {
  it('ends by itself when its time is over', async () => {
    const { clock, runtime, startOne } = setUp({ lives: () => ({ runsMs: 5000, exitCode: 3, message: 'bad' }) });
    const { id } = await startOne();
    await clock.advance(4999);
    expect(await runtime.containerStatus(id)).toMatchObject({ state: 'running', startedAt: clock.now() - 4999, finishedAt: 0 });
    await clock.advance(1);
    const ended = { state: 'exited', exitCode: 3, reason: 'Error', message: 'bad', finishedAt: clock.now() };
    expect(await runtime.containerStatus(id)).toMatchObject(ended);
  });

  it.each([
    ['ends at once when it listens', {}, 0, 0, 'Completed'],
    ['ends with its own exit code', { exitCode: 7 }, 0, 7, 'Error'],
    ['takes the time that it needs', { stopTakesMs: 3000 }, 3000, 0, 'Completed'],
    ['is killed when it needs longer', { stopTakesMs: 30_000 }, 10_000, 137, 'Error'],
    ['is killed when it does not listen', { ignoresSigterm: true }, 10_000, 137, 'Error'],
  ] as const)('that is stopped %s', async (_, life, afterMs, exitCode, reason) => {
    const { clock, runtime, startOne } = setUp({ lives: () => life });
    const { id } = await startOne();
    const startedAt = clock.now();
    const stopping = runtime.stopContainer(id, 10);
    await clock.advance(60_000);
    await stopping;
    expect(await runtime.containerStatus(id)).toMatchObject({
      state: 'exited',
      exitCode,
      reason,
      finishedAt: startedAt + afterMs,
    });
  });

  it('is killed sooner when it is stopped again with a shorter timeout, and not later with a longer one', async () => {
    const { clock, runtime, startOne } = setUp({ lives: () => ({ ignoresSigterm: true }) });
    const { id } = await startOne();
    const first = outcomeOf(runtime.stopContainer(id, 100));
    void runtime.stopContainer(id, 5);
    void runtime.stopContainer(id, 50);
    await clock.advance(4999);
    expect((await runtime.containerStatus(id)).state).toBe('running');
    await clock.advance(1);
    expect((await runtime.containerStatus(id)).state).toBe('exited');
    expect(first).toHaveProperty('value');
  });

  it('is killed when its time is over, also where the wall clock is set meanwhile', async () => {
    const { clock, runtime, startOne } = setUp({ lives: () => ({ ignoresSigterm: true }) });
    const { id } = await startOne();
    void runtime.stopContainer(id, 10);
    clock.jump(-3_600_000);
    void runtime.stopContainer(id, 60);
    await clock.advance(10_000);
    expect((await runtime.containerStatus(id)).state).toBe('exited');
  });

  it('tells why it could not be started', async () => {
    const { runtime, startOne } = setUp({ lives: () => ({ startError: 'exec: "nope": not found' }) });
    await expect(startOne()).rejects.toEqual(new RuntimeError('failed', 'StartContainer', 'exec: "nope": not found'));
    const [record] = await runtime.listContainers();
    expect(await runtime.containerStatus(record?.id ?? '')).toMatchObject({
      state: 'exited',
      exitCode: 128,
      reason: 'StartError',
    });
  });

  it('is not started twice, and never in a sandbox that has ended', async () => {
    const { runtime, startOne } = setUp();
    const { id, sandboxID } = await startOne();
    await expect(runtime.startContainer(id)).rejects.toMatchObject({ kind: 'failed' });
    const second = await runtime.createContainer(sandboxID, containerConfigOf('a', 'other'), sandboxConfigOf('a'));
    await runtime.stopPodSandbox(sandboxID);
    await expect(runtime.startContainer(second)).rejects.toMatchObject({ kind: 'failed' });
  });

  it('writes its log and its last words', async () => {
    const written: string[] = [];
    const files = {
      append: (path: string, text: string) => written.push(`${path}: ${text}`),
      write: (path: string, text: string) => written.push(`${path}= ${text}`),
    };
    const { runtime } = setUp({ files, lives: () => ({ logs: ['hello'], terminationMessage: 'bye' }) });
    const sandboxID = await runtime.runPodSandbox(sandboxConfigOf('a'), '');
    const mount = { containerPath: '/dev/last', hostPath: '/pods/a/last', readonly: false, selinuxRelabel: false };
    const config = containerConfigOf('a', 'app', 0, {
      mounts: [{ ...mount, propagation: 'private' }],
      annotations: { [runtimeAnnotations.terminationMessagePath]: '/dev/last' },
    });
    const id = await runtime.createContainer(sandboxID, config, sandboxConfigOf('a'));
    await runtime.startContainer(id);
    await runtime.stopContainer(id, 10);
    expect(written).toEqual([
      '/var/log/pods/default_pod-a_a/app/0.log: 2000-01-01T00:00:00.000000000Z stdout F hello\n',
      '/pods/a/last= bye',
    ]);
  });

  it('shows the image under all its names, and the limits that were set last', async () => {
    const { runtime, startOne } = setUp();
    const { id } = await startOne();
    await runtime.updateContainerResources(id, { cpuShares: 512 });
    const { image, imageRef, imageID, resources, logPath } = await runtime.containerStatus(id);
    expect(image).toBe('docker.io/library/busybox:latest');
    expect(imageRef).toMatch(/^docker\.io\/library\/busybox@sha256:/);
    expect(await runtime.imageStatus('busybox')).toMatchObject({ id: imageID, repoDigests: [imageRef] });
    expect(resources).toEqual({ cpuShares: 512 });
    expect(logPath).toBe('/var/log/pods/default_pod-a_a/app/0.log');
  });
});

describe('names', () => {
  it('are given once: of sandboxes by their metadata, of containers by name and attempt', async () => {
    const { runtime, startOne } = setUp();
    const { sandboxID } = await startOne();
    await expect(runtime.runPodSandbox(sandboxConfigOf('a'), '')).rejects.toMatchObject({ kind: 'already-exists' });
    const again = runtime.createContainer(sandboxID, containerConfigOf('a'), sandboxConfigOf('a'));
    await expect(again).rejects.toMatchObject({ kind: 'already-exists' });
    await expect(
      runtime.createContainer(sandboxID, containerConfigOf('a', 'app', 1), sandboxConfigOf('a')),
    ).resolves.toBeTruthy();
    await expect(runtime.runPodSandbox(sandboxConfigOf('a', 1), '')).resolves.toBeTruthy();
  });

  it('that are not there are not found, and are stopped and removed with success', async () => {
    const { runtime } = setUp();
    await expect(runtime.containerStatus('x')).rejects.toMatchObject({ kind: 'not-found' });
    await expect(runtime.podSandboxStatus('x')).rejects.toMatchObject({ kind: 'not-found' });
    await expect(runtime.startContainer('x')).rejects.toMatchObject({ kind: 'not-found' });
    await Promise.all([
      runtime.stopContainer('x', 1),
      runtime.removeContainer('x'),
      runtime.stopPodSandbox('x'),
      runtime.removePodSandbox('x'),
    ]);
  });
});

describe('a sandbox', () => {
  it('has an address of its own until it ends, and none in the network of the node', async () => {
    const { runtime } = setUp({ podCIDR: '10.9.8.0/29' });
    const run = async (uid: string) => runtime.runPodSandbox(sandboxConfigOf(uid), '');
    const ids = [await run('a'), await run('b'), await run('c'), await run('d'), await run('e')];
    const ips = await Promise.all(ids.map(async (id) => (await runtime.podSandboxStatus(id)).ips));
    expect(ips).toEqual([['10.9.8.2'], ['10.9.8.3'], ['10.9.8.4'], ['10.9.8.5'], ['10.9.8.6']]);
    await expect(run('f')).rejects.toMatchObject({ kind: 'failed' });
    const { linux } = sandboxConfigOf('g');
    const namespaces = { ...linux.securityContext.namespaces, network: 'node' as const };
    const onNode = { linux: { ...linux, securityContext: { ...linux.securityContext, namespaces } } };
    const onNodeID = await runtime.runPodSandbox(sandboxConfigOf('g', 0, onNode), '');
    expect((await runtime.podSandboxStatus(onNodeID)).ips).toEqual([]);
    await runtime.stopPodSandbox(ids[1] ?? '');
    expect(await runtime.podSandboxStatus(ids[1] ?? '')).toMatchObject({ state: 'notready', ips: [] });
    expect((await runtime.podSandboxStatus(await run('h'))).ips).toEqual(['10.9.8.3']);
  });

  it('kills what runs in it when it is stopped, and takes it along when it is removed', async () => {
    const { runtime, startOne } = setUp({ lives: () => ({ ignoresSigterm: true }) });
    const { id, sandboxID } = await startOne();
    await runtime.stopPodSandbox(sandboxID);
    expect(await runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 137 });
    await runtime.removePodSandbox(sandboxID);
    expect(await runtime.listContainers()).toEqual([]);
    expect(await runtime.listPodSandboxes()).toEqual([]);
  });

  it('is made by a handler that the runtime has', async () => {
    const { runtime } = setUp({ runtimeHandlers: ['', 'sandboxed'] });
    const id = await runtime.runPodSandbox(sandboxConfigOf('a'), 'sandboxed');
    expect(await runtime.podSandboxStatus(id)).toMatchObject({ runtimeHandler: 'sandboxed' });
    await expect(runtime.runPodSandbox(sandboxConfigOf('b'), 'gone')).rejects.toThrow('no runtime for "gone" is configured');
  });
});

describe('an image', () => {
  it('takes the time of its pull, and can be missing or broken', async () => {
    const registry = (image: string) =>
      image === 'slow' ? { pullMs: 2000 } : image === 'bad' ? { error: 'bad layer' } : undefined;
    const { clock, runtime } = setUp({ registry, images: [] });
    const slow = outcomeOf(runtime.pullImage('slow'));
    await clock.advance(1999);
    expect(slow).toEqual({});
    await clock.advance(1);
    expect(slow.value).toMatch(/^sha256:/);
    await expect(runtime.pullImage('bad')).rejects.toThrow('bad layer');
    await expect(runtime.pullImage('none')).rejects.toMatchObject({ kind: 'not-found' });
    expect((await runtime.listImages()).map(({ repoTags }) => repoTags)).toEqual([['docker.io/library/slow:latest']]);
    await runtime.removeImage(slow.value ?? '');
    expect(await runtime.imageStatus('slow')).toBeUndefined();
  });

  it('has to be there when a container is made', async () => {
    const { startOne } = setUp({ images: [] });
    await expect(startOne()).rejects.toMatchObject({ kind: 'not-found', call: 'CreateContainer' });
  });
});

describe('a command', () => {
  it('ends as it is scripted, or when its time is up', async () => {
    const exec = ({ command }: { readonly command: readonly string[] }) =>
      command[0] === 'sleep' ? { takesMs: 60_000 } : { exitCode: 2, stdout: 'out', stderr: 'err' };
    const { clock, runtime, startOne } = setUp({ exec });
    const { id } = await startOne();
    const { stdout, stderr, exitCode } = await runtime.execSync(id, ['true'], 0);
    expect([String(stdout), String(stderr), exitCode]).toEqual(['out', 'err', 2]);
    const late = outcomeOf(runtime.execSync(id, ['sleep'], 1));
    await clock.advance(1000);
    expect(isRuntimeError(late.error, 'timeout')).toBe(true);
    await runtime.stopContainer(id, 1);
    await expect(runtime.execSync(id, ['true'], 0)).rejects.toMatchObject({ kind: 'failed' });
  });
});

describe('statistics', () => {
  it('are those of what runs', async () => {
    const { clock, runtime, startOne } = setUp({ lives: () => ({ memoryBytes: 1000, cpuMillicores: 500 }) });
    const { id } = await startOne('a');
    const { id: other } = await startOne('b');
    await runtime.stopContainer(other, 1);
    await clock.advance(2000);
    const usage = { memoryWorkingSetBytes: 1000, cpuNanoseconds: 1_000_000_000 };
    expect(await runtime.listContainerStats()).toMatchObject([{ containerID: id, ...usage }]);
    expect(await runtime.listPodSandboxStats({ podUID: 'a' })).toMatchObject([{ ...usage, processes: 2 }]);
  });
});

describe('the options', () => {
  it.each([
    [{ live: () => ({}) }, 'options.live'],
    [{ lives: {} }, 'lives'],
    [{ clock: {} }, 'clock'],
    [{ files: {} }, 'files'],
    [{ registry: 1 }, 'registry'],
    [{ podCIDR: '10.0.0.0/31' }, 'podCIDR'],
  ])('%j are refused', (options, name) => {
    expect(() => new FakeRuntime(options as unknown as FakeRuntimeOptions)).toThrow(`\`${name}\``);
  });
});
