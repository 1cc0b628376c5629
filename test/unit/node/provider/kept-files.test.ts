import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NodePod } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import { settleWithFiles } from '../../../support/settle-with-files.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { FakeResolver } from './fake-resolver.ts';
import { ProviderWorld } from './provider-world.ts';

const spec = {
  containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'keys', mountPath: '/keys' }] }],
  volumes: [{ name: 'keys', secret: { secretName: 'db' } }],
};

/** Time passes in steps, and files are written meanwhile. */
async function pass(world: ProviderWorld, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await world.clock.advance(Math.min(1000, ms - passed));
    await settleWithFiles();
  }
}

async function started(podFilesFolder?: string): Promise<{ world: ProviderWorld; resolver: FakeResolver; folder: string }> {
  const resolver = new FakeResolver();
  const folder = podFilesFolder ?? (await tempDir());
  const world = new ProviderWorld({ resolver: resolver.asResolver, podFilesFolder: folder, nodeName: 'node-1' });
  return { world, resolver, folder };
}

const given = (world: ProviderWorld): NodePod | undefined => [...world.provider.pods.values()][0]?.pod as NodePod | undefined;
const fileOf = (world: ProviderWorld): string => join(given(world)?.volumeFolders?.keys ?? '/none', 'value');

describe('the files of pods, with a folder', () => {
  it('are there before createPod, in place of values, and gone once the pod is', async () => {
    const { world, folder, resolver } = await started();
    await using _ = world;
    const { metadata } = await world.create('web', { spec });
    await pass(world, 2000);
    expect(given(world)?.files).toBeUndefined();
    expect(given(world)?.volumeFolders).toEqual({ keys: join(folder, metadata?.uid ?? '', 'volumes', 'keys') });
    expect(await readFile(fileOf(world), 'utf8')).toBe('one');
    expect(resolver.held).toBe(0);
    expect(resolver.log).not.toContain('unregister web');
    await world.delete('web', 1);
    await pass(world, 3000);
    expect(world.isGone('web')).toBe(true);
    expect(await readdir(folder)).toEqual([]);
    expect(resolver.log.at(-1)).toBe('unregister web');
  });

  it('are looked at again after 60 to 90 s, and written where they have changed', async () => {
    const { world, resolver } = await started();
    await using _ = world;
    await world.create('web', { spec });
    await pass(world, 2000);
    resolver.value = 'two';
    await pass(world, 56_000);
    expect(await readFile(fileOf(world), 'utf8')).toBe('one');
    await pass(world, 36_000);
    expect(await readFile(fileOf(world), 'utf8')).toBe('two');
    expect(resolver.asked.at(-1)).toEqual({ containers: [] });
    resolver.value = 'three';
    await pass(world, 92_000);
    expect(await readFile(fileOf(world), 'utf8')).toBe('three');
    expect(resolver.held).toBe(0);
  });

  it('stay as they are while they cannot be made, and the pod says so until they can', async () => {
    const { world, resolver } = await started();
    await using _ = world;
    const { metadata } = await world.create('web', { spec });
    await pass(world, 2000);
    resolver.missing = 'files';
    await pass(world, 120_000);
    expect(await readFile(fileOf(world), 'utf8')).toBe('one');
    const events = world.events.filter((event) => event.includes('FailedMount'));
    expect(events).toEqual(['web Warning FailedMount: MountVolume.SetUp failed for volume "keys" : secret "db" not found']);
    expect(world.syncer.problemOf(metadata?.uid ?? '')).toMatchObject({ kind: 'secret-missing' });
    expect(world.status('web').phase).toBe('Running');
    resolver.missing = 'nothing';
    resolver.value = 'two';
    await pass(world, 16_000);
    expect(await readFile(fileOf(world), 'utf8')).toBe('two');
    expect(world.syncer.problemOf(metadata?.uid ?? '')).toBeUndefined();
  });

  it('hold the pod back where they cannot be written', async () => {
    const file = join(await tempDir(), 'file');
    await writeFile(file, '');
    const { world, resolver } = await started(join(file, 'below'));
    await using _ = world;
    const { metadata } = await world.create('web', { spec });
    await pass(world, 2000);
    expect(given(world)).toBeUndefined();
    expect(world.events.join()).toContain('FailedMount: MountVolume.SetUp failed for volume "keys" : ENOTDIR');
    expect(world.syncer.problemOf(metadata?.uid ?? '')?.kind).toBe('volume');
    expect(resolver.held).toBe(0);
  });

  it('hold the pod back where one volume cannot be written', async () => {
    const { world, resolver } = await started();
    await using _ = world;
    await world.create('web', {
      spec: { ...spec, volumes: [...spec.volumes, { name: 'No_Label', secret: { secretName: 'db' } }] },
    });
    await pass(world, 2000);
    expect(given(world)).toBeUndefined();
    expect(world.events.join()).toContain('FailedMount: MountVolume.SetUp failed for volume "No_Label"');
    expect(resolver.held).toBe(0);
  });

  it('are taken over by the next run of the agent, which removes those of pods that are gone', async () => {
    const first = await started();
    const { folder } = first;
    const { metadata } = await first.world.create('web', { spec });
    await first.world.create('gone', { spec });
    await pass(first.world, 2000);
    await first.world.stop();
    expect(await readdir(folder)).toHaveLength(2);
    const gone = [...first.world.provider.pods.values()].find(({ pod }) => pod.metadata?.name === 'gone')?.pod;
    first.world.provider.lose('gone');
    first.world.store.delete('default', 'gone', { gracePeriodSeconds: 0 });
    const resolver = new FakeResolver();
    resolver.value = 'two';
    const options = { resolver: resolver.asResolver, podFilesFolder: folder, nodeName: 'node-1' };
    await using world = await first.world.restart(options, true);
    await pass(world, 15_000);
    expect(world.provider.calls.filter((call) => call === 'createPod web')).toHaveLength(1);
    expect(await readFile(join(folder, metadata?.uid ?? '', 'volumes/keys/value'), 'utf8')).toBe('two');
    expect(await readdir(folder)).toEqual([metadata?.uid]);
    expect(gone?.metadata?.name).toBe('gone');
  });

  it('stay for a pod that only the provider has, until it has ended', async () => {
    const first = await started();
    const { folder } = first;
    const { metadata } = await first.world.create('web', { spec });
    await pass(first.world, 2000);
    await first.world.stop();
    first.world.store.delete('default', 'web', { gracePeriodSeconds: 0 });
    const { provider } = first.world;
    const deleted = Promise.withResolvers<void>();
    provider.next('deletePod', 'web', () => deleted.promise);
    const options = { resolver: new FakeResolver().asResolver, podFilesFolder: folder, nodeName: 'node-1' };
    await using world = await first.world.restart(options, true);
    await pass(world, 10_000);
    expect(provider.calls.some((call) => call.startsWith('deletePod web'))).toBe(true);
    expect(await readdir(folder)).toEqual([metadata?.uid]);
    provider.lose('web');
    deleted.resolve();
    await pass(world, 20_000);
    expect(await readdir(folder)).toEqual([]);
  });

  it('need a resolver and an absolute path', async () => {
    const refused = expect.objectContaining({ code: 'ERR_INVALID_OPTION' });
    expect(() => new ProviderWorld({ podFilesFolder: '/run/pods' })).toThrow(refused);
    const resolver = new FakeResolver().asResolver;
    expect(() => new ProviderWorld({ resolver, podFilesFolder: 'pods' })).toThrow(refused);
    const provider = { createPod: () => {}, deletePod: () => {}, getPodStatus: () => undefined };
    const options = {
      transport: { request: async () => ({}), stream: async () => {} },
      nodeName: 'node-1',
      provider,
      logger: null,
    };
    expect(() => new ProviderNode({ ...options, rawPods: true, podFilesFolder: '/run/pods' })).toThrow(
      expect.objectContaining({ message: expect.stringContaining('podFilesFolder') }),
    );
  });
});
