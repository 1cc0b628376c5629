import { expect, it } from 'vitest';
import { KnownNode } from '../../../../src/node/node-object/initial-node.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const node = (resourceVersion: string, uid = 'one') => ({ metadata: { name: 'node-1', uid, resourceVersion } });

it('knows the newest of what the watch has shown and what requests were answered with', () => {
  const known = new KnownNode(new FakeClock());
  expect(known.newest).toBeUndefined();
  known.answered(node('10'));
  known.shown(node('9'));
  expect(known.newest).toEqual(node('10'));
  known.shown(node('11'));
  expect(known.newest).toEqual(node('11'));
});

it('believes a list that was asked for after its own answer, and none from before', async () => {
  const clock = new FakeClock();
  const known = new KnownNode(clock);
  const askedAt = clock.elapsed();
  await clock.advance(1);
  known.answered(node('10'));
  clock.jump(-86_400_000);
  known.listed(askedAt);
  expect(known.newest).toEqual(node('10'));
  expect(known.isWatched).toBe(true);
  await clock.advance(1);
  // etcd was set back
  known.shown(node('3'));
  known.listed(clock.elapsed());
  expect(known.newest).toEqual(node('3'));
});

it('hears of the end of the node that it knows, and of no other', () => {
  const known = new KnownNode(new FakeClock());
  known.shown(node('5', 'old'));
  known.answered(node('10', 'new'));
  expect(known.shownDeleted(node('6', 'old'))).toBe(false);
  expect(known.newest).toEqual(node('10', 'new'));
  expect(known.shownDeleted(node('11', 'new'))).toBe(true);
  expect(known.newest).toBeUndefined();
});
