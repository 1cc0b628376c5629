import { describe, expect, it } from 'vitest';
import { ImageCollector } from '../../../src/images/image-collector.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { FakeRuntime } from '../../../src/testing/runtime/fake-runtime.ts';
import { container, podOf, SyncerWorld } from '../agent/sync/syncer-world.ts';

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
    const usedAt = world.clock.now();
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
});
