import { describe, expect, it } from 'vitest';
import { ImageCollector } from '../../../../src/kubelet/images/image-collector.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../../src/testing/runtime/fake-runtime.ts';
import { container, podOf, SyncerWorld } from '../pods/syncer-world.ts';

const never = new AbortController().signal;
const nothing = new Set<string>();

describe('unused images', () => {
  it('are those that no container has, the longest unused first', async () => {
    await using world = new SyncerWorld({ images: ['old:1'] });
    const collector = new ImageCollector({ runtime: world.runtime, clock: world.clock });
    const names = async () =>
      (await collector.unusedImages(nothing, never)).map(({ image, lastUsedAt }) => [image.repoTags[0], lastUsedAt]);
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    expect(await names()).toEqual([['docker.io/library/old:1', 0]]);
    await world.clock.advance(60_000);
    await names();
    const usedAt = world.clock.elapsed();
    await world.end(pod);
    for (const { id } of await world.runtime.listContainers()) await world.runtime.removeContainer(id);
    expect(await names()).toEqual([
      ['docker.io/library/old:1', 0],
      ['docker.io/library/app:1', usedAt],
    ]);
  });

  it('are not those that somebody else names, and are gone once they are removed', async () => {
    const runtime = new FakeRuntime({ images: ['a:1', 'b:1'] });
    const collector = new ImageCollector({ runtime, clock: new FakeClock() });
    const [unused, ...others] = await collector.unusedImages(new Set(['docker.io/library/b:1']), never);
    expect([unused?.image.repoTags, others]).toEqual([['docker.io/library/a:1'], []]);
    if (unused) await collector.remove(unused, never);
    expect((await runtime.listImages()).map(({ repoTags }) => repoTags[0])).toEqual(['docker.io/library/b:1']);
  });

  it.each(['b:1', 'library/b:1', 'docker.io/library/b:1'])('are not those of a volume that names them %s', async (reference) => {
    const runtime = new FakeRuntime({ images: ['a:1', 'b:1'] });
    const collector = new ImageCollector({ runtime, clock: new FakeClock() });
    const unused = await collector.unusedImages(new Set([reference]), never);
    expect(unused.map(({ image }) => image.repoTags[0])).toEqual(['docker.io/library/a:1']);
  });

  it('are not those that a container shows as a volume, whatever they are called by now', async () => {
    await using world = new SyncerWorld({ images: ['old:1', 'data:1'] });
    const data = await world.runtime.imageStatus('data:1');
    const collector = new ImageCollector({ runtime: world.runtime, clock: world.clock });
    await world.sync(podOf({ containers: [container('app')] }));
    const { containerStatus } = world.runtime;
    const mount = { containerPath: '/d', hostPath: '', readonly: true, selinuxRelabel: false, propagation: 'private' } as const;
    world.runtime.containerStatus = async (...args) => {
      const details = await containerStatus.apply(world.runtime, args);
      return { ...details, mounts: [...details.mounts, { ...mount, image: data?.id ?? '' }] };
    };
    const unused = await collector.unusedImages(nothing, never);
    expect(unused.map(({ image }) => image.repoTags[0])).toEqual(['docker.io/library/old:1']);
  });
});
