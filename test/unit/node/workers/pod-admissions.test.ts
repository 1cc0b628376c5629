import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { LoopWorld } from './loop-world.ts';

const pod = (uid: string, more: Partial<Pod> = {}): Pod => ({
  ...more,
  metadata: { uid, name: uid, namespace: 'default', ...more.metadata },
  spec: { containers: [] },
});

/** A loop whose `admitPod` throws until it is mended. */
async function world(answer: () => unknown = () => ({ admit: true })) {
  const calls: number[] = [];
  const state = { isBroken: true };
  const lines: [object, string][] = [];
  const infos: [object, string][] = [];
  const note = (fields: object, message: string): void => void lines.push([fields, message]);
  const loop: LoopWorld = await LoopWorld.started({
    admitPod: () => {
      calls.push(loop.clock.now() - begun);
      if (state.isBroken) throw new Error('the quota service is away');
      return answer() as never;
    },
    logger: { debug: () => {}, info: (fields, message) => void infos.push([fields, message]), warn: note, error: note },
  });
  const begun = loop.clock.now();
  return { loop, begun, calls, state, lines, infos };
}

describe('a pod for which admitPod throws', () => {
  it('is a problem with the words of the function, since when, how often, and exactly when next', async () => {
    const { loop, begun, calls } = await world();
    await using _ = loop;
    await loop.send('ADD', [pod('web')]);
    await loop.clock.advance(1000);
    const [problem] = loop.loop.problems();
    expect(problem).toEqual({
      ...{ podUID: 'web', podName: 'web', podNamespace: 'default', kind: 'admission' },
      message: 'admitPod() failed: the quota service is away',
      ...{ since: begun, attempt: 2, retryAt: begun + 3000 },
      help: expect.stringContaining('`admitPod`'),
    });
    expect(loop.loop.problemOf('web')).toEqual(problem);
    expect(loop.loop.problemOf('other')).toBeUndefined();
    await loop.clock.advance(1999);
    expect(calls).toEqual([0, 1000]);
    await loop.clock.advance(1);
    expect(calls).toEqual([0, 1000, 3000]);
  });

  it('is asked for again with growing waits, at most 30 s, and each failure has one line', async () => {
    const { loop, calls, lines } = await world();
    await using _ = loop;
    await loop.send('ADD', [pod('web')]);
    await loop.clock.advance(120_000);
    expect(calls).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000]);
    expect(lines).toHaveLength(calls.length);
    const fields = { problemKind: 'admission', attempt: 1, retryInMs: 1000, help: expect.any(String), podName: 'web' };
    expect(lines[0]).toEqual([expect.objectContaining(fields), 'admitPod failed; the pod waits']);
  });

  it('has one event, and begins within its wait once the function answers, with one line', async () => {
    const { loop, state, infos } = await world();
    await using _ = loop;
    await loop.send('ADD', [pod('web')]);
    await loop.clock.advance(20_000);
    expect(loop.events).toEqual(['web Warning FailedAdmission admitPod() failed: the quota service is away']);
    state.isBroken = false;
    await loop.clock.advance(30_000);
    expect(loop.took()).toEqual(['create web']);
    expect([loop.loop.problems(), loop.clock.pendingTimers]).toEqual([[], 1]);
    expect(infos).toEqual([[expect.objectContaining({ attempt: 5, failingForMs: 31_000 }), 'admitPod works again']]);
  });

  it('does not begin by a change of it, and is asked for as it is by then', async () => {
    const { loop, state } = await world();
    await using _ = loop;
    await loop.send('ADD', [pod('web')]);
    await loop.send('UPDATE', [pod('web', { metadata: { labels: { changed: 'yes' } } })]);
    loop.loop.podChanged('web');
    await settle();
    expect(loop.took()).toEqual([]);
    state.isBroken = false;
    await loop.clock.advance(1000);
    expect(loop.took()).toEqual(['create web']);
    expect(loop.updates[0]?.pod?.metadata?.labels).toEqual({ changed: 'yes' });
  });

  it.each<[string, (loop: LoopWorld) => Promise<void>, string[]]>([
    [
      'is deleted',
      (loop) => loop.send('DELETE', [pod('web', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })]),
      ['update web'],
    ],
    ['is removed', (loop) => loop.send('REMOVE', [pod('web')]), ['kill web']],
    ['is over', (loop) => loop.send('UPDATE', [pod('web', { status: { phase: 'Failed' } })]), ['update web']],
  ])('that %s is told to the workers, and nobody is asked any more', async (_, end, told) => {
    const { loop, calls } = await world();
    await using _loop = loop;
    await loop.send('ADD', [pod('web')]);
    await end(loop);
    await loop.clock.advance(60_000);
    expect([loop.took(), loop.loop.problems(), calls]).toEqual([told, [], [0]]);
  });

  it('leaves no timer after the stop', async () => {
    const { loop } = await world();
    await loop.send('ADD', [pod('web')]);
    await loop[Symbol.asyncDispose]();
    expect(loop.clock.pendingTimers).toBe(0);
  });
});

describe('an answer of admitPod that is none', () => {
  it.each([
    ['a promise', () => Promise.resolve({ admit: true }), 'admitPod() answered with a promise, and has to answer at once'],
    [
      'a promise that rejects',
      () => Promise.reject(new Error('no')),
      'admitPod() answered with a promise, and has to answer at once',
    ],
    ['nothing', () => undefined, 'admitPod() answered neither { admit: true } nor { admit: false, reason, message }'],
    ['no reason', () => ({ admit: false }), 'admitPod() answered neither { admit: true } nor { admit: false, reason, message }'],
  ])('is a problem: %s', async (_, answer, message) => {
    const { loop, state } = await world(answer);
    await using _loop = loop;
    state.isBroken = false;
    await loop.send('ADD', [pod('web')]);
    expect(loop.loop.problems()).toMatchObject([{ kind: 'admission', message, attempt: 1 }]);
    expect(loop.took()).toEqual([]);
  });
});
