import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import { CriRuntime, type CriRuntimeOptions } from '../../../../src/cri.ts';
import { isRuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { failureOf, setUp } from './setup.ts';

describe('a call that the runtime refuses', () => {
  it.each([
    [3, 'invalid', 'InvalidArgument'],
    [4, 'timeout', 'DeadlineExceeded'],
    [5, 'not-found', 'NotFound'],
    [6, 'already-exists', 'AlreadyExists'],
    [11, 'invalid', 'OutOfRange'],
    [12, 'unimplemented', 'Unimplemented'],
    [14, 'unavailable', 'Unavailable'],
    [1, 'unavailable', 'Canceled'],
    [2, 'failed', 'Unknown'],
    [7, 'failed', 'PermissionDenied'],
    [8, 'failed', 'ResourceExhausted'],
    [9, 'failed', 'FailedPrecondition'],
    [10, 'failed', 'Aborted'],
    [13, 'failed', 'Internal'],
    [15, 'failed', 'DataLoss'],
    [16, 'failed', 'Unauthenticated'],
  ])('with code %i rejects with kind %s, in the words of Go', async (code, kind, name) => {
    const { runtime } = await setUp({ StartContainer: () => ({ code, details: 'it is so' }) });
    const failure = await failureOf(runtime.startContainer('c'));
    expect(isRuntimeError(failure)).toBe(true);
    expect(failure).toMatchObject({
      name: 'RuntimeError',
      code: 'ERR_RUNTIME',
      kind,
      call: 'StartContainer',
      message: `rpc error: code = ${name} desc = it is so`,
    });
  });

  it('is known by its code, whatever its name', () => {
    const ofAnotherCopy = Object.assign(new Error('gone'), { code: 'ERR_RUNTIME', kind: 'not-found', name: 'OwnError' });
    expect([isRuntimeError(ofAnotherCopy, 'not-found'), isRuntimeError(ofAnotherCopy, 'timeout')]).toEqual([true, false]);
    expect(isRuntimeError(Object.assign(new Error('gone'), { name: 'RuntimeError', kind: 'not-found' }))).toBe(false);
  });

  it('is logged at level debug', async () => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const debug = (fields: object, message: string): number => lines.push({ ...fields, message });
    const logger: Logger = { debug, info: nothing, warn: nothing, error: nothing };
    const { runtime } = await setUp({}, { logger });
    const err = await failureOf(runtime.startContainer('c'));
    expect(lines).toEqual([{ method: 'StartContainer', err, message: 'a call to the container runtime has failed' }]);
  });

  it('succeeds where it ends what is not there', async () => {
    const gone = () => ({ code: 5, details: 'gone' });
    const names = ['StopPodSandbox', 'RemovePodSandbox', 'StopContainer', 'RemoveContainer', 'RemoveImage'];
    const { runtime, server } = await setUp(Object.fromEntries(names.map((name) => [name, gone])));
    await runtime.stopPodSandbox('s');
    await runtime.removePodSandbox('s');
    await runtime.stopContainer('c', 1);
    await runtime.removeContainer('c');
    await runtime.removeImage('i');
    expect(server.names()).toEqual(names);
  });

  it('still fails where ending fails for another reason', async () => {
    const { runtime } = await setUp({ RemoveContainer: () => ({ code: 2, details: 'device busy' }) });
    expect(await failureOf(runtime.removeContainer('c'))).toMatchObject({ kind: 'failed' });
  });

  it('is no failure where the runtime does not know the cgroup driver', async () => {
    const { runtime } = await setUp();
    expect(await runtime.cgroupDriver()).toBeUndefined();
  });
});

