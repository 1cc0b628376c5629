import { describe, expect, it } from 'vitest';
import { BoundedChannel } from '../../../../src/base/concurrency/bounded-channel.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';

/** The answer of `readable`; undefined while it waits. */
function reader(channel: BoundedChannel<string>): { answer: boolean | undefined } {
  const seen: { answer: boolean | undefined } = { answer: undefined };
  void channel.readable().then((answer) => {
    seen.answer = answer;
  });
  return seen;
}

describe('BoundedChannel', () => {
  it('returns keys in order of arrival', () => {
    const channel = new BoundedChannel<string>(10);
    expect(['a', 'b', 'c'].map((key) => channel.trySend(key))).toEqual([true, true, true]);
    expect(channel.size).toBe(3);
    expect([1, 2, 3, 4].map(() => channel.tryReceive())).toEqual(['a', 'b', 'c', undefined]);
  });

  it('holds a key once, in its first place, even when the channel is full', () => {
    const channel = new BoundedChannel<string>(2);
    for (const key of ['a', 'b']) channel.trySend(key);
    expect(channel.trySend('a')).toBe(true);
    expect(channel.size).toBe(2);
    expect(channel.takeOverflow()).toBe(false);
    expect([channel.tryReceive(), channel.tryReceive(), channel.tryReceive()]).toEqual(['a', 'b', undefined]);
    expect(channel.trySend('a')).toBe(true);
    expect(channel.tryReceive()).toBe('a');
  });

  it('drops a key when it is full, and sets a mark that can be taken once', () => {
    const channel = new BoundedChannel<string>(1);
    channel.trySend('a');
    expect(channel.trySend('b')).toBe(false);
    expect(channel.trySend('c')).toBe(false);
    expect([channel.takeOverflow(), channel.takeOverflow()]).toEqual([true, false]);
    expect([channel.tryReceive(), channel.tryReceive()]).toEqual(['a', undefined]);
    expect(channel.trySend('b')).toBe(true);
  });

  it('of capacity 0 drops every key, sets the mark, and wakes its reader', async () => {
    const channel = new BoundedChannel<string>(0);
    const seen = reader(channel);
    await settle();
    expect(seen.answer).toBeUndefined();
    expect(channel.trySend('a')).toBe(false);
    await settle();
    expect(seen.answer).toBe(true);
    expect(channel.size).toBe(0);
    expect(channel.takeOverflow()).toBe(true);
  });

  it('wakes its reader for a key, and keeps the key', async () => {
    const channel = new BoundedChannel<string>(1);
    const seen = reader(channel);
    channel.trySend('a');
    await settle();
    expect(seen.answer).toBe(true);
    expect(channel.tryReceive()).toBe('a');
  });

  it('is readable at once with a key or the mark, and not after both are taken', async () => {
    const channel = new BoundedChannel<string>(1);
    channel.trySend('a');
    channel.trySend('b');
    expect(await channel.readable()).toBe(true);
    channel.tryReceive();
    expect(await channel.readable()).toBe(true);
    channel.takeOverflow();
    const seen = reader(channel);
    await settle();
    expect(seen.answer).toBeUndefined();
  });

  it('wakes its reader with false when it is closed, drops its keys, and accepts no more', async () => {
    const channel = new BoundedChannel<string>(2);
    const seen = reader(channel);
    channel.close();
    channel.close();
    await settle();
    expect(seen.answer).toBe(false);
    expect(channel.trySend('a')).toBe(false);
    expect(channel.takeOverflow()).toBe(false);
    expect(await channel.readable()).toBe(false);
    const full = new BoundedChannel<string>(2);
    full.trySend('a');
    full.close();
    expect([full.size, full.tryReceive()]).toEqual([0, undefined]);
  });
});
