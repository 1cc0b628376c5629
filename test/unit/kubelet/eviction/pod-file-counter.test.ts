import { describe, expect, it, onTestFinished } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { PodFileCounter } from '../../../../src/kubelet/eviction/pod-file-counter.ts';
import type { TreeSize } from '../../../../src/node/files/tree-size.ts';
import { FakeClock, settle } from '../../../../src/testing.ts';
import { podNamed, size } from './eviction-harness.ts';

interface FakeTree {
  /** So often the count says how far it is before it ends. */
  steps: number;
  result: TreeSize;
}

/** A counter over one volume a pod, whose size is made up. */
function counterWorld(trees: Record<string, FakeTree>, spec: Parameters<typeof podNamed>[2] = {}) {
  const clock = new FakeClock();
  const counts: string[] = [];
  const closed: string[] = [];
  const pods = new Map<string, WirePod>(Object.keys(trees).map((name) => [name, podNamed(name, {}, spec)]));
  const counter = new PodFileCounter({
    pods: () => [...pods.values()],
    treesOf: ({ metadata }) => [{ part: 'volumes', name: 'scratch', path: metadata?.name ?? '' }],
    async *count({ path }) {
      counts.push(path);
      const tree = trees[path];
      if (tree === undefined) throw new Error('unreadable');
      try {
        for (let step = 1; step <= tree.steps; step += 1) yield { bytes: step, inodes: step };
        return tree.result;
      } finally {
        closed.push(path);
      }
    },
    clock,
    logger: silentLogger,
  });
  onTestFinished(() => counter.stop());
  const of = (name: string) => counter.filesOf(name)?.volumes.scratch;
  return { clock, counter, pods, counts, closed, of };
}

const never = new AbortController().signal;

describe('the files of pods', () => {
  it('are counted by turns: one that is never done delays nobody, and counts with what was seen of it', async () => {
    const endless = { steps: Number.POSITIVE_INFINITY, result: size(0) };
    const { clock, counter, counts, of } = counterWorld({ hoarder: endless, modest: { steps: 3, result: size(5) } });
    expect(counter.filesOf('modest')).toBeUndefined();
    counter.start();
    await clock.advance(200);
    expect(of('modest')).toEqual(size(5));
    expect(of('hoarder')?.inodes).toBeGreaterThan(3);
    expect(counts).toEqual(['hoarder', 'modest']);
  });

  it('are counted again a minute after the last look, and after ten seconds where they may cost the pod its life', async () => {
    const others = counterWorld({ a: { steps: 0, result: size(1) } });
    others.counter.start();
    await others.clock.advance(119_000);
    expect(others.counts).toHaveLength(2);
    const limited = counterWorld(
      { a: { steps: 0, result: size(1) } },
      { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1Mi' } }] },
    );
    limited.counter.start();
    await limited.clock.advance(39_000);
    expect(limited.counts).toHaveLength(4);
  });

  it('keep the last sum until a new one is whole, or already larger', async () => {
    const tree = { steps: 0, result: { bytes: 2, inodes: 2 } };
    const { clock, counter, of } = counterWorld({ a: tree });
    counter.start();
    await clock.advance(10);
    tree.steps = 1000;
    tree.result = { bytes: 1, inodes: 1 };
    await clock.advance(60_000);
    expect(of('a')?.bytes).toBeGreaterThanOrEqual(2);
    await clock.advance(60_000);
    expect(of('a')).toEqual({ bytes: 1, inodes: 1 });
  });

  it('are forgotten with their pod, and folders that are open are closed', async () => {
    const { clock, counter, pods, counts, closed, of } = counterWorld({
      gone: { steps: Number.POSITIVE_INFINITY, result: size(0) },
      stays: { steps: 0, result: size(1) },
    });
    counter.start();
    await clock.advance(100);
    expect(closed).toEqual(['stays']);
    pods.delete('gone');
    await clock.advance(100);
    expect([closed, of('gone'), counts.filter((name) => name === 'gone')]).toEqual([['stays', 'gone'], undefined, ['gone']]);
  });

  it('that cannot be read are unknown, and stop nothing', async () => {
    const { clock, counter, pods, of } = counterWorld({ a: { steps: 0, result: size(1) } });
    pods.set('broken', podNamed('broken'));
    counter.start();
    await clock.advance(100);
    expect([of('a'), of('broken')]).toEqual([size(1), undefined]);
  });
});

describe('a new look that somebody waits for', () => {
  it('is one that begins from then on, at once', async () => {
    const tree = { steps: 0, result: size(1) };
    const { clock, counter, of } = counterWorld({ a: tree });
    counter.start();
    await clock.advance(5000);
    tree.result = size(2);
    const fresh = counter.freshen(never);
    await clock.advance(0);
    await fresh;
    expect(of('a')).toEqual(size(2));
  });

  it('waits for the one after the look under way', async () => {
    const tree = { steps: 3, result: size(1) };
    const { clock, counter, counts } = counterWorld({ a: tree });
    counter.start();
    await settle();
    let isFresh = false;
    const fresh = counter.freshen(never).then(() => {
      isFresh = true;
    });
    await clock.advance(70);
    expect([isFresh, counts]).toEqual([false, ['a', 'a']]);
    await clock.advance(100);
    await fresh;
  });

  it('waits for no pod that goes meanwhile, nor after an abort or a stop', async () => {
    const endless = { steps: Number.POSITIVE_INFINITY, result: size(0) };
    const { clock, counter, pods } = counterWorld({ a: endless });
    counter.start();
    await settle();
    const abort = new AbortController();
    const aborted = counter.freshen(abort.signal);
    abort.abort(new Error('late'));
    await expect(aborted).rejects.toThrow('late');
    const gone = counter.freshen(never);
    pods.delete('a');
    await clock.advance(100);
    await gone;
    pods.set('a', podNamed('a'));
    const stopped = counter.freshen(never);
    await counter.stop();
    await stopped;
    expect(clock.pendingTimers).toBe(0);
  });
});

it('tells when it has counted', async () => {
  const { clock, counter } = counterWorld({ a: { steps: 0, result: size(1) } });
  expect(counter.countedAt('a')).toBe(0);
  counter.start();
  await clock.advance(500);
  expect(counter.countedAt('a')).toBe(clock.now() - 500);
});
