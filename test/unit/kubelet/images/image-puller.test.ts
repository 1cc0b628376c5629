import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ImagePuller } from '../../../../src/kubelet/images/image-puller.ts';
import type { ImagePullerOptions } from '../../../../src/kubelet/images/image-puller-options.ts';
import type { PullSecret } from '../../../../src/kubelet/images/keyring.ts';
import { PullBackoff } from '../../../../src/kubelet/images/pull-backoff.ts';
import { PullRecords } from '../../../../src/kubelet/images/pull-records.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import type { FakeRuntimeOptions } from '../../../../src/testing/runtime/fake-runtime-options.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

function worldOf(options: FakeRuntimeOptions & { readonly puller?: Partial<ImagePullerOptions> } = {}) {
  const { puller: ofPuller = {}, ...ofRuntime } = options;
  const clock = new FakeClock();
  const runtime = new FakeRuntime({ ...ofRuntime, clock });
  const events: string[] = [];
  const event = (_: Pod, type: string, reason: string, message: string) => void events.push(`${type} ${reason}: ${message}`);
  const puller = new ImagePuller({
    runtime,
    recordsDirectory: undefined,
    maxParallelImagePulls: 5,
    credentialVerification: 'NeverVerifyPreloadedImages',
    eventRecorder: { event },
    clock,
    logger: silentLogger,
    ...ofPuller,
  });
  const ensure = (
    image: string,
    imagePullPolicy: string | undefined = 'IfNotPresent',
    { pullSecrets = [] as PullSecret[], uid = 'web', signal = never } = {},
  ) => {
    const pod = buildPod({ metadata: { uid } });
    return puller.ensureImage({ pod, container: { name: 'app', image, imagePullPolicy }, pullSecrets }, signal);
  };
  const pulls = () => runtime.calls.filter(({ call }) => call === 'PullImage').map(({ about }) => about);
  return { clock, runtime, events, puller, ensure, pulls };
}

