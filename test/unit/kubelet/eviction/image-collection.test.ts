import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ImageCollection, type RemovableImage } from '../../../../src/kubelet/eviction/image-collection.ts';
import { FakeClock } from '../../../../src/testing.ts';

const signal = new AbortController().signal;

/** A disk of 1,000 bytes; `unused`: sizes of images that nobody uses, the longest unused first. */
function imageWorld(
  used: number,
  unused: Record<string, number>,
  { seenMsAgo = 600_000, sticky = [] as string[], maxAgeMs = 0, lastUsedAt = 0 } = {},
) {
  const clock = new FakeClock();
  const left = new Map(Object.entries(unused));
  const disk = { used, capacity: 1000 };
  const events: string[] = [];
  let looks = 0;
  const detectedAt = clock.elapsed() - seenMsAgo;
  const collection = new ImageCollection<RemovableImage>({
    images: {
      unusedImages: async (alsoUsed) =>
        [...left]
          .filter(([id]) => !alsoUsed.has(id))
          .map(([id, sizeBytes]) => ({ image: { id, sizeBytes }, detectedAt, lastUsedAt })),
      remove: async ({ image }) => {
        if (sticky.includes(image.id)) throw new Error('in use');
        left.delete(image.id);
        disk.used -= image.sizeBytes;
      },
    },
    usedByVolumes: () => new Set(['of-a-volume']),
    readImagefs: async () => ({ available: disk.capacity - disk.used, capacity: disk.capacity }),
    afterLook: async () => {
      looks += 1;
      throw new Error('no list');
    },
    maxAgeMs,
    nodeEvent: (reason) => events.push(reason),
    clock,
    logger: silentLogger,
  });
  onTestFinished(() => collection.stop());
  return { clock, collection, events, disk, looks: () => looks, ids: () => [...left.keys()] };
}

describe('the removal of unused images', () => {
  it('waits for the high threshold, and goes on to the low one, the longest unused first', async () => {
    const below = imageWorld(840, { a: 100, b: 100 });
    await below.collection.collect(signal);
    expect(below.ids()).toEqual(['a', 'b']);
    const above = imageWorld(850, { a: 30, b: 30, c: 30 });
    await above.collection.collect(signal);
    expect(above.ids()).toEqual(['c']);
  });

  it('leaves images of volumes, and those that were seen for less than two minutes', async () => {
    const { collection, ids, clock } = imageWorld(900, { 'of-a-volume': 100, a: 200 }, { seenMsAgo: 60_000 });
    await expect(collection.collect(signal)).rejects.toThrow('Insufficient free disk space');
    expect(ids()).toEqual(['of-a-volume', 'a']);
    await clock.advance(60_000);
    await collection.collect(signal);
    expect(ids()).toEqual(['of-a-volume']);
  });

  it('tells of the node when it is not enough, and of an image that cannot go, after all others were tried', async () => {
    const few = imageWorld(990, { a: 10 });
    await expect(few.collection.collect(signal)).rejects.toThrow('99% of 1000 bytes used');
    expect(few.events).toEqual(['FreeDiskSpaceFailed']);
    const stuck = imageWorld(990, { a: 10, b: 10 }, { sticky: ['a'] });
    await expect(stuck.collection.collectAll(signal)).rejects.toThrow('1 unused images could not be removed');
    expect(stuck.ids()).toEqual(['a']);
  });

  it('happens every five minutes, failures or not, until it is stopped', async () => {
    const { clock, collection, ids } = imageWorld(990, { a: 10, b: 300 }, { seenMsAgo: 0 });
    collection.start();
    await clock.advance(299_000);
    expect(ids()).toEqual(['a', 'b']);
    await clock.advance(1000);
    expect(ids()).toEqual([]);
    await collection.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('is followed by a look at what is kept of images, whatever comes of either', async () => {
    const { clock, collection, looks } = imageWorld(990, { a: 10 });
    collection.start();
    await clock.advance(0);
    expect(looks()).toBe(1);
    await clock.advance(300_000);
    expect(looks()).toBe(2);
    await collection.collectAll(signal);
    expect(looks()).toBe(3);
  });

  it('tells of failures from the second in a row on', async () => {
    const { clock, collection, events, disk } = imageWorld(990, {});
    collection.start();
    await clock.advance(0);
    expect(events).toEqual(['FreeDiskSpaceFailed']);
    await clock.advance(300_000);
    expect(events.splice(0)).toEqual(['FreeDiskSpaceFailed', 'FreeDiskSpaceFailed', 'ImageGCFailed']);
    disk.used = 10;
    await clock.advance(300_000);
    disk.used = 990;
    await clock.advance(300_000);
    expect(events).toEqual(['FreeDiskSpaceFailed']);
  });

  it('tells of a disk without a size', async () => {
    const { collection, events, disk } = imageWorld(0, {});
    disk.capacity = 0;
    await expect(collection.collect(signal)).rejects.toThrow('invalid capacity 0');
    expect(events).toEqual(['InvalidDiskCapacity']);
  });

  it('counts the time since an image was seen, not the wall clock', async () => {
    const { collection, ids, clock } = imageWorld(900, { a: 200 }, { seenMsAgo: 60_000 });
    clock.jump(3_600_000);
    await expect(collection.collect(signal)).rejects.toThrow('Insufficient free disk space');
    expect(ids()).toEqual(['a']);
  });
});

describe('images that were unused for too long', () => {
  const hour = 3_600_000;

  it('go however full the disk is, once images were watched for that long', async () => {
    const { collection, clock, ids } = imageWorld(100, { a: 10, 'of-a-volume': 10 }, { seenMsAgo: 10 * hour, maxAgeMs: hour });
    collection.start();
    await clock.advance(hour);
    expect(ids()).toEqual(['a', 'of-a-volume']);
    await clock.advance(300_000);
    expect(ids()).toEqual(['of-a-volume']);
  });

  it('are not those that were used since, or seen since', async () => {
    const used = imageWorld(100, { a: 10 }, { maxAgeMs: hour, lastUsedAt: 2 * hour });
    await used.clock.advance(3 * hour);
    await used.collection.collect(signal);
    expect(used.ids()).toEqual(['a']);
    const seen = imageWorld(100, { a: 10 }, { seenMsAgo: -2 * hour, maxAgeMs: hour });
    await seen.clock.advance(3 * hour);
    await seen.collection.collect(signal);
    expect(seen.ids()).toEqual(['a']);
    await seen.clock.advance(1);
    await seen.collection.collect(signal);
    expect(seen.ids()).toEqual([]);
  });

  it('that cannot go keep no other image, and the disk is freed all the same', async () => {
    const world = imageWorld(900, { a: 10, b: 10 }, { maxAgeMs: hour, sticky: ['a'] });
    await world.clock.advance(2 * hour);
    await expect(world.collection.collect(signal)).rejects.toThrow('Insufficient free disk space');
    expect([world.ids(), world.events]).toEqual([['a'], ['FreeDiskSpaceFailed']]);
    world.disk.used = 100;
    await expect(world.collection.collect(signal)).rejects.toThrow('1 unused images could not be removed');
  });
});
