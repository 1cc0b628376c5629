import { expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Admission, AdmissionLater } from '../../../../src/node/workers/pod-admissions.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { LoopWorld } from './loop-world.ts';

const pod = (uid: string, metadata: Pod['metadata'] = {}): Pod => ({
  metadata: { uid, name: uid, namespace: 'default', ...metadata },
  spec: { containers: [] },
});

/** A loop whose `admitPod` has the pod `slow` wait until there is an answer. */
async function world() {
  const asked: string[] = [];
  const state: { answer: Admission | undefined; waits: PromiseWithResolvers<unknown> } = {
    answer: undefined,
    waits: Promise.withResolvers(),
  };
  const loop = await LoopWorld.started({
    admitPod: ({ metadata }): Admission | AdmissionLater => {
      asked.push(metadata?.uid ?? '');
      if (metadata?.uid !== 'slow') return { admit: true };
      return state.answer ?? { admit: 'later', until: state.waits.promise, message: 'the device is warming up' };
    },
  });
  return { loop, asked, state };
}

it('a pod for which admitPod answers later is begun once it answers, and others meanwhile', async () => {
  const { loop, asked, state } = await world();
  await using _ = loop;
  await loop.send('ADD', [pod('slow'), pod('quick')]);
  expect(loop.took()).toEqual(['create quick']);
  // no change of the pod begins it, nor is anybody asked for it
  await loop.send('UPDATE', [pod('slow', { labels: { a: 'b' } })]);
  await loop.clock.advance(60_000);
  expect([loop.took(), asked]).toEqual([[], ['slow', 'quick']]);
  expect(loop.loop.problems()).toMatchObject([
    { kind: 'admission-waits', podUID: 'slow', message: 'the device is warming up', attempt: 0 },
  ]);
  state.answer = { admit: true };
  state.waits.resolve(undefined);
  await settle();
  expect([loop.took(), asked]).toEqual([['create slow'], ['slow', 'quick', 'slow']]);
  expect(loop.loop.problems()).toEqual([]);
  expect(loop.errors).toEqual([]);
});

it('a wait that rejects is asked about like any other, and a refusal fails the pod', async () => {
  const { loop, state } = await world();
  await using _ = loop;
  await loop.send('ADD', [pod('slow')]);
  const { reject } = state.waits;
  state.waits = Promise.withResolvers();
  reject(new Error('the line is dead'));
  await settle();
  expect(loop.took()).toEqual([]);
  state.answer = { admit: false, reason: 'Broken', message: 'it is broken' };
  state.waits.resolve(undefined);
  await settle();
  expect(loop.statuses.get('slow')).toMatchObject({ phase: 'Failed', reason: 'Broken' });
});

it('a pod that is deleted waits no longer', async () => {
  const { loop, asked, state } = await world();
  await using _ = loop;
  await loop.send('ADD', [pod('slow')]);
  await loop.send('UPDATE', [pod('slow', { deletionTimestamp: new Date(0) } as never)]);
  expect(loop.took()).toEqual(['update slow']);
  state.waits.resolve(undefined);
  await settle();
  expect(asked).toEqual(['slow']);
});