function secretOf(username: string, password = 'p', name = username): PullSecret {
  const auths = { 'quay.io': { username, password } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  return { metadata: { name, namespace: 'default', uid: `uid-of-${name}` }, type: 'kubernetes.io/dockerconfigjson', data };
}

describe('the policy', () => {
  it('IfNotPresent pulls what is not there', async () => {
    const world = worldOf();
    const first = await world.ensure('app:1');
    expect(await world.ensure('app:1')).toEqual(first);
    expect(world.pulls()).toEqual(['app:1']);
    expect(world.events.at(-1)).toBe(
      'Normal Pulled: Container image "app:1" already present on machine and can be accessed by the pod',
    );
  });

  it('Always pulls what is there', async () => {
    const world = worldOf({ images: ['app:1'] });
    await world.ensure('app:1', 'Always');
    expect(world.pulls()).toEqual(['app:1']);
  });

  it('Never pulls nothing', async () => {
    const world = worldOf({ images: ['app:1'] });
    await world.ensure('app:1', 'Never');
    await expect(world.ensure('other:1', 'Never')).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
    expect(world.pulls()).toEqual([]);
    expect(world.events.at(-1)).toBe(
      'Warning ErrImageNeverPull: Container image "other:1" is not present with pull policy of Never',
    );
  });

  it('that is left out is Always for the tag latest, else IfNotPresent', async () => {
    const world = worldOf({ images: ['app', 'app:1'] });
    await world.puller.ensureImage({ pod: buildPod(), container: { name: 'app', image: 'app' }, pullSecrets: [] }, never);
    await world.puller.ensureImage({ pod: buildPod(), container: { name: 'app', image: 'app:1' }, pullSecrets: [] }, never);
    expect(world.pulls()).toEqual(['app:latest']);
  });
});

describe('an image', () => {
  it('whose name is none is refused', async () => {
    const world = worldOf();
    const message = 'Failed to apply default image tag "A B": couldn\'t parse image name "A B"';
    await expect(world.ensure('A B')).rejects.toMatchObject({ reason: 'InvalidImageName' });
    expect(world.events[0]).toContain(`Warning InspectFailed: ${message}`);
  });

  it('that cannot be looked at is not pulled', async () => {
    const world = worldOf();
    world.runtime.fail({ call: 'ImageStatus', fault: { kind: 'error', error: 'failed', message: 'broken' } });
    await expect(world.ensure('app:1')).rejects.toMatchObject({ reason: 'ImageInspectError' });
    expect(world.pulls()).toEqual([]);
  });

  it('that two need at once is pulled once', async () => {
    const world = worldOf({ registry: () => ({ pullMs: 1000 }) });
    const both = Promise.all([
      world.ensure('app:1', 'IfNotPresent', { uid: 'a' }),
      world.ensure('app:1', 'Always', { uid: 'b' }),
    ]);
    await settle(20);
    await world.clock.advance(1000);
    const [one, other] = await both;
    expect(one.imageRef).toBe(other.imageRef);
    expect(world.pulls()).toEqual(['app:1']);
  });

  it('goes on for the other when one gives up', async () => {
    const world = worldOf({ registry: () => ({ pullMs: 1000 }) });
    const controller = new AbortController();
    const one = world.ensure('app:1', 'Always', { uid: 'a', signal: controller.signal });
    const other = world.ensure('app:1', 'Always', { uid: 'b' });
    await settle(20);
    controller.abort(new Error('gave up'));
    await expect(one).rejects.toThrow('gave up');
    await world.clock.advance(1000);
    expect((await other).image.repoTags).toEqual(['docker.io/library/app:1']);
  });

  it('waits while as many as may be are pulled', async () => {
    const world = worldOf({ registry: () => ({ pullMs: 1000 }), puller: { maxParallelImagePulls: 2 } });
    const all = Promise.all(['a', 'b', 'c'].map((name) => world.ensure(`${name}:1`)));
    await settle(20);
    expect(world.pulls()).toEqual(['a:1', 'b:1']);
    await world.clock.advance(1000);
    await settle(20);
    expect(world.pulls()).toEqual(['a:1', 'b:1', 'c:1']);
    await world.clock.advance(1000);
    await all;
  });
});

describe('a pull that fails', () => {
  it('is repeated after a wait that grows, for its pod alone', async () => {
    const world = worldOf();
    const fail = () => world.ensure('no-such-image:1');
    await expect(fail()).rejects.toMatchObject({ reason: 'ErrImagePull', until: world.clock.now() + 10_000 });
    await expect(fail()).rejects.toMatchObject({ reason: 'ImagePullBackOff', until: world.clock.now() + 10_000 });
    expect(world.events.at(-1)).toBe('Normal BackOff: Back-off pulling image "no-such-image:1"');
    await expect(world.ensure('no-such-image:1', 'Always', { uid: 'other' })).rejects.toMatchObject({ reason: 'ErrImagePull' });
    expect(world.pulls().length).toBe(2);
    await world.clock.advance(10_000);
    await expect(fail()).rejects.toMatchObject({ reason: 'ErrImagePull', until: world.clock.now() + 20_000 });
    await world.clock.advance(20_000);
    world.puller.forgetPod('web');
    await expect(fail()).rejects.toMatchObject({ until: world.clock.now() + 10_000 });
  });

  it('says what it said, while it waits', async () => {
    const world = worldOf({ registry: () => ({ error: 'SignatureValidationFailed: nobody signed it' }) });
    const message = 'image pull failed for app:1 because the signature validation failed: nobody signed it';
    await expect(world.ensure('app:1')).rejects.toMatchObject({ reason: 'SignatureValidationFailed', message });
    await expect(world.ensure('app:1')).rejects.toMatchObject({
      message: `Back-off pulling image "app:1": SignatureValidationFailed: ${message}`,
    });
  });
});

describe('an image that was pulled with credentials', () => {
  const image = 'quay.io/team/app:1';
  const registry: FakeRuntimeOptions['registry'] = (_, auth) => (auth?.username?.startsWith('friend') ? {} : { error: 'denied' });

  it('is there for pods with the same credentials alone', async () => {
    const world = worldOf({ registry });
    await world.ensure(image, 'IfNotPresent', { pullSecrets: [secretOf('stranger'), secretOf('friend')] });
    expect(world.pulls().length).toBe(2);
    await world.ensure(image, 'IfNotPresent', { uid: 'b', pullSecrets: [secretOf('friend')] });
    await world.ensure(image, 'Never', { uid: 'c', pullSecrets: [secretOf('friend', 'p', 'same-content')] });
    await world.ensure(image, 'Never', { uid: 'd', pullSecrets: [secretOf('friend', 'new-password')] });
    expect(world.pulls().length).toBe(2);
    await expect(world.ensure(image, 'IfNotPresent', { uid: 'e' })).rejects.toMatchObject({ reason: 'ErrImagePull' });
    await expect(world.ensure(image, 'Never', { uid: 'f' })).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
    expect(world.events.join()).not.toContain('password');
  });

  it('that came with the node is there for every pod', async () => {
    const world = worldOf({ registry, images: [image] });
    await world.ensure(image);
    expect(world.pulls()).toEqual([]);
    const strict = worldOf({ registry, images: [image], puller: { credentialVerification: 'AlwaysVerify' } });
    await expect(strict.ensure(image)).rejects.toMatchObject({ reason: 'ErrImagePull' });
  });

  it('stays so after a restart, also where the pull was cut off', async () => {
    const recordsDirectory = await mkdtemp(path.join(tmpdir(), 'image-records-'));
    folders.push(recordsDirectory);
    const first = worldOf({ registry, puller: { recordsDirectory } });
    await first.ensure(image, 'IfNotPresent', { pullSecrets: [secretOf('friend')] });
    const { runtime } = first;
    const { puller } = worldOf({ puller: { runtime, recordsDirectory } });
    const container = { name: 'app', image, imagePullPolicy: 'Never' };
    const ensure = (pullSecrets: PullSecret[]) => puller.ensureImage({ pod: buildPod(), container, pullSecrets }, never);
    await ensure([secretOf('friend')]);
    await expect(ensure([])).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
    expect(await readdir(path.join(recordsDirectory, 'pulling'))).toEqual([]);

    // the image came, and the process ended before it could say with whose credentials
    runtime.fail({ call: 'PullImage', fault: { kind: 'hang-after' } });
    const other = 'quay.io/team/other:1';
    void first.ensure(other, 'IfNotPresent', { pullSecrets: [secretOf('friend')] });
    await until(async () => (await readdir(path.join(recordsDirectory, 'pulling'))).length === 1);
    await until(async () => (await runtime.imageStatus(other)) !== undefined);
    const { puller: next } = worldOf({ puller: { runtime, recordsDirectory } });
    const request = { pod: buildPod(), container: { ...container, image: other }, pullSecrets: [] };
    await expect(next.ensureImage(request, never)).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
  });

  it('is forgotten with the image', async () => {
    const recordsDirectory = await mkdtemp(path.join(tmpdir(), 'image-records-'));
    folders.push(recordsDirectory);
    const world = worldOf({ registry, puller: { recordsDirectory } });
    const { imageRef } = await world.ensure(image, 'IfNotPresent', { pullSecrets: [secretOf('friend')] });
    await world.puller.forgetImages(async () => new Set([imageRef]));
    expect((await readdir(path.join(recordsDirectory, 'pulled'))).length).toBe(1);
    await world.puller.forgetImages(async () => new Set());
    expect(await readdir(path.join(recordsDirectory, 'pulled'))).toEqual([]);
  });

  it('stays for an image that is pulled while the runtime lists', async () => {
    const recordsDirectory = await mkdtemp(path.join(tmpdir(), 'image-records-'));
    folders.push(recordsDirectory);
    const world = worldOf({ registry, puller: { recordsDirectory } });
    const pullSecrets = [secretOf('friend')];
    await world.ensure(image, 'IfNotPresent', { pullSecrets });
    await world.puller.forgetImages(async () => {
      await world.ensure(image, 'Always', { pullSecrets });
      return new Set();
    });
    expect((await readdir(path.join(recordsDirectory, 'pulled'))).length).toBe(1);
    // the image is still no pod's that has no credentials
    await expect(world.ensure(image, 'Never')).rejects.toMatchObject({ reason: 'ErrImageNeverPull' });
  });

  it('is kept of a hundred repositories of one image', async () => {
    const records = new PullRecords(undefined);
    const source = { uid: '1', namespace: 'd', name: 's', credentialHash: 'h' };
    for (let index = 0; index < 150; index += 1)
      await records.add('sha256:a', `quay.io/r${index}`, { kubernetesSecrets: [source] }, 'now');
    expect(await records.find('sha256:a', 'quay.io/r49')).toBeUndefined();
    expect(await records.find('sha256:a', 'quay.io/r50')).toBeDefined();
    expect(await records.find('sha256:a', 'quay.io/r149')).toBeDefined();
  });
});

describe('waits after pulls that failed', () => {
  const backoffOf = (clock: FakeClock) => new PullBackoff({ baseMs: 10_000, maxMs: 300_000, clock });

  it('are forgotten once they would begin anew, also of a pull that then succeeded', async () => {
    const clock = new FakeClock();
    const backoff = backoffOf(clock);
    backoff.failed('a', 'app:1', 'no');
    backoff.failed('b', 'app:1', 'no');
    backoff.forgetImage('b', 'app:1');
    backoff.gc();
    expect(backoff.size).toBe(2);
    await clock.advance(600_001);
    backoff.gc();
    expect([backoff.size, backoff.waits('a', 'app:1')]).toEqual([0, undefined]);
  });

  it('are forgotten with the pod, also of a pull that then succeeded', () => {
    const backoff = backoffOf(new FakeClock());
    backoff.failed('a', 'app:1', 'no');
    backoff.forgetImage('a', 'app:1');
    backoff.forget('a');
    expect(backoff.size).toBe(0);
  });

  it('are as long as they say, whatever the wall clock does', async () => {
    const clock = new FakeClock();
    const backoff = backoffOf(clock);
    backoff.failed('a', 'app:1', 'no');
    clock.jump(3_600_000);
    expect(backoff.waits('a', 'app:1')?.until).toBe(clock.now() + 10_000);
    clock.jump(-7_200_000);
    await clock.advance(4000);
    expect(backoff.waits('a', 'app:1')?.until).toBe(clock.now() + 6000);
    await clock.advance(6000);
    expect(backoff.waits('a', 'app:1')).toBeUndefined();
  });
});

describe('what others write', () => {
  it('is told shortened: an image name of a megabyte, an answer of a registry of a megabyte', async () => {
    const world = worldOf();
    const error = await world.ensure('x'.repeat(1_000_000)).catch((reason: unknown) => reason as Error);
    expect((error as Error).message.length).toBeLessThan(1000);
    world.runtime.fail({ call: 'PullImage', fault: { kind: 'error', error: 'failed', message: 'y'.repeat(1_000_000) } });
    const refused = await world.ensure('app:1').catch((reason: unknown) => reason as Error);
    expect((refused as Error).message.length).toBeLessThan(5000);
    expect(Math.max(...world.events.map(({ length }) => length))).toBeLessThan(5000);
  });
});
