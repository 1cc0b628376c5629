import { describe, expect, it } from 'vitest';
import { StatusManagerError } from '../../../../src/index.ts';
import {
  cleanUpWords,
  containerWords,
  endWords,
  lateEndWords,
  preparationWords,
  syncWords,
} from '../../../../src/kubelet/pods/trouble-words.ts';
import { RuntimeError } from '../../../../src/kubelet.ts';
import { buildPod } from '../../../../src/testing.ts';

const pod = buildPod({ metadata: { name: 'web' } });
const app = { name: 'app', image: 'app:1' };
const ofContainer = (reason: string, message: string) => containerWords(pod, app, { reason, message }, undefined);

describe('the words for a container that cannot be started', () => {
  it.each([
    ['ErrImagePull', 'unauthorized: authentication required', 'image-credentials'],
    ['ErrImagePull', 'unexpected status from HEAD request: 403 Forbidden', 'image-credentials'],
    ['ErrImagePull', 'manifest unknown', 'image-not-found'],
    ['ErrImagePull', 'tls: failed to verify certificate: x509: certificate signed by unknown authority', 'image-pull'],
    ['ErrImagePull', 'i/o timeout', 'image-pull'],
    ['ImagePullBackOff', 'Back-off pulling image "app:1": ErrImagePull: not found', 'image-not-found'],
    ['RegistryUnavailable', 'image pull failed for app:1 because the registry is unavailable', 'registry-unavailable'],
    ['SignatureValidationFailed', 'no signature', 'signature-validation-failed'],
    ['ImageInspectError', 'Failed to inspect image "app:1": no', 'image-inspect-error'],
    ['CreateContainerConfigError', 'secret "login" not found', 'secret-missing'],
    ['CreateContainerConfigError', 'container has runAsNonRoot and image will run as root', 'create-container-config-error'],
    ['CreateContainerConfigError', 'ENOSPC: no space left on device, write', 'disk-full'],
    ['CreateContainerError', 'rpc error: mkdir /run/io: no space left on device', 'disk-full'],
    ['CreateContainerError', 'rpc error: no such device', 'create-container-error'],
    ['SomethingNew', 'who knows', 'container'],
    ['constructor', 'who knows', 'container'],
  ])('with reason %s: %s', (reason, message, kind) => {
    const words = ofContainer(reason, message);
    expect(words.kind).toBe(kind);
    expect(words.message).toMatch(/^the .*\bapp\b.*: /);
    expect(words.message.endsWith(message)).toBe(true);
    expect(words.help).toMatch(/^[A-Z].*\.$/);
  });

  it('take no part of the name of an image for what the registry says', () => {
    const image = 'registry.example:5000/authorization/denied:401';
    const failure = { reason: 'ErrImagePull', message: `failed to resolve reference "${image}": ${image}: not found` };
    expect(containerWords(pod, { name: 'app', image }, failure, undefined).kind).toBe('image-not-found');
  });

  it.each([
    ['ghcr.io/acme/auth:1', 'failed to authorize: failed to fetch token: 401 Unauthorized', 'image-credentials'],
    ['reg/o:1', 'failed to resolve reference "reg/o:1": reg/o:1: not found', 'image-not-found'],
    ['reg/found', 'reg/found:latest: not found', 'image-not-found'],
    ['not', 'failed to pull "not": docker.io/library/not:latest: not found', 'image-not-found'],
    ['denied', 'Back-off pulling image "denied": docker.io/library/denied:latest: not found', 'image-not-found'],
    ['denied', 'pull access denied', 'image-credentials'],
    ['forbidden.example:5000/a@sha256:0a', 'dial tcp: lookup forbidden.example: no such host', 'image-pull'],
    [
      'registry.example/denied/app:forbidden',
      'HEAD https://registry.example/v2/denied/app/manifests/forbidden: 404 Not Found',
      'image-not-found',
    ],
    ['', 'not found', 'image-not-found'],
    ['::', 'not found', 'image-not-found'],
  ])('take the name %j alone out of what a registry says: %s', (image, message, kind) => {
    const failure = { reason: 'ErrImagePull', message };
    expect(containerWords(pod, { name: 'app', image }, failure, undefined).kind).toBe(kind);
  });

  it('take no name of a container for a pattern', () => {
    const { message } = containerWords(pod, { name: '$&' }, { reason: 'RunContainerError', message: 'no' }, undefined);
    expect(message).toBe('the container $& could not be started: no');
  });

  it('have how it ended, at most 300 characters of what it said', () => {
    const end = { exitCode: 2, reason: 'Error', message: `${'x'.repeat(1000)} last words\n` };
    const { message } = containerWords(pod, app, { reason: 'CrashLoopBackOff', message: 'back-off' }, end);
    expect(message).toMatch(/^the container app ends again and again: exit code 2 \(Error\): x+ last words$/);
    expect(message.length).toBeLessThan(400);
    const unknown = containerWords(pod, app, { reason: 'CrashLoopBackOff', message: 'back-off 10s' }, undefined);
    expect(unknown.message).toBe('the container app ends again and again: back-off 10s');
  });
});