describe('a malformed answer', () => {
  it.each([
    ['bytes that are no message', Buffer.from([0xff, 0xff, 0xff])],
    ['a message that is cut off', Buffer.from([0x0a, 0x20, 0x61])],
  ])('of %s rejects the call, and only that one', async (_, bytes) => {
    let answer: Buffer | object = bytes;
    const { runtime } = await setUp({ Version: () => answer });
    expect(await failureOf(runtime.version())).toMatchObject({ name: 'RuntimeError', kind: 'failed', call: 'Version' });
    answer = { runtimeName: 'test', runtimeVersion: '2', runtimeApiVersion: 'v1' };
    expect(await runtime.version()).toEqual(answer);
  });

  it('that lacks what it is for rejects the call', async () => {
    const names = ['RunPodSandbox', 'CreateContainer', 'PodSandboxStatus', 'ContainerStatus', 'PullImage', 'Exec', 'Attach'];
    const { runtime } = await setUp(Object.fromEntries([...names, 'PortForward'].map((name) => [name, () => ({})])));
    const stream = { tty: false, stdin: false, stdout: true, stderr: false };
    const [sandbox, container] = [sandboxConfigOf('a'), containerConfigOf('a')];
    const calls = {
      RunPodSandbox: runtime.runPodSandbox(sandbox, ''),
      CreateContainer: runtime.createContainer('s', container, sandbox),
      PodSandboxStatus: runtime.podSandboxStatus('s'),
      ContainerStatus: runtime.containerStatus('c'),
      PullImage: runtime.pullImage('i'),
      Exec: runtime.exec('c', ['ls'], stream),
      Attach: runtime.attach('c', stream),
      PortForward: runtime.portForward('s', [80]),
    };
    for (const [call, promise] of Object.entries(calls)) {
      expect(await failureOf(promise)).toMatchObject({ kind: 'failed', call, message: expect.stringContaining('Internal') });
    }
  });

  it('longer than 16 MiB rejects the call, of a command one that has more than 1 MiB', async () => {
    const mebibyte = 1024 * 1024;
    const tooLong = { kind: 'failed', message: expect.stringMatching(/ResourceExhausted .* larger than max/) };
    let stdout = new Uint8Array(mebibyte);
    const name = 'x'.repeat(16 * mebibyte);
    const { runtime } = await setUp({ ExecSync: () => ({ stdout, exitCode: 0 }), Version: () => ({ runtimeName: name }) });
    expect((await runtime.execSync('c', ['cat'], 1)).stdout).toHaveLength(mebibyte);
    stdout = new Uint8Array(mebibyte + 100);
    expect(await failureOf(runtime.execSync('c', ['cat'], 1))).toMatchObject(tooLong);
    expect(await failureOf(runtime.version())).toMatchObject(tooLong);
  });
});

describe('a request that no message can hold', () => {
  it.each([
    ['a number that is no integer', { resources: { cpuQuota: 0.5 } }],
    ['a number that is not there', { resources: { cpuShares: Number.NaN } }],
    ['an attempt below 0', { metadata: { name: 'app', attempt: -1 } }],
    ['an unknown signal', { stopSignal: 'SIGNOPE' }],
    ['a property of every object as a signal', { stopSignal: 'toString' }],
  ])('%s rejects with kind invalid, and nothing is sent', async (_, more) => {
    const { runtime, server } = await setUp();
    const call = runtime.createContainer('s', containerConfigOf('a', 'app', 0, more), sandboxConfigOf('a'));
    expect(await failureOf(call)).toMatchObject({ kind: 'invalid', call: 'CreateContainer' });
    expect(server.seen).toEqual([]);
  });
});

describe('an option', () => {
  it.each([
    ['socketPath', undefined],
    ['socketPath', 'relative.sock'],
    ['socketPath', '/with\0null'],
    ['imageSocketPath', ''],
    ['callTimeoutMs', 0],
    ['callTimeoutMs', '5'],
    ['callTimeoutMs', 2 ** 31],
    ['clock', {}],
    ['logger', {}],
    ['timeout', 5],
  ])('%s: %j is refused', (name, value) => {
    const options = { socketPath: '/run/cri.sock', [name]: value } as unknown as CriRuntimeOptions;
    expect(() => new CriRuntime(options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => new CriRuntime(options)).toThrow(name);
  });
});