describe('the words for a pod', () => {
  it.each([
    [new Error('network is not ready: no plugin'), 'network-not-ready'],
    [new Error('unable to ensure pod container exists: no', { cause: new Error('no') }), 'pod-cgroup'],
    [new Error('x', { cause: new StatusManagerError('ERR_OVER_BUDGET', 'too many') }), 'over-budget'],
    [new Error("ENOSPC: no space left on device, mkdir '/p'"), 'disk-full'],
    [new Error('mount failed'), 'volume'],
  ])('that cannot be prepared: %s', (error, kind) => {
    expect(preparationWords(pod, error).kind).toBe(kind);
  });

  it('tell a runtime that is away from one that refuses', () => {
    const away = new RuntimeError('unavailable', 'RunPodSandbox', 'connection refused');
    const refuses = new RuntimeError('failed', 'RunPodSandbox', 'no space left on device');
    const failed = (cause: Error) => new Error(`Failed to create pod sandbox: ${cause.message}`, { cause });
    expect(syncWords(failed(away)).kind).toBe('runtime-down');
    expect(syncWords(failed(refuses))).toMatchObject({
      kind: 'sandbox',
      message: 'the sandbox of the pod could not be made: no space left on device',
      help: expect.stringContaining('crictl'),
    });
    expect(syncWords(refuses)).toMatchObject({
      kind: 'sync',
      message: 'the pod could not be synced: RunPodSandbox failed: no space left on device',
    });
  });

  it('name every call that could not end it, at most three', () => {
    const stop = new RuntimeError('failed', 'StopContainer', 'busy');
    const { message } = endWords(new Error('x', { cause: new AggregateError([stop, stop, stop, stop, stop]) }));
    expect(message).toBe(`the pod could not be ended: ${Array(3).fill('StopContainer failed: busy').join('; ')}`);
    expect(endWords(new Error('no')).message).toBe('the pod could not be ended: no');
    expect(cleanUpWords(new Error('no')).message).toBe('what the pod has left could not be removed: no');
    expect(lateEndWords(5, []).message).toBe('the pod has not ended within its grace period of 5 s');
  });

  it.each([
    ['preparationWords', (error: unknown) => preparationWords(pod, error), 'the volumes of the pod could not be mounted: busy'],
    ['syncWords', syncWords, 'the pod could not be synced: busy'],
    ['endWords', endWords, 'the pod could not be ended: busy'],
  ])('are plain where the cause of an error cannot be read: %s', (_, words, message) => {
    const error = Object.defineProperty(new Error('busy'), 'cause', {
      get: () => {
        throw new Error('no cause for you');
      },
    });
    expect(words(error)).toMatchObject({ message, help: expect.any(String) });
    expect(words(new Error('busy', { cause: error })).message).toBe(message);
  });

  it('end where an error holds itself, or others without end', () => {
    const itself = new AggregateError([], 'busy');
    itself.errors.push(itself, itself, itself, itself);
    for (const { message } of [endWords(itself), syncWords(new Error('x', { cause: itself }))]) {
      expect(message).toMatch(/^the pod could not be (ended|synced): busy(; busy){0,30}$/);
    }
    let deep = new AggregateError([], 'busy');
    for (let n = 0; n < 20_000; n += 1) deep = new AggregateError([deep], 'busy');
    expect(endWords(deep).message).toBe('the pod could not be ended: busy');
    const none = Object.assign(new AggregateError([], 'busy'), { errors: undefined });
    expect(endWords(none).message).toBe('the pod could not be ended: busy');
  });
});
